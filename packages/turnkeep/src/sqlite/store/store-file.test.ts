import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TurnkeepError } from '../../core/errors.ts';
import { openDatabase } from '../driver/open-database.ts';
import { openSqlite } from '../open.ts';
import { message, NAMESPACE, versionOf, withStore, withStoreFile } from '../sqlite-backend.testkit.ts';
import { MIGRATIONS } from './store-schema.ts';

/** But the search index, which is built when there is time for it. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('store.db-search'));
}

async function refusal(path: string): Promise<unknown> {
  const before = readFileSync(path);
  const error: unknown = await openSqlite(path).then(
    () => 'opened',
    (thrown: unknown) => thrown,
  );
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(filesIn(dirname(path))).toEqual(['store.db']);
  return error;
}

describe('what is not a store is refused and left as it is:', () => {
  test('a file of text', () =>
    withStoreFile(async (path) => {
      writeFileSync(path, 'Dear diary, '.repeat(1_000));
      expect(await refusal(path)).toMatchObject({ code: 'store_foreign', retry: 'never' });
    }));

  test.each(['DELETE', 'WAL'])("another program's database in %s mode", (mode) =>
    withStoreFile(async (path) => {
      const other = openDatabase(path);
      other.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE diary (page TEXT)`);
      other.close();
      expect(await refusal(path)).toMatchObject({ code: 'store_foreign' });
    }),
  );

  test('a store of a newer version', () =>
    withStoreFile(async (path) => {
      await (await openSqlite(path)).close();
      const newer = openDatabase(path);
      newer.pragma(`user_version = ${MIGRATIONS.length + 1}`);
      newer.close();
      expect(await refusal(path)).toMatchObject({
        code: 'store_newer',
        details: { found: MIGRATIONS.length + 1, supported: MIGRATIONS.length },
      });
    }));

  test('a folder', () =>
    withStoreFile(async (path) => {
      mkdirSync(path);
      await expect(openSqlite(path)).rejects.toMatchObject({ code: 'store_unavailable' });
    }));
});

describe('a store is made', () => {
  test('of nothing, with its folders, for the user alone', () =>
    withStoreFile(async (path) => {
      const deep = join(path, 'a', 'b.db');
      await (await openSqlite(deep)).close();
      expect(statSync(dirname(deep)).mode & 0o777).toBe(0o700);
      expect(statSync(deep).mode & 0o777).toBe(0o600);
    }));

  test('of an empty file', () =>
    withStoreFile(async (path) => {
      writeFileSync(path, '');
      const store = await openSqlite(path);
      expect((await store.commit(message('talk', 'word'))).version).toBe(1);
      await store.close();
    }));

  test('once, by many at the same time', () =>
    withStoreFile(async (path) => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => openSqlite(path)));
      const receipts = await Promise.all(stores.map((store) => store.commit(message('talk', 'word'))));
      expect(receipts.map(({ version }) => version).sort((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6]);
      for (const store of stores) await store.close();
    }));
});

test('the file says what it is, and that every commit is synced', () =>
  withStore(async (store, path) => {
    expect(store.traits).toMatchObject({ backend: 'sqlite', durability: 'power_loss', sync: 'WAL, synchronous=FULL' });
    const database = openDatabase(path, { readOnly: true });
    expect(database.pragma('journal_mode')).toBe('wal');
    expect(database.pragma('page_size')).toBe(4_096);
    database.close();
  }));

test('without a WAL a store is as safe, and says so', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path, { journal: 'rollback' });
    expect(store.traits.sync).toContain('rollback journal');
    const commits = Array.from({ length: 20 }, (_, at) => store.commit(message('talk', `word ${at}`)));
    const reads = Array.from({ length: 20 }, () => versionOf(store, 'talk'));
    await Promise.all([...commits, ...reads]);
    expect(await versionOf(store, 'talk')).toBe(20);
    expect((await store.search(NAMESPACE, { text: 'word 7', limit: 5 })).places).toHaveLength(1);
    expect(await store.verify()).toEqual([]);
    await store.close();
    const again = await openSqlite(path, { journal: 'rollback' });
    expect(await versionOf(again, 'talk')).toBe(20);
    await again.close();
  }));

test('a name that no file can have is refused, and nothing is made', () =>
  withStoreFile(async (path) => {
    for (const name of [`${path}\0x`, `${path}\ud800`])
      await expect(openSqlite(name)).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'path' } });
    expect(readdirSync(dirname(path))).toEqual([]);
    writeFileSync(path, '');
    await expect(openSqlite(join(path, 'folder', 'store.db'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(openSqlite(join(path, 'store.db'))).rejects.toMatchObject({ code: 'store_unavailable' });
  }));

test('a name is taken as it is, whatever characters it has', () =>
  withStoreFile(async (path) => {
    const folder = dirname(path);
    const signs = ` a b?mode=ro#%41;'"*\\\n\u202eü¬✓`;
    for (const name of [signs, 'file:a?mode=memory', ':memory:', 'x'.repeat(240)]) {
      const store = await openSqlite(join(folder, name));
      await store.commit(message('talk', 'word'));
      await store.catchUp();
      await store.close();
      expect(readdirSync(folder).toSorted()).toEqual([name, `${name}-search`].toSorted());
      const again = await openSqlite(join(folder, name));
      expect(await versionOf(again, 'talk')).toBe(1);
      await again.close();
      for (const one of readdirSync(folder)) rmSync(join(folder, one));
    }
  }));

test('a name that ends in white space is taken as it is, or refused: never for the name without', () =>
  withStoreFile(async (path) => {
    const other = await openSqlite(path);
    await other.commit(message('talk', 'word'));
    await other.close();
    const spaced = await openSqlite(`${path} `).catch((error: unknown) => error as TurnkeepError);
    const found = spaced instanceof TurnkeepError ? spaced.code : await versionOf(spaced, 'talk');
    expect([0, 'unsupported']).toContain(found);
    if (!(spaced instanceof TurnkeepError)) await spaced.close();
  }));

test('a file of two names is refused: by each of them it would have another WAL, and commits would be lost', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path);
    await store.commit(message('talk', 'word'));
    const name = `${path}-too`;
    linkSync(path, name);
    const refused = {
      code: 'store_unavailable',
      details: { reason: expect.stringContaining('2 names') as string },
    };
    for (const one of [name, path]) await expect(openSqlite(one)).rejects.toMatchObject(refused);
    expect((await store.commit(message('talk', 'word'))).version).toBe(2);
    await store.close();
    rmSync(name);
    const again = await openSqlite(path);
    expect(await versionOf(again, 'talk')).toBe(2);
    await again.close();
  }));

test.each(['', '-wal', '-shm'])(
  'a store whose file%s nobody may write is refused, and opens once it may be',
  (suffix) =>
    withStoreFile(async (path) => {
      const store = await openSqlite(path);
      await store.commit(message('talk', 'word'));
      if (suffix === '') await store.close();
      chmodSync(path + suffix, 0o400);
      const before = filesIn(dirname(path));
      const script = fileURLToPath(new URL('../unprivileged-child.testkit.js', import.meta.url));
      const { stdout } = spawnSync(process.execPath, [script, path], { encoding: 'utf8' });
      expect(JSON.parse(stdout)).toMatchObject({
        code: 'store_unavailable',
        details: { reason: expect.stringContaining(`'${path}${suffix}' (EACCES)`) as string },
      });
      expect(filesIn(dirname(path))).toEqual(before);
      chmodSync(path + suffix, 0o600);
      await store.close();
      const again = await openSqlite(path);
      expect(await versionOf(again, 'talk')).toBe(1);
      await again.close();
    }),
);

test('in a folder where nothing may be made, no store is opened or made', () =>
  withStoreFile(async (path) => {
    await (await openSqlite(path)).close();
    const folder = dirname(path);
    chmodSync(folder, 0o500);
    const script = fileURLToPath(new URL('../unprivileged-child.testkit.js', import.meta.url));
    for (const one of [path, join(folder, 'new.db')]) {
      const { stdout } = spawnSync(process.execPath, [script, one], { encoding: 'utf8' });
      expect(JSON.parse(stdout)).toMatchObject({ code: 'store_unavailable', details: { place: one } });
    }
    chmodSync(folder, 0o700);
    expect(filesIn(folder)).toEqual(['store.db']);
  }));

test('a store that a link leads to has its beats and drafts beside the file itself', () =>
  withStoreFile(async (path) => {
    const link = `${path}-link`;
    const direct = await openSqlite(path);
    symlinkSync(path, link);
    const linked = await openSqlite(link);
    const place = { namespace: NAMESPACE, conversationId: 'talk', key: 'beat 1' };
    await linked.scratch.put(place, 'lives');
    expect(await direct.scratch.get(place)).toBe('lives');
    await linked.close();
    await direct.close();
  }));

test('a store that a link leads to has one search index, beside the file itself', () =>
  withStoreFile(async (path) => {
    const link = join(dirname(path), 'link.db');
    await (await openSqlite(path)).close();
    symlinkSync(path, link);
    const store = await openSqlite(link);
    await store.commit(message('talk', 'a word'));
    await store.search(NAMESPACE, { text: 'word', limit: 1 });
    await store.close();
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['link.db', 'store.db', 'store.db-search']);
  }));
