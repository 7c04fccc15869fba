import { TurnkeepError } from '../../core/errors.ts';
import { assertNotAborted, orAborted } from '../../core/abort.ts';

/** Bytes as a caller passes them: all at once, or in chunks of any length. */
export type AttachmentSource =
  | Uint8Array
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>
  | ReadableStream<Uint8Array>;

/**
 * The bytes of a source, in parts of `partBytes` each except the last: copies, so that the caller may reuse its chunks. What
 * the source throws is passed on; a source that is not read to its end is closed.
 */
export async function* partsOf(
  source: AttachmentSource,
  partBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(partBytes);
  let filled = 0;
  for await (const chunk of chunksOf(source, signal)) {
    assertNotAborted(signal);
    if (!(chunk instanceof Uint8Array)) throw notBytes();
    for (let at = 0; at < chunk.length;) {
      const taken = chunk.subarray(at, at + partBytes - filled);
      part.set(taken, filled);
      at += taken.length;
      filled += taken.length;
      if (filled < partBytes) continue;
      yield part;
      part = new Uint8Array(partBytes);
      filled = 0;
    }
  }
  assertNotAborted(signal);
  if (filled > 0) yield part.slice(0, filled);
}

/** The chunks of a source, until the caller gives up, also while the source is silent. */
async function* chunksOf(source: AttachmentSource, signal: AbortSignal | undefined): AsyncGenerator {
  const chunks = iteratorOf(source);
  let is: 'given' | 'asked' | 'ended' = 'given';
  try {
    for (;;) {
      assertNotAborted(signal);
      is = 'asked';
      const next = await orAborted(Promise.resolve(chunks.next()), signal);
      is = next.done === true ? 'ended' : 'given';
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    if (is === 'given') await chunks.return?.();
    // A silent source would not answer this before its pending read, so it is told without waiting.
    if (is === 'asked') void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

function iteratorOf(source: AttachmentSource): AsyncIterator<unknown> | Iterator<unknown> {
  const chunks = iterableOf(source);
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
}

function iterableOf(source: AttachmentSource): AsyncIterable<unknown> | Iterable<unknown> {
  if (source instanceof Uint8Array) return [source];
  const isIterable =
    typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source);
  if (!isIterable) throw notBytes();
  return source as AsyncIterable<unknown> | Iterable<unknown>; // looked at just now
}

function notBytes(): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path: 'source', reason: 'expected bytes, as Uint8Array' });
}
