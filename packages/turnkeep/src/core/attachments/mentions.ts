import type { RowReader, RowValue } from '../backend.ts';
import type { RecordRef } from '../head.ts';
import type { ConversationId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS, prefixEnd } from '../keys.ts';
import type { StoredRecord } from '../log.ts';
import type { Part } from '../message.ts';
import { SHELVES } from '../shelf.ts';
import { ATTACHMENT_KEYS } from './rows.ts';

interface Mention {
  readonly digest: string;
  readonly path: string;
}

/** The attachments that parts name, also within tool results, each with its path. */
export function attachmentsIn(parts: readonly Part[], path: string): readonly Mention[] {
  return parts.flatMap((part, index): readonly Mention[] => {
    const place = `${path}[${index}]`;
    if (part.type === 'tool_result') return attachmentsIn(part.content ?? [], `${place}.content`);
    if (part.type !== 'file' || !('attachment' in part.source)) return [];
    return [{ digest: part.source.attachment, path: `${place}.source.attachment` }];
  });
}

/** The parts of a body that has some. */
export function partsOf(body: JsonObject): readonly Part[] {
  const parts: unknown = body['parts'];
  return Array.isArray(parts) ? (parts as readonly Part[]) : []; // their shape was checked
}

/** Where words are removed from: a commit while it is decided. */
interface Words {
  readonly rows: RowReader & { put(conversation: ConversationId, key: string, value: RowValue | null): void };
  record(ref: RecordRef): StoredRecord;
  body(ref: RecordRef): JsonObject | undefined;
}

/** Called when the words of a record are about to go: they no longer keep what they refer to. */
export function unrefer(words: Words, ref: RecordRef): void {
  // Most words name no attachment and need not be looked at.
  if (words.record(ref).body?.includes('"attachment":') !== true) return;
  const { rows } = words;
  for (const { digest } of attachmentsIn(partsOf(words.body(ref) ?? {}), 'parts')) {
    rows.put(ref.owner, KEYS.reference(digest, ref.version, ref.index), null);
    if (!refersTo(rows, ref.owner, digest)) rows.put(SHELVES.attachments, ATTACHMENT_KEYS.use(digest, ref.owner), null);
  }
}

function refersTo(rows: RowReader, conversation: ConversationId, digest: string): boolean {
  const from = KEYS.referencesTo(digest);
  return rows.scan(conversation, { from, to: prefixEnd(from), limit: 1 }).length > 0;
}
