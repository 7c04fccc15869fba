import { isUint8Array } from 'node:util/types';
import { TurnkeepError } from '../core/errors.ts';
import type { ByteSource } from '../platform/byte-source.ts';

/** Bytes that are at hand, as a source. */
export function bytesSource(name: string, data: Uint8Array): ByteSource {
  return {
    name,
    sizeBytes: data.length,
    async *stream() {
      yield data;
    },
    slice: async (byte, bytes) => data.subarray(byte, byte + bytes),
    close: async () => {},
  };
}

/** Throws `invalid_value` where a stream gives something else than bytes: texts, where it was given an encoding. */
export function assertBytes(chunk: unknown): asserts chunk is Uint8Array {
  if (isUint8Array(chunk)) return;
  throw new TurnkeepError('invalid_value', { path: 'source', reason: 'expected a stream of bytes' });
}

/** Holds a whole stream in memory, since an importer reads its source twice. A file is better opened by its path. */
export async function bufferedSource(name: string, stream: AsyncIterable<Uint8Array>): Promise<ByteSource> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    assertBytes(chunk);
    chunks.push(chunk);
  }
  return bytesSource(name, Buffer.concat(chunks));
}
