import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withStoreFile } from './sqlite-backend.testkit.ts';

// Disks of so many KiB, in a name space of mounts that goes with its process.

/** Calls for which there may be no room. */
const TAKES_ROOM: ReadonlySet<string> = new Set(['open', 'put', 'catchUp', 'cool', 'collect']);

interface Said {
  readonly acknowledged: number;
  readonly there: number;
  readonly refusals: readonly string[];
  readonly answers: Readonly<Record<string, string>>;
}

const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /tmp']).status === 0;

/** What the child says on a disk of its own. */
function onDisk(path: string, sizeKiB: number): Said {
  const child = fileURLToPath(new URL('./small-disk-child.testkit.js', import.meta.url));
  const mount = 'mount -t tmpfs -o "size=$0k" tmpfs "$1" && shift && exec "$@"';
  const args = [String(sizeKiB), dirname(path), process.execPath, child, path];
  const { stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', mount, ...args], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Said;
}

test.skipIf(!canMount).each([4, 40, 100, 160, 200, 260, 340, 500, 900])(
  'on a disk of %i KiB what has no room is store_full, what is there is read, searched and checked, and nothing is lost',
  (sizeKiB) =>
    withStoreFile((path) => {
      const { acknowledged, there, refusals, answers } = onDisk(path, sizeKiB);
      expect(there).toBe(acknowledged);
      expect(refusals.filter((code) => code !== 'store_full')).toEqual([]);
      const isRight = ([what, answer]: readonly [string, string]) =>
        answer === 'fine' || (answer === 'store_full' && TAKES_ROOM.has(what));
      expect(Object.entries(answers).filter((one) => !isRight(one))).toEqual([]);
      return Promise.resolve();
    }),
);
