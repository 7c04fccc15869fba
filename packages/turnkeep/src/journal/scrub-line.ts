import type { RowValue } from '../core/backend.ts';
import { assert } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import { TABLES } from '../core/keys.ts';
import { joinBody, readCommit, readMeta, redactionsOf, sealsOf, wordsOf } from './commit-line.ts';
import type { LineMeta } from './commit-line.ts';
import { applyEdit } from './edit.ts';
import type { Edit } from './edit.ts';
import { sealBody } from './frame.ts';
import { INDEX } from './index-keys.ts';
import type { IndexState } from './index-state.ts';
import { unpackPlace } from './place.ts';

/** The frame of a line without what is gone, exactly as long as it was: the places of other lines hold. */
export function scrubbedFrame(index: IndexState, body: Buffer): string {
  const text = scrubbedBody(index, body);
  const missing = body.length - Buffer.byteLength(text);
  assert(missing >= 0, 'a line without words is not longer than with them');
  return sealBody(text + ' '.repeat(missing));
}

function scrubbedBody(index: IndexState, body: Buffer): string {
  const commit = readCommit(body);
  const meta = commit?.meta ?? readMeta(body);
  const rest: LineMeta = {
    ...meta,
    heads: meta.heads.filter((head) => head.erasedAt !== null || !isErased(index, meta, head.conversationId)),
    rows: meta.rows.filter(([key, value, elsewhere]) =>
      keepsRow(index, meta, key, value, elsewhere ?? meta.conversation),
    ),
    edits: meta.edits?.flatMap((edit) => keptEdit(index, meta, edit)),
  };
  if (!commit) return joinBody(rest, undefined);
  const edit = editOfLine(index, meta, commit.log.version);
  const log = edit ? applyEdit(commit.log, { ...edit, redactions: ownRedactions(meta, edit) }) : commit.log;
  const words = wordsOf(log);
  const sizes = words.map((one) => one.length);
  return joinBody({ ...rest, sizes, seals: sealsOf(log), redactions: redactionsOf(log.records) }, words);
}

function isErased(index: IndexState, { ns }: LineMeta, conversation: ConversationId): boolean {
  const head = index.head(ns, conversation);
  return head !== undefined && head.erasedAt !== null;
}

/**
 * A row of an erased conversation stays where a fork still sees it. That a link to a fork is gone is said for ever: the
 * line that made the link is the fork's own.
 */
function keepsRow(
  index: IndexState,
  meta: LineMeta,
  key: string,
  value: RowValue | null,
  conversation: ConversationId | undefined,
): boolean {
  if (conversation === undefined || !isErased(index, meta, conversation)) return true;
  if (value === null) return key.startsWith(TABLES.forks);
  return index.get(meta.ns, conversation, key) !== undefined;
}

function editOfLine(index: IndexState, { ns, conversation }: LineMeta, version: number): Place['edit'] {
  const row = conversation === undefined ? undefined : index.get(ns, conversation, INDEX.place(version));
  return row && unpackPlace(row).edit;
}

type Place = ReturnType<typeof unpackPlace>;

/** Of the redactions that the line brought itself, those that still hold. */
function ownRedactions(meta: LineMeta, edit: NonNullable<Place['edit']>): Edit['redactions'] {
  const own = Object.entries(meta.redactions ?? {});
  return Object.fromEntries(own.filter(([at]) => edit.redactions?.[at] !== undefined));
}

/** Of the edits of an erased conversation only the reasons of redactions that are still seen. */
function keptEdit(index: IndexState, meta: LineMeta, edit: Edit): readonly Edit[] {
  if (!isErased(index, meta, edit.conversation)) return [edit];
  const row = index.get(meta.ns, edit.conversation, INDEX.place(edit.version));
  const now = row && unpackPlace(row).edit;
  return now?.redactions ? [{ ...edit, ...now }] : [];
}
