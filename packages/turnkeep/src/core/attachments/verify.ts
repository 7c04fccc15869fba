import type { Row, RowReader } from '../backend.ts';
import { sameJson } from '../encoding.ts';
import { afterSeparator, KEYS, prefixEnd } from '../keys.ts';
import { SHELVES } from '../shelf.ts';
import { sliceOfShelf } from './keep.ts';
import { attachmentOf, digestInKey, packAttachment, partDigests, ATTACHMENT_KEYS, unpackAttachment } from './rows.ts';
import type { AttachmentRow } from './rows.ts';
import { PART_BYTES } from './store.ts';

/** An attachment whose bytes are to be checked. */
export interface Shelved {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly parts: readonly string[];
}

/** A slice of checking the shelf's rows. */
export interface ShelfStep {
  readonly shelved: readonly Shelved[];
  readonly problems: readonly { readonly digest: string | undefined; readonly reason: string }[];
  /** What to hand in for the next slice; `null` at the end. */
  readonly next: string | null;
}

/** The attachments after `after`, `''` at first, and what is wrong with their rows. */
export function verifyShelf(rows: RowReader, after: string): ShelfStep {
  const digests = sliceOfShelf(rows, after);
  const shelved: Shelved[] = [];
  const problems: { digest: string | undefined; reason: string }[] = [];
  for (const digest of digests) {
    const row = attachmentOf(rows, digest);
    if (!row) continue;
    const parts = partDigests(rows, digest);
    shelved.push({ digest, sizeBytes: row.sizeBytes, parts });
    const fits = parts.length === row.parts && row.parts === Math.ceil(row.sizeBytes / PART_BYTES);
    if (!isAttachment(rows, digest, row)) problems.push({ digest, reason: 'its row is none of an attachment' });
    if (!fits) problems.push({ digest, reason: 'the rows of its parts are not those of its size' });
    for (const conversation of strayUses(rows, digest))
      problems.push({ digest, reason: `conversation ${conversation} is said to refer to it and does not` });
  }
  return { shelved, problems, next: digests.at(-1) ?? null };
}

function isAttachment(rows: RowReader, digest: string, row: AttachmentRow): boolean {
  const { sizeBytes, parts, heldSince } = row;
  const isWhole = [sizeBytes, parts, heldSince ?? 0].every(Number.isSafeInteger);
  return isWhole && sameJson(rows.get(SHELVES.attachments, ATTACHMENT_KEYS.attachment(digest)), packAttachment(row));
}

/** Conversations that a use names but that have no reference. */
function strayUses(rows: RowReader, digest: string): readonly string[] {
  const from = ATTACHMENT_KEYS.usesOf(digest);
  const uses = rows.scan(SHELVES.attachments, { from, to: prefixEnd(from) });
  const stray = uses.filter(({ key, value }) => {
    const start = KEYS.referencesTo(digest);
    const found = rows.scan(afterSeparator(key), { from: start, to: prefixEnd(start), limit: 1 });
    return found.length === 0 || value.length > 0;
  });
  return stray.map(({ key }) => afterSeparator(key));
}

/** What is wrong with the rows of the shelf as a whole: its total, and rows of attachments that are not there. */
export function shelfProblems(rows: RowReader): readonly string[] {
  const all = rows.scan(SHELVES.attachments, { from: '', to: prefixEnd('') });
  const isOne = ({ key }: Row): boolean => key.startsWith(ATTACHMENT_KEYS.attachments);
  const known = new Map(all.filter(isOne).map((row) => [digestInKey(row.key), unpackAttachment(row.value)]));
  const stray = all.map(({ key }) => digestInKey(key)).filter((digest) => digest !== undefined && !known.has(digest));
  const bytes = [...known.values()].reduce((sum, row) => sum + row.sizeBytes, 0);
  const said = rows.get(SHELVES.attachments, ATTACHMENT_KEYS.total) ?? [0, 0];
  const fits = sameJson(said, [known.size, bytes]);
  return [
    ...[...new Set(stray)].map((digest) => `rows name attachment ${digest}, which is not there`),
    ...(fits ? [] : [`${known.size} attachments of ${bytes} bytes are there, and the total says otherwise`]),
  ];
}
