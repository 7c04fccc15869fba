import { PART_BYTES } from '../../core/attachments/store.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { bytesDigest, StreamDigest } from '../../platform/hash.ts';
import type { Access } from '../access.ts';
import { partsOf } from './parts.ts';
import type { AttachmentSource } from './parts.ts';

export interface PutOptions {
  /** The most bytes that the source may have; `LIMITS.attachmentBytes` when absent, and never more. */
  readonly maxBytes?: number | undefined;
  /** Gives up, even while the source is silent. */
  readonly signal?: AbortSignal | undefined;
}

/** A stored attachment. */
export interface AttachmentInfo {
  /** SHA-256 of the bytes as 64 lower-case hexadecimal digits: what a message's file part names. */
  readonly digest: string;
  readonly sizeBytes: number;
}

/** Stores the bytes of a source part by part; the last part makes them an attachment. A failure leaves nothing behind. */
export async function upload(
  access: Access,
  namespace: NamespaceId,
  source: AttachmentSource,
  options: PutOptions,
): Promise<AttachmentInfo> {
  const { attachments } = access.backend;
  const max = limitOf(options);
  const { now, nonce } = access.surroundings;
  const name = nonce();
  const digest = new StreamDigest();
  const digests: string[] = [];
  let sizeBytes = 0;
  let last: Uint8Array | undefined;
  // A source may be silent for ever.
  const closing = new AbortController();
  const close = () => closing.abort();
  access.waiting.add(close);
  const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
  try {
    for await (const part of partsOf(source, PART_BYTES, signal)) {
      sizeBytes += part.length;
      if (sizeBytes > max) throw tooLarge(max, sizeBytes);
      if (last) await attachments.add(namespace, { upload: name, index: digests.length - 1, bytes: last, now: now() });
      digest.add(part);
      digests.push(bytesDigest(part));
      last = part;
    }
    const seal = { upload: name, digest: digest.end(), sizeBytes, parts: digests, last, now: now() };
    await attachments.finish(namespace, { ...seal, quotaBytes: access.attachmentQuotaBytes });
    return { digest: seal.digest, sizeBytes };
  } catch (error) {
    // A collection clears what cannot be discarded now.
    if (digests.length > 1) await attachments.discard(namespace, name).catch(() => undefined);
    throw closing.signal.aborted ? new TurnkeepError('closed', { what: 'the store' }) : error;
  } finally {
    access.waiting.delete(close);
  }
}

function limitOf({ maxBytes = LIMITS.attachmentBytes }: PutOptions): number {
  if (!Number.isInteger(maxBytes) || maxBytes < 0)
    throw new TurnkeepError('invalid_value', { path: 'maxBytes', reason: 'a whole number from 0 on' });
  return Math.min(maxBytes, LIMITS.attachmentBytes);
}

function tooLarge(max: number, actual: number): TurnkeepError<'limit_exceeded'> {
  return new TurnkeepError('limit_exceeded', { limit: 'attachmentBytes', max, actual, path: 'source' });
}
