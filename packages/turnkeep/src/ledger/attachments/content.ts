import { PART_BYTES } from '../../core/attachments/store.ts';
import { attachmentOf, partDigests } from '../../core/attachments/rows.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import { bytesDigest, StreamDigest } from '../../platform/hash.ts';
import type { Access } from '../access.ts';
import { assertNotAborted } from '../../core/abort.ts';
import { anything, assertChecked } from '../given.ts';
import type { Checks } from '../given.ts';
import type { AttachmentInfo } from './upload.ts';

/** Bytes from `start` up to but not including `end`, both within the attachment; to its end when `end` is absent. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number | undefined;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface GetOptions {
  readonly range?: ByteRange | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An attachment and the digests of its parts, as its rows say. */
interface Sealed extends AttachmentInfo {
  readonly parts: readonly string[];
}

export async function sealedAttachment(
  access: Access,
  namespace: NamespaceId,
  digest: string,
): Promise<Sealed | undefined> {
  return access.read(namespace, (rows) => {
    const row = attachmentOf(rows, digest);
    return row && { digest, sizeBytes: row.sizeBytes, parts: partDigests(rows, digest) };
  });
}

/**
 * The bytes of an attachment, or of a range of it, read part by part as they are asked for; they can be read several times.
 * No byte is returned before its part was checked, nor the last part of a whole attachment before the digest of all of it
 * was: a wrong byte is `corrupt`. An attachment that is collected while it is read is `attachment_missing`.
 */
export class AttachmentContent implements AttachmentInfo, AsyncIterable<Uint8Array> {
  readonly digest: string;
  /** The size of the whole attachment, also for a range. */
  readonly sizeBytes: number;
  readonly range: Span;
  readonly #access: Access;
  readonly #namespace: NamespaceId;
  readonly #parts: readonly string[];
  readonly #signal: AbortSignal | undefined;

  constructor(access: Access, namespace: NamespaceId, sealed: Sealed, options: GetOptions) {
    this.digest = sealed.digest;
    this.sizeBytes = sealed.sizeBytes;
    this.range = rangeWithin(sealed.sizeBytes, options.range);
    this.#access = access;
    this.#namespace = namespace;
    this.#parts = sealed.parts;
    this.#signal = options.signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { start, end } = this.range;
    if (start === end && this.sizeBytes > 0) return;
    const whole = end - start === this.sizeBytes ? new StreamDigest() : undefined;
    const lastPart = this.#parts.length - 1;
    for (let index = Math.floor(start / PART_BYTES); index * PART_BYTES < end; index++) {
      const bytes = await this.#part(index);
      whole?.add(bytes);
      if (whole && index === lastPart && whole.end() !== this.digest)
        throw this.#corrupt('it does not match its digest');
      const from = index * PART_BYTES;
      yield bytes.subarray(Math.max(0, start - from), Math.min(bytes.length, end - from));
    }
  }

  /** All bytes of the range at once. */
  async bytes(): Promise<Uint8Array> {
    const { start, end } = this.range;
    const all = new Uint8Array(end - start);
    let at = 0;
    for await (const chunk of this) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  stream(): ReadableStream<Uint8Array> {
    const chunks = this[Symbol.asyncIterator]();
    return new ReadableStream({
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    });
  }

  async #part(index: number): Promise<Uint8Array> {
    assertNotAborted(this.#signal);
    const bytes = await this.#access.backend.attachments.part(this.#namespace, this.digest, index);
    const length = Math.min(PART_BYTES, this.sizeBytes - index * PART_BYTES);
    if (bytes && bytes.length === length && bytesDigest(bytes) === this.#parts[index]) return bytes;
    // It may have gone since its rows were read.
    if (!(await sealedAttachment(this.#access, this.#namespace, this.digest)))
      throw new TurnkeepError('attachment_missing', { digest: this.digest });
    throw this.#corrupt(bytes ? `part ${index} does not match its digest` : `part ${index} is missing`);
  }

  #corrupt(reason: string): TurnkeepError<'corrupt'> {
    return new TurnkeepError('corrupt', { place: `namespace ${this.#namespace}, attachment ${this.digest}`, reason });
  }
}

const RANGE: Checks<ByteRange> = { start: anything, end: anything };

function rangeWithin(sizeBytes: number, range: ByteRange = { start: 0 }): Span {
  assertChecked(range, RANGE, 'range');
  const { start, end = sizeBytes } = range;
  const fits = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= sizeBytes;
  if (fits) return { start, end };
  throw new TurnkeepError('invalid_value', { path: 'range', reason: `whole numbers within ${sizeBytes} bytes` });
}
