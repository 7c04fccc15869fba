import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveFile } from './archive-file.ts';
import { archiveSegment } from './archive-writer.ts';
import type { Stretch } from './archive-writer.ts';
import { sha256 } from '../../platform/hash.ts';
import { realFileSystem } from '../files/file-system.ts';
import { temporaryDirectory } from '../journal.testkit.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { storeParts } from '../store-parts.ts';

const STORE = 'the number of a store';

/** Archives a file of these lines; those that are chosen are compressed. */
async function archived(lines: readonly string[], isCool: (line: number) => boolean) {
  const directory = temporaryDirectory();
  const parts = storeParts({ fs: realFileSystem, directory, store: STORE, settings: DEFAULT_SETTINGS, sha256 });
  mkdirSync(parts.segmentsDirectory);
  const plain = `${parts.segmentsDirectory}/0001.jsonl`;
  writeFileSync(plain, lines.join(''));
  const cool: Stretch[] = [];
  let at = 0;
  for (const [line, text] of lines.entries()) {
    const end = at + Buffer.byteLength(text);
    if (isCool(line)) cool.push([at, end]);
    at = end;
  }
  const source = realFileSystem.open(plain, 'read');
  await archiveSegment(parts, 1, source, cool, []);
  source.close();
  return { path: `${parts.archivesDirectory}/0001.tka`, bytes: Buffer.from(lines.join('')), cool };
}

function open(path: string): ArchiveFile | string | undefined {
  return ArchiveFile.open(realFileSystem, path, { store: STORE, segment: 1 });
}

function opened(path: string): ArchiveFile {
  const archive = open(path);
  if (archive instanceof ArchiveFile) return archive;
  throw new Error(`it is no archive: ${archive}`);
}

function wholeOf(archive: ArchiveFile): Buffer {
  const bytes = Buffer.alloc(archive.sizeBytes());
  archive.read(bytes, 0);
  return bytes;
}

test('an archive answers every stretch of its segment, whichever lines are compressed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 40 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      fc.array(fc.tuple(fc.nat(3_000), fc.nat(200)), { maxLength: 10 }),
      async (texts, choice, reads) => {
        const lines = texts.map((text) => `${text}\n`);
        const { path, bytes, cool } = await archived(lines, (line) => choice[line] === true);
        const archive = opened(path);
        expect(wholeOf(archive).equals(bytes)).toBe(true);
        expect(archive.sizeBytes()).toBe(bytes.length);
        for (const [from, length] of reads) {
          const into = Buffer.alloc(length);
          const filled = archive.read(into, from);
          expect(into.subarray(0, filled).equals(bytes.subarray(from, from + length))).toBe(true);
        }
        for (const [from] of cool) expect(archive.tierAt(from)).toBe('cool');
        const stretches = archive.coolStretches().reduce((sum, [from, to]) => sum + to - from, 0);
        expect(stretches).toBe(cool.reduce((sum, [from, to]) => sum + to - from, 0));
        archive.close();
      },
    ),
    { numRuns: 40 },
  );
});

test('no byte of an archive changes unnoticed', async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `{"line":${at},"words":"${'some words and more '.repeat(4)}"}\n`);
  const { path, bytes } = await archived(lines, (line) => line % 3 !== 0);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at++) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8((damaged[at] as number) ^ 0x10, at);
    writeFileSync(path, damaged);
    const archive = open(path);
    if (!(archive instanceof ArchiveFile)) continue;
    // What stands as it was is under the digests of its lines; the rest is told.
    const isTold = [...archive.check()].some((problem) => problem !== undefined);
    const differs = !wholeOf(archive).equals(bytes);
    archive.close();
    expect([at, isTold || differs]).toEqual([at, true]);
  }
});
