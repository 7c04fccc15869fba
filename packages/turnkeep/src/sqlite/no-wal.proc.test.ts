import { spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './driver/open-database.ts';
import { openSqlite } from './open.ts';
import { message, NAMESPACE, versionOf, withStoreFile } from './sqlite-backend.testkit.ts';
import type { SqliteBackend } from './sqlite-backend.ts';

// Without a WAL a store is slower and as safe: what a process left that died is taken back by whoever comes next, to write
// or to read.

const ROLLBACK = { journal: 'rollback' } as const;

async function withTalk(use: (store: SqliteBackend, path: string) => Promise<void>): Promise<void> {
  await withStoreFile(async (path) => {
    const store = await openSqlite(path, ROLLBACK);
    for (let at = 0; at < 5; at++) await store.commit(message('talk', `fox ${at}`));
    await use(store, path);
  });
}

function dieInCommit(path: string): void {
  const script = fileURLToPath(new URL('./dying-child.testkit.js', import.meta.url));
  expect(spawnSync(process.execPath, [script, path]).signal).toBe('SIGKILL');
  expect(statSync(`${path}-journal`).size).toBeGreaterThan(512);
}

async function assertWhole(store: SqliteBackend, path: string, version: number): Promise<void> {
  expect(await versionOf(store, 'talk')).toBe(version);
  expect(await store.verify()).toEqual([]);
  const database = openDatabase(path, { readOnly: true });
  expect(database.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'more'").get()).toEqual([0]);
  expect(database.pragma('integrity_check')).toBe('ok');
  database.close();
}

test.each(['auto', 'rollback'] as const)(
  'a store whose process died in a commit opens, and has all but that commit (%s)',
  (journal) =>
    withTalk(async (store, path) => {
      await store.close();
      dieInCommit(path);
      const again = await openSqlite(path, { journal });
      await assertWhole(again, path, 5);
      expect((await again.commit(message('talk', 'fox'))).version).toBe(6);
      await again.close();
    }),
);

describe('where another process died in a commit,', () => {
  const calls: readonly (readonly [
    what: string,
    call: (store: SqliteBackend) => Promise<unknown>,
    answers: unknown,
  ])[] = [
    ['read', (store) => versionOf(store, 'talk'), 5],
    ['feed', async (store) => (await store.feed(NAMESPACE, 0, 9)).length, 5],
    ['search', async (store) => (await store.search(NAMESPACE, { text: 'fox', limit: 9 })).places.length, 5],
    ['verify', (store) => store.verify(), []],
    ['namespaces', (store) => store.namespaces(), [NAMESPACE]],
  ];

  test.each(calls)('%s answers as before', (_, call, answers) =>
    withTalk(async (store, path) => {
      dieInCommit(path);
      expect(await call(store)).toEqual(answers);
      await assertWhole(store, path, 5);
      await store.close();
    }),
  );
});

test.each([3, 17, 40])(
  'of two processes that commit, one killed after %i answers, nothing that was acknowledged is lost',
  (count) =>
    withStoreFile(async (path) => {
      const children = ['one', 'two'].map((conversation) => {
        const script = fileURLToPath(new URL('./sqlite-child.testkit.js', import.meta.url));
        const child = spawn(process.execPath, [script, path, conversation, '60', '4', 'rollback']);
        onTestFinished(() => void child.kill('SIGKILL'));
        child.stderr.pipe(process.stderr);
        const lines: string[] = [];
        const heard = new Set<() => void>();
        createInterface({ input: child.stdout }).on('line', (line) => {
          lines.push(line);
          for (const hear of heard) hear();
        });
        const reached = (wanted: number) =>
          new Promise<void>((resolve) => {
            const look = () => {
              if (lines.length >= wanted) resolve();
            };
            heard.add(look);
            look();
          });
        const ended = new Promise<unknown>((resolve) => {
          child.on('close', (code, signal) => resolve(code ?? signal));
        });
        return { conversation, child, lines, reached, ended };
      });
      await Promise.all(children.map(({ reached }) => reached(1))); // both say `open`
      for (const { child } of children) child.stdin.write('go\n');
      const [killed, other] = children;
      await killed?.reached(1 + count);
      killed?.child.kill('SIGKILL');
      expect([await killed?.ended, await other?.ended]).toEqual(['SIGKILL', 0]);
      const store = await openSqlite(path, ROLLBACK);
      for (const { conversation, lines } of children) {
        const version = await versionOf(store, conversation);
        const ids = await store.read(
          NAMESPACE,
          (rows) => new Set(rows.scan(conversation, { from: 'c', to: 'd' }).map(({ key }) => key.slice(1))),
        );
        expect(ids.size).toBe(version);
        for (const line of lines.slice(1)) expect(ids).toContain(line.split(' ')[1]);
      }
      expect(await versionOf(store, 'two')).toBe(60);
      expect(await store.verify()).toEqual([]);
      await store.close();
    }),
);
