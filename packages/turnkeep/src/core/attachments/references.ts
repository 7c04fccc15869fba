import type { RowReader, WriteSet } from '../backend.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { ConversationId } from '../ids.ts';
import { afterSeparator, beforeSeparator, KEYS, numbersIn, prefixEnd, TABLES } from '../keys.ts';
import type { JsonObject } from '../json.ts';
import type { Part } from '../message.ts';
import { SHELVES } from '../shelf.ts';
import { attachmentsIn, partsOf } from './mentions.ts';
import { attachmentOf, packAttachment, ATTACHMENT_KEYS } from './rows.ts';

/**
 * Adds a record of words whose parts may name attachments, and its references to them. Each attachment must be there:
 * attachments are removed between commits only, and never those that a commit has referred to. `partsPath` is the parts' path.
 */
export function addWords(draft: Draft, body: JsonObject, path: string, partsPath: string = path): number {
  const record = draft.addRecord(body, path);
  refer(draft, partsOf(body), record, partsPath);
  return record;
}

/** Adds the sealed record of the current change, whose `parts` may also name attachments. */
export function addSealedWords(draft: Draft, parts: readonly Part[], path: string, partsPath: string): number {
  const record = draft.addSealed(path);
  refer(draft, parts, record, partsPath);
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

const SLICE = 250;

/** Removes the references of an erased conversation, except those of words that somebody still sees. */
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
