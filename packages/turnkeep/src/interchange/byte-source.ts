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

/** Holds a whole stream in memory, since an importer reads its source twice. A file is better opened by its path. */
export async function bufferedSource(name: string, stream: AsyncIterable<Uint8Array>): Promise<ByteSource> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return bytesSource(name, Buffer.concat(chunks));
}
