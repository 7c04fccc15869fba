import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';

/** A disk on which there is room for so many writes, and for none after them. */
class FullDisk {
  left = Infinity;

  readonly fileSystem: FileSystem = {
    ...realFileSystem,
    open: (path, mode) => {
      const file = realFileSystem.open(path, mode);
      const write = (bytes: Uint8Array, position: number) => {
        this.left -= 1;
        if (this.left < 0) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
        file.write(bytes, position);
      };
      return withFile(file, { write });
    },
  };
}

/** What a call fails with; `undefined` where it does not. */
async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
  );
}

/** Folds while it is built anew, and small segments. */
const SETTINGS = { foldCommits: 3, foldBytes: 1_000, segmentBytes: 20_000, mergeRuns: 3 };

test('a journal whose rebuild finds no room goes on with the index that it has', async () => {
  for (let room = 0, isThrough = false; !isThrough; room += 7) {
    const disk = new FullDisk();
    const directory = temporaryDirectory();
    const journal = await opened(directory, { fileSystem: disk.fileSystem, settings: SETTINGS });
    for (let k = 0; k < 16; k++) await journal.commit(turnOf(`c${k % 2}`, Math.floor(k / 2)));
    await journal.catchUp();
    const expected = await contents(journal);
    disk.left = room;
    const rebuilt = await codeOf(journal.rebuild());
    isThrough = rebuilt === undefined;
    expect([undefined, 'store_full']).toContain(rebuilt);
    expect(await contents(journal)).toBe(expected);
    expect([undefined, 'store_full']).toContain(await codeOf(journal.commit(turnOf('c0', 8))));
    disk.left = Infinity;
    expect(await journal.commit(turnOf('c0', 8))).toMatchObject({ version: 9 });
    expect(await journal.verify()).toEqual([]);
    const held = await contents(journal);
    await journal.catchUp();
    await journal.close();
    const again = await opened(directory, { settings: SETTINGS });
    expect(await contents(again)).toBe(held);
    expect(await again.verify()).toEqual([]);
    expect(readdirSync(directory)).not.toContain('damaged');
    await again.close();
  }
});
