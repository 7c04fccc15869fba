import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { othersTurn } from '../platform/timers.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/** What a reader beside a writer of another process may meet: the writer replaces files while the reader has them open. */

/** A file system that fails as full for the paths that `isFull` picks. */
function fullFor(isFull: (path: string) => boolean): FileSystem {
  return {
    ...realFileSystem,
    open(path, mode) {
      if (mode === 'replace' && isFull(path)) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      return realFileSystem.open(path, mode);
    },
  };
}

test('a reader reads what was written to a segment that a collection has just replaced', async () => {
  const directory = temporaryDirectory();
  let isReplaced = false;
  // The collection stops after it has replaced the segment, before it says so in the fold.
  const full = fullFor((path) => isReplaced && path.includes('/runs/'));
  const rename: FileSystem['rename'] = (from, to) => {
    realFileSystem.rename(from, to);
    isReplaced ||= to.endsWith('/segments/0001.jsonl');
  };
  const writer = await opened(directory, { fileSystem: { ...full, rename } });
  for (let k = 0; k < 3; k++) await writer.commit(turnOf('a', k));
  const reader = await opened(directory, { readOnly: true });
  expect(await contents(reader)).toBe(await contents(writer));
  await writer.commit(commitOf('a', 'r', [{ kind: 'message.redact', messageId: 'a-message-1-1', reason: 'asked' }]));
  await expect(writer.collect('ns')).rejects.toMatchObject({ code: 'store_full' });
  expect(isReplaced).toBe(true);
  await writer.commit(turnOf('a', 3));
  expect(await contents(reader)).toBe(await contents(writer));
});

test('a reader that looks for a segment while it is archived finds it', async () => {
  const directory = temporaryDirectory();
  const writer = await opened(directory, { settings: { segmentBytes: 4_000 } });
  for (let k = 0; k < 6; k++) await writer.commit(turnOf('a', k));
  const [plain, archive] = [`${directory}/segments/0001.jsonl`, `${directory}/archives/0001.tka`];
  const bytes = readFileSync(plain);
  expect(await writer.cool('ns', { hotMessages: 2 })).toBeGreaterThan(0);
  renameSync(archive, `${directory}/archived`);
  writeFileSync(plain, bytes);
  // Between its look for an archive and its look for the segment, the one takes the place of the other.
  const fileSystem: FileSystem = {
    ...realFileSystem,
    open(path, mode) {
      try {
        return realFileSystem.open(path, mode);
      } catch (error) {
        if (path === archive) {
          renameSync(`${directory}/archived`, archive);
          rmSync(plain);
        }
        throw error;
      }
    },
  };
  const reader = await opened(directory, { fileSystem, readOnly: true });
  const isHot = (text: string) => text.replaceAll(',"tier":"cool"', '');
  expect(isHot(await contents(reader))).toBe(isHot(await contents(writer)));
});

test('I8: a reader that meets the mark half written sees nothing that is not durable', async () => {
  const directory = temporaryDirectory();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  const writer = await opened(directory, {
    fileSystem: {
      ...realFileSystem,
      open(path, mode) {
        const file = realFileSystem.open(path, mode);
        const sync = async () => {
          if (isHeld) await released;
          await file.sync();
        };
        return withFile(file, { sync });
      },
    },
  });
  onTestFinished(() => release());
  await writer.commit(turnOf('a', 0));
  let torn = 0;
  const reader = await opened(directory, {
    readOnly: true,
    fileSystem: {
      ...realFileSystem,
      open(path, mode) {
        const file = realFileSystem.open(path, mode);
        if (!path.endsWith('/durable.json') || torn === 0) return file;
        torn -= 1;
        return withFile(file, { read: (bytes, position) => file.read(bytes.fill(0x20, 100), position) && 100 });
      },
    },
  });
  const segment = `${directory}/segments/0001.jsonl`;
  const { size } = statSync(segment);
  isHeld = true;
  const committing = writer.commit(turnOf('a', 1));
  while (statSync(segment).size === size) await othersTurn();
  torn = 1;
  expect(await reader.read('ns', (rows) => rows.head('a')?.version)).toBe(1);
  expect(torn).toBe(0);
  isHeld = false;
  release();
  await committing;
  expect(await reader.read('ns', (rows) => rows.head('a')?.version)).toBe(2);
});

/** Puts bytes into the first segment of a closed store, before a line of it. */
function insert(directory: string, line: number, bytes: string): void {
  const path = `${directory}/segments/0001.jsonl`;
  const lines = readFileSync(path, 'latin1').split(/(?<=\n)/);
  writeFileSync(path, lines.toSpliced(line, 0, bytes).join(''), 'latin1');
}

test.each([
  ['a short line', 'x\n', 0],
  ['more than a line', `${'x'.repeat(9_000)}\n`, 0],
  ['more than a line, before what is not folded', `${'x'.repeat(9_000)}\n`, 3],
])('a reader reads all lines of a segment into which somebody put %s', async (_, bytes, folded) => {
  const directory = temporaryDirectory();
  const writer = await openJournal(directory);
  for (let k = 0; k < 6; k++) {
    await writer.commit(turnOf('a', k));
    if (k + 1 === folded) await writer.catchUp();
  }
  const expected = await contents(writer);
  await writer.close();
  insert(directory, 4, bytes);
  const reader = await opened(directory, { readOnly: true });
  expect(await contents(reader)).toBe(expected);
  expect((await reader.verify()).map(({ kind }) => kind)).toContain('foreign_bytes');
  const next = await openJournal(directory);
  await next.commit(turnOf('a', 6));
  expect(await contents(reader)).toBe(await contents(next));
  await next.close();
});

test('a reader of a segment into which somebody put bytes still sees nothing that is not durable', async () => {
  const directory = temporaryDirectory();
  const writer = await openJournal(directory);
  for (let k = 0; k < 5; k++) await writer.commit(turnOf('a', k));
  const mark = readFileSync(`${directory}/durable.json`);
  await writer.commit(turnOf('a', 5));
  await writer.close();
  // As if the last line were written and not synced yet.
  writeFileSync(`${directory}/durable.json`, mark);
  insert(directory, 2, `${'x'.repeat(9_000)}\n`);
  const reader = await opened(directory, { readOnly: true });
  expect(await reader.read('ns', (rows) => rows.head('a')?.version)).toBe(5);
});

test('a reader finds no fault in lines that are written and not durable yet', async () => {
  const directory = temporaryDirectory();
  const writer = await openJournal(directory);
  for (let k = 0; k < 3; k++) await writer.commit(turnOf('a', k));
  const mark = readFileSync(`${directory}/durable.json`);
  await writer.commit(turnOf('a', 3));
  await writer.close();
  writeFileSync(`${directory}/durable.json`, mark);
  const reader = await opened(directory, { readOnly: true });
  expect(await reader.verify()).toEqual([]);
  insert(directory, 2, 'x\n');
  expect((await reader.verify()).map(({ kind }) => kind)).toContain('foreign_bytes');
});
