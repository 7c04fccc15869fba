import { digestInKey, ATTACHMENT_KEYS } from '../../core/attachments/rows.ts';
import type { RowValue } from '../../core/backend.ts';
import { assert } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { TABLES } from '../../core/keys.ts';
import { SHELVES } from '../../core/shelf.ts';
import { encodeParts, readCommit, readMeta, redactionsOf, sealsOf, wordsOf } from '../log/commit-line.ts';
import type { LineMeta } from '../log/commit-line.ts';
import { applyEdit } from '../log/edit.ts';
import type { Edit } from '../log/edit.ts';
import { readFrame, sealPadded } from '../log/frame.ts';
import type { Frame, LineParts } from '../log/frame.ts';
import { INDEX } from '../index/index-keys.ts';
import type { IndexState } from '../index/index-state.ts';
import { unpackPlace } from '../log/place.ts';

/**
 * A line without what is gone, exactly as long as it was: the places of other lines hold. Words that are damaged say
 * nothing that can be kept: they go, and what the line says besides stays, so that a reading is still told of the damage.
 */
export function scrubbedLine(index: IndexState, line: Buffer): string {
  const frame = readFrame(line, 0, line.length);
  const meta = frame.meta && readMeta(frame.meta);
  if (!meta) return ' '.repeat(line.length);
  if (!('reason' in frame)) return padded(scrubbedParts(index, frame, meta), line.length);
  const seals = meta.seals?.map((seal, at) => (at % 2 === 0 ? seal : null));
  return padded(encodeParts({ ...scrubbedMeta(index, meta), seals }, undefined), line.length, DAMAGED);
}

/** No text has this digest that we could write. */
const DAMAGED = 'damaged'.padEnd(43, '-');

function padded(parts: LineParts, lengthBytes: number, wordsSha?: string): string {
  const text = sealPadded(parts, lengthBytes, wordsSha);
  assert(text !== undefined, 'a line without words is not longer than with them');
  return text;
}

function scrubbedMeta(index: IndexState, meta: LineMeta): LineMeta {
  return {
    ...meta,
    heads: meta.heads.filter((head) => head.erasedAt !== null || !isErased(index, meta, head.conversationId)),
    rows: meta.rows.filter(([key, value, elsewhere]) =>
      keepsRow(index, meta, key, value, elsewhere ?? meta.conversation),
    ),
    edits: meta.edits?.flatMap((edit) => keptEdit(index, meta, edit)),
  };
}

function scrubbedParts(index: IndexState, frame: Frame, meta: LineMeta): LineParts {
  const commit = readCommit(frame);
  const rest = scrubbedMeta(index, meta);
  if (!commit) return encodeParts(rest, undefined);
  const edit = editOfLine(index, meta, commit.log.version);
  const log = edit ? applyEdit(commit.log, { ...edit, redactions: ownRedactions(meta, edit) }) : commit.log;
  const words = wordsOf(log);
  const sizes = words.map((one) => one.length);
  return encodeParts({ ...rest, sizes, seals: sealsOf(log), redactions: redactionsOf(log.records) }, words);
}

function isErased(index: IndexState, { ns }: LineMeta, conversation: ConversationId): boolean {
  const head = index.head(ns, conversation);
  return head !== undefined && head.erasedAt !== null;
}

/**
 * A row that names an attachment goes with it. One of an erased conversation stays where a fork still sees it. That a link to a fork is gone is said for ever: the
 * line that made the link is the fork's own.
 */
function keepsRow(
  index: IndexState,
  meta: LineMeta,
  key: string,
  value: RowValue | null,
  conversation: ConversationId | undefined,
): boolean {
  const digest = attachmentNamedBy(conversation, key);
  if (digest !== undefined && !index.get(meta.ns, SHELVES.attachments, ATTACHMENT_KEYS.attachment(digest)))
    return false;
  if (conversation === undefined || !isErased(index, meta, conversation)) return true;
  if (value === null) return key.startsWith(TABLES.forks);
  return index.get(meta.ns, conversation, key) !== undefined;
}

/** The attachment that a row names by its digest. */
export function attachmentNamedBy(conversation: ConversationId | undefined, key: string): string | undefined {
  const isNamed = conversation === SHELVES.attachments || key.startsWith(TABLES.references);
  return isNamed ? digestInKey(key) : undefined;
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
