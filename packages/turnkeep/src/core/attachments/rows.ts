import type { RowReader, RowValue } from '../backend.ts';
import type { ConversationId } from '../ids.ts';
import { numberKey, prefixEnd } from '../keys.ts';
import { SHELVES } from '../shelf.ts';

/**
 * The rows of a namespace's attachments, on a shelf of their own. No table of a conversation has their letters:
 *
 * - `H` an attachment: bytes, parts, and since when it is held (milliseconds; `null` once a commit has referred to it);
 * - `P` the digests of its parts, {@link DIGESTS_PER_ROW} per row;
 * - `W` who refers to it: a conversation whose words do;
 * - `Z` how many attachments there are, and how many bytes.
 */
const SHELF: ConversationId = SHELVES.attachments;

const SEPARATOR = '\u0001';

/** The most parts that one row names. */
export const DIGESTS_PER_ROW = 128;

export const ATTACHMENT_KEYS = {
  attachments: 'H',
  attachment: (digest: string) => `H${digest}`,
  partsOf: (digest: string) => `P${digest}`,
  parts: (digest: string, first: number) => `P${digest}${numberKey(first)}`,
  usesOf: (digest: string) => `W${digest}${SEPARATOR}`,
  use: (digest: string, conversation: ConversationId) => `W${digest}${SEPARATOR}${conversation}`,
  total: 'Z',
} as const;

/** The digest that a row of the shelf is about; `undefined` for the total. */
export function digestInKey(key: string): string | undefined {
  return key === ATTACHMENT_KEYS.total ? undefined : key.slice(1, 1 + DIGEST_LENGTH);
}

const DIGEST_LENGTH = 64;

/** SHA-256 of the bytes, in lower-case hexadecimal digits: what `sha256sum` says. */
export const DIGEST: RegExp = /^[0-9a-f]{64}$/;

export interface AttachmentRow {
  readonly sizeBytes: number;
  readonly parts: number;
  /** Milliseconds; `null` once a commit has referred to it: from then on only references keep it. */
  readonly heldSince: number | null;
}

export function packAttachment({ sizeBytes, parts, heldSince }: AttachmentRow): RowValue {
  return [sizeBytes, parts, heldSince];
}

export function unpackAttachment(value: RowValue): AttachmentRow {
  const [sizeBytes, parts, heldSince] = value as readonly [number, number, number | null];
  return { sizeBytes, parts, heldSince };
}

export interface ShelfTotal {
  readonly attachments: number;
  readonly bytes: number;
}

export function packTotal({ attachments, bytes }: ShelfTotal): RowValue {
  return [attachments, bytes];
}

export function totalOf(rows: RowReader): ShelfTotal {
  const [attachments = 0, bytes = 0] = (rows.get(SHELF, ATTACHMENT_KEYS.total) ?? []) as readonly number[];
  return { attachments, bytes };
}

/** The attachment of a digest; `undefined` if the namespace has none. */
export function attachmentOf(rows: RowReader, digest: string): AttachmentRow | undefined {
  const value = rows.get(SHELF, ATTACHMENT_KEYS.attachment(digest));
  return value && unpackAttachment(value);
}

/** The digests of an attachment's parts, in their order. */
export function partDigests(rows: RowReader, digest: string): readonly string[] {
  const from = ATTACHMENT_KEYS.partsOf(digest);
  return rows.scan(SHELF, { from, to: prefixEnd(from) }).flatMap(({ value }) => value as readonly string[]);
}

/** True if words of any conversation refer to the attachment. */
export function isUsed(rows: RowReader, digest: string): boolean {
  const from = ATTACHMENT_KEYS.usesOf(digest);
  return rows.scan(SHELF, { from, to: prefixEnd(from), limit: 1 }).length > 0;
}
