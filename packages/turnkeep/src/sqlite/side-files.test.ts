import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openSqlite } from './open.ts';
import { message, NAMESPACE, versionOf, withStoreFile } from './sqlite-backend.testkit.ts';

// SQLite's own files beside an open store are removed, or others are put in their place: two processes would not see each
// other any more, and commits would stand in a file that goes with the process.

const UNAVAILABLE = {
  code: 'store_unavailable',
  details: { reason: expect.stringMatching(/-(wal|shm) was/) as string },
};

test.each([
  ['-wal', 'removed', (path: string) => rmSync(path)],
  ['-wal', 'replaced', (path: string) => (rmSync(path), writeFileSync(path, ''))],
  ['-shm', 'removed', (path: string) => rmSync(path)],
  ['-shm', 'replaced', (path: string) => (rmSync(path), writeFileSync(path, ''))],
])('a store whose %s is %s takes no more commits, and keeps those that it took', (suffix, _, harm) =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path);
    for (let at = 0; at < 5; at++) await store.commit(message('talk', 'word'));
    await store.catchUp();
    expect(existsSync(path + suffix)).toBe(true);
    harm(path + suffix);
    await expect(store.commit(message('talk', 'word'))).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.commit(message('talk', 'word'))).rejects.toMatchObject(UNAVAILABLE);
    expect(await versionOf(store, 'talk')).toBe(5);
    expect((await store.search(NAMESPACE, { text: 'word', limit: 9 })).places).toHaveLength(5);
    for (const upkeep of [() => store.cool(NAMESPACE), () => store.collect(NAMESPACE), () => store.rebuild()])
      await expect(upkeep()).rejects.toMatchObject(UNAVAILABLE);
    await store.close();
    const again = await openSqlite(path);
    expect(await versionOf(again, 'talk')).toBe(5);
    expect((await again.commit(message('talk', 'word'))).version).toBe(6);
    expect(await again.verify()).toEqual([]);
    await again.close();
  }),
);

test.each([
  ['with its folder', (folder: string) => rmSync(folder, { recursive: true })],
  ['file by file', (folder: string) => readdirSync(folder).forEach((name) => rmSync(join(folder, name)))],
])('a store that is deleted while it is open (%s) says so to every call, closes, and leaves nothing', (_, remove) =>
  withStoreFile(async (path) => {
    const folder = join(dirname(path), 'folder');
    const store = await openSqlite(join(folder, 'store.db'));
    for (let at = 0; at < 5; at++) await store.commit(message('talk', 'word'));
    await store.catchUp();
    remove(folder);
    const gone = { code: 'store_unavailable', details: { reason: 'its file was removed' } };
    const part = { upload: 'u', index: 0, bytes: new Uint8Array(3), now: 1 };
    const calls = [
      () => store.commit(message('talk', 'word')),
      () => store.attachments.add(NAMESPACE, part),
      () => store.cool(NAMESPACE),
      () => store.collect(NAMESPACE),
      () => store.catchUp(),
      () => store.rebuild(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(gone);
    // Whoever has it open may still read what there was.
    expect(await versionOf(store, 'talk')).toBe(5);
    expect((await store.search(NAMESPACE, { text: 'word', limit: 9 })).places).toHaveLength(5);
    await store.close();
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  }),
);

test('a process whose WAL was taken away harms nothing of another one that has begun a new one', () =>
  withStoreFile(async (path) => {
    const first = await openSqlite(path);
    for (let at = 0; at < 30; at++) await first.commit(message('lost', 'word'));
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
    const script = fileURLToPath(new URL('./sqlite-child.testkit.js', import.meta.url));
    const { status } = spawnSync(process.execPath, [script, path, 'talk', '30', '1'], { input: 'go\n' });
    expect(status).toBe(0);
    await expect(first.commit(message('lost', 'word'))).rejects.toMatchObject(UNAVAILABLE);
    const open = JSON.stringify(new URL('./open.js', import.meta.url).href);
    const check = `const store = await (await import(${open})).openSqlite(${JSON.stringify(path)});
      const { version } = await store.read(${JSON.stringify(NAMESPACE)}, (rows) => rows.head('talk'));
      console.log(version, JSON.stringify(await store.verify()));
      await store.close();`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', check], { encoding: 'utf8' });
    expect(stdout).toBe('30 []\n');
    await first.close();
  }));
