import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RowValue } from '../core/backend.ts';
import { sha256 } from '../platform/hash.ts';
import { realProcesses } from '../platform/processes.ts';
import { MarkWriter } from './log/durable-mark.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';
import { LogWriter } from './log/log-writer.ts';
import { LOG_START } from './log/position.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { storeParts } from './store-parts.ts';

/** After a sync of the log that failed: nobody knows what of its end is on the disk. */

/** A file system on which the syncs of segments fail while `fails.is`. */
function failingSyncs(fails: { is: boolean }): FileSystem {
  return {
    ...realFileSystem,
    open(path, mode) {
      const file = realFileSystem.open(path, mode);
      if (!path.includes('/segments/')) return file;
      const sync = async () => {
        if (fails.is) throw Object.assign(new Error('EIO'), { code: 'EIO' });
        await file.sync();
      };
      return withFile(file, { sync });
    },
  };
}

test('I1: no maintenance settles what a sync that failed left open, and the next writer finds it', async () => {
  const directory = temporaryDirectory();
  const fails = { is: false };
  const journal = await opened(directory, { fileSystem: failingSyncs(fails) });
  for (let k = 0; k < 6; k++) await journal.commit(turnOf('a', k));
  fails.is = true;
  await expect(journal.commit(turnOf('open', 0))).rejects.toMatchObject({ code: 'outcome_unknown' });
  fails.is = false;
  const unavailable = { code: 'store_unavailable' };
  await expect(journal.cool('ns', { hotMessages: 2 })).rejects.toMatchObject(unavailable);
  await expect(journal.collect('ns')).rejects.toMatchObject(unavailable);
  await expect(journal.catchUp()).rejects.toMatchObject(unavailable);
  await expect(journal.rebuild()).rejects.toMatchObject(unavailable);
  const again = await opened(directory, { processes: { ...realProcesses, mayLive: () => false } });
  expect(await again.commit(turnOf('open', 0))).toMatchObject({ version: 1, replayed: true });
  await again.commit(turnOf('a', 6));
  const held = await contents(again);
  expect(await again.verify()).toEqual([]);
  await again.rebuild();
  expect(await contents(again)).toBe(held);
});

test('a group of which a line cannot be made leaves nothing behind for the next one', async () => {
  const directory = temporaryDirectory();
  const parts = storeParts({
    fs: realFileSystem,
    directory,
    store: 'store',
    settings: DEFAULT_SETTINGS,
    sha256,
  });
  realFileSystem.makeDirectory(parts.segmentsDirectory);
  const mark = new MarkWriter(realFileSystem, directory, 'store', '');
  const log = new LogWriter(parts, mark, LOG_START);
  const rows = (value: unknown) => [{ conversation: 'c', key: 'k', value: value as RowValue }];
  const group = [rows(['never']), rows([1n])].map((one) => ({
    namespace: 'ns',
    writes: { heads: [], rows: one, edits: [] },
  }));
  await expect(log.append(group)).rejects.toMatchObject({ code: 'store_unavailable' });
  await log.append([{ namespace: 'ns', writes: { heads: [], rows: rows(['then']), edits: [] } }]);
  const [line = '', ...rest] = readFileSync(`${parts.segmentsDirectory}/0001.jsonl`, 'utf8').split('\n');
  expect(line).toContain('"n":1,"group":1');
  expect(line).toContain('then');
  expect(rest).toEqual(['']);
  log.close();
  mark.close();
});

test('a want of descriptors fails a commit, and not the handle', async () => {
  let lacks = false;
  const fileSystem: FileSystem = {
    ...realFileSystem,
    async syncDirectory(path) {
      if (lacks && path.endsWith('/segments')) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
      await realFileSystem.syncDirectory(path);
    },
  };
  const directory = temporaryDirectory();
  const journal = await opened(directory, { fileSystem, settings: { segmentBytes: 1 } });
  await journal.commit(turnOf('a', 0));
  lacks = true;
  await expect(journal.commit(turnOf('a', 1))).rejects.toMatchObject({ code: 'store_unavailable' });
  lacks = false;
  expect(await journal.commit(turnOf('a', 1))).toMatchObject({ version: 2, replayed: false });
  expect(await journal.verify()).toEqual([]);
});
