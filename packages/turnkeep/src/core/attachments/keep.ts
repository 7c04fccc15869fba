import type { RowReader, WriteSet } from '../backend.ts';
import type { Sha256 } from '../digest.ts';
import { TurnkeepError } from '../errors.ts';
import { prefixEnd } from '../keys.ts';
import { newShelf, SHELVES } from '../shelf.ts';
import { attachmentOf, DIGESTS_PER_ROW, isUsed, packAttachment, packTotal, ATTACHMENT_KEYS, totalOf } from './rows.ts';
import type { Grace, UploadSeal } from './store.ts';

type RowWrite = WriteSet['rows'][number];

/**
 * The rows that make an upload an attachment, held from now on. If the digest is already there, only its hold begins anew.
 * Refuses what goes beyond the namespace's quota.
 */
export function sealUpload(rows: RowReader, seal: UploadSeal, sha256: Sha256): WriteSet {
  const { digest, sizeBytes, parts, now } = seal;
  const known = attachmentOf(rows, digest);
  const attachment = write(
    ATTACHMENT_KEYS.attachment(digest),
    packAttachment({ sizeBytes, parts: parts.length, heldSince: now }),
  );
  if (known) return { heads: [], rows: [attachment], edits: [] };
  const total = totalOf(rows);
  const bytes = total.bytes + sizeBytes;
  if (bytes > seal.quotaBytes) throw pastQuota(seal.quotaBytes, bytes);
  return {
    heads: rows.head(SHELVES.attachments) ? [] : [newShelf(SHELVES.attachments, now, sha256)],
    rows: [
      attachment,
      ...partRows(digest, parts),
      write(ATTACHMENT_KEYS.total, packTotal({ attachments: total.attachments + 1, bytes })),
    ],
    edits: [],
  };
}

function partRows(digest: string, parts: readonly string[]): readonly RowWrite[] {
  return startsOfRows(parts.length).map((first) =>
    write(ATTACHMENT_KEYS.parts(digest, first), parts.slice(first, first + DIGESTS_PER_ROW)),
  );
}

/** The index of the first part in each row of an attachment's parts. */
function startsOfRows(parts: number): readonly number[] {
  return Array.from({ length: Math.ceil(parts / DIGESTS_PER_ROW) }, (_, at) => at * DIGESTS_PER_ROW);
}

function pastQuota(max: number, actual: number): TurnkeepError<'limit_exceeded'> {
  return new TurnkeepError('limit_exceeded', { limit: 'attachmentQuotaBytes', max, actual, path: 'attachment' });
}

/** A slice of a collection. */
export interface Sweep {
  readonly writes: WriteSet;
  /** Attachments to remove: their bytes must go with the rows. */
  readonly removed: readonly string[];
  /** Pass it in for the next slice; `null` at the end. */
  readonly next: string | null;
}

const SLICE = 256;

/** The attachments after `after`, `''` at first, that a slice of a collection looks at. */
export function sliceOfShelf(rows: RowReader, after: string): readonly string[] {
  const from = ATTACHMENT_KEYS.attachment(after === '' ? '' : `${after}\u0000`);
  const found = rows.scan(SHELVES.attachments, { from, to: prefixEnd(ATTACHMENT_KEYS.attachments), limit: SLICE });
  return found.map(({ key }) => key.slice(ATTACHMENT_KEYS.attachments.length));
}

/**
 * Lets go of attachments that nothing refers to and nobody holds any more. A hold ends when a commit refers to the
 * attachment, or after the grace; no clock is trusted with more than that: a hold that ends early costs a refusal
 * (`attachment_missing`) and another put, and one from the future begins now.
 */
export function sweepShelf(rows: RowReader, after: string, grace: Grace): Sweep {
  const digests = sliceOfShelf(rows, after);
  const changed: RowWrite[] = [];
  const removed: string[] = [];
  let { attachments, bytes } = totalOf(rows);
  for (const digest of digests) {
    const row = attachmentOf(rows, digest);
    if (!row || isUsed(rows, digest)) continue;
    const heldSince = row.heldSince === null ? null : Math.min(row.heldSince, grace.now);
    if (heldSince !== null && grace.now - heldSince < grace.graceMs) {
      const later = heldSince !== row.heldSince;
      if (later) changed.push(write(ATTACHMENT_KEYS.attachment(digest), packAttachment({ ...row, heldSince })));
      continue;
    }
    removed.push(digest);
    changed.push(...rowsWithout(digest, row.parts));
    attachments -= 1;
    bytes -= row.sizeBytes;
  }
  if (removed.length > 0) changed.push(write(ATTACHMENT_KEYS.total, packTotal({ attachments, bytes })));
  const next = digests.length === SLICE ? (digests.at(-1) ?? null) : null;
  return { writes: { heads: [], rows: changed, edits: [] }, removed, next };
}

function rowsWithout(digest: string, parts: number): readonly RowWrite[] {
  const keys = startsOfRows(parts).map((first) => ATTACHMENT_KEYS.parts(digest, first));
  return [ATTACHMENT_KEYS.attachment(digest), ...keys].map((key) => write(key, null));
}

function write(key: string, value: RowWrite['value']): RowWrite {
  return { conversation: SHELVES.attachments, key, value };
}
