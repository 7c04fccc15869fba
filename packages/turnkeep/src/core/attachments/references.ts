import type { RowReader, WriteSet } from '../backend.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { RecordRef } from '../head.ts';
import type { ConversationId } from '../ids.ts';
import { afterSeparator, beforeSeparator, KEYS, numbersIn, prefixEnd, TABLES } from '../keys.ts';
import type { JsonObject } from '../json.ts';
import type { Part } from '../message.ts';
import { SHELVES } from '../shelf.ts';
import { attachmentOf, packAttachment, ATTACHMENT_KEYS } from './rows.ts';

interface Mention {
  readonly digest: string;
  readonly path: string;
}

/** The attachments that parts name, those within tool results included, each with the path of its place. */
export function attachmentsIn(parts: readonly Part[], path: string): readonly Mention[] {
  return parts.flatMap((part, index): readonly Mention[] => {
    const place = `${path}[${index}]`;
    if (part.type === 'tool_result') return attachmentsIn(part.content ?? [], `${place}.content`);
    if (part.type !== 'file' || !('attachment' in part.source)) return [];
    return [{ digest: part.source.attachment, path: `${place}.source.attachment` }];
  });
}

/**
 * Adds a record of words whose parts may name attachments: it refers to them. Each must be there: whoever takes attachments
 * away does so between commits, and leaves those that a commit has referred to. `partsPath` is where the parts stand.
 */
export function addWords(draft: Draft, body: JsonObject, path: string, partsPath: string = path): number {
  const record = draft.addRecord(body, path);
  refer(draft, partsOf(body), record, partsPath);
  return record;
}

function refer(draft: Draft, parts: readonly Part[], record: number, path: string): void {
  for (const { digest, path: place } of attachmentsIn(parts, path)) {
    const attachment = attachmentOf(draft.rows, digest);
    if (!attachment) throw new TurnkeepError('attachment_missing', { digest, path: place });
    draft.put(KEYS.reference(digest, draft.version, record), []);
    const use = ATTACHMENT_KEYS.use(digest, draft.conversationId);
    if (!draft.rows.get(SHELVES.attachments, use)) draft.putElsewhere(SHELVES.attachments, use, []);
    if (attachment.heldSince === null) continue;
    draft.putElsewhere(
      SHELVES.attachments,
      ATTACHMENT_KEYS.attachment(digest),
      packAttachment({ ...attachment, heldSince: null }),
    );
  }
}

/** The words of a record are about to go: what they refer to is no longer kept for them. */
export function unrefer(draft: Draft, ref: RecordRef): void {
  // Most words name no attachment, and need not be looked at.
  if (draft.record(ref).body?.includes('"attachment":') !== true) return;
  const { rows } = draft;
  for (const { digest } of attachmentsIn(partsOf(draft.body(ref) ?? {}), 'parts')) {
    rows.put(ref.owner, KEYS.reference(digest, ref.version, ref.index), null);
    if (!refersTo(rows, ref.owner, digest)) rows.put(SHELVES.attachments, ATTACHMENT_KEYS.use(digest, ref.owner), null);
  }
}

function partsOf(body: JsonObject): readonly Part[] {
  const parts: unknown = body['parts'];
  return Array.isArray(parts) ? (parts as readonly Part[]) : []; // their shape was checked
}

function refersTo(rows: RowReader, conversation: ConversationId, digest: string): boolean {
  const from = KEYS.referencesTo(digest);
  return rows.scan(conversation, { from, to: prefixEnd(from), limit: 1 }).length > 0;
}

const SLICE = 250;

/** Lets go of what an erased conversation referred to, but for words that somebody still sees. */
export function* removeReferences(
  rows: RowReader,
  conversation: ConversationId,
  isKept: (version: number, index: number) => boolean,
): Generator<WriteSet> {
  const from = TABLES.references;
  const keys = rows.scan(conversation, { from, to: prefixEnd(from) }).map(({ key }) => key);
  const doomed = keys.filter((key) => !isKept(...recordIn(key)));
  const kept = new Set(keys.filter((key) => isKept(...recordIn(key))).map(digestIn));
  const unused = [...new Set(doomed.map(digestIn))].filter((digest) => !kept.has(digest));
  const gone = [
    // First: a collection that is cut short finds them again by the rows below.
    ...unused.map((digest) => ({
      conversation: SHELVES.attachments,
      key: ATTACHMENT_KEYS.use(digest, conversation),
      value: null,
    })),
    ...doomed.map((key) => ({ conversation, key, value: null })),
  ];
  for (let at = 0; at < gone.length; at += SLICE) yield { heads: [], rows: gone.slice(at, at + SLICE), edits: [] };
}

function recordIn(key: string): readonly [version: number, index: number] {
  return numbersIn(afterSeparator(key), 0) as [number, number]; // we wrote it
}

function digestIn(key: string): string {
  return beforeSeparator(key, TABLES.references.length);
}
