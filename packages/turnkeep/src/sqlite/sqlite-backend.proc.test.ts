import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './driver/open-database.ts';
import { openSqlite } from './open.ts';
import { message, NAMESPACE, versionOf, withStoreFile } from './sqlite-backend.testkit.ts';

const CHILD = fileURLToPath(new URL('./sqlite-child.testkit.js', import.meta.url));

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** What was acknowledged so far: the version and the commit id. */
  readonly acknowledged: readonly string[];
  readonly opened: Promise<void>;
  readonly ended: Promise<number | null>;
  /** Resolves when so many were acknowledged. */
  reached(count: number): Promise<void>;
}

function startChild(path: string, conversation: string, commits: number, waiting: number): Child {
  const child = spawn(process.execPath, [CHILD, path, conversation, String(commits), String(waiting)]);
  const acknowledged: string[] = [];
  const waits: { readonly count: number; readonly resolve: () => void }[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'open') return open();
    acknowledged.push(line);
    for (const { count, resolve } of waits) if (acknowledged.length >= count) resolve();
  });
  child.stderr.pipe(process.stderr);
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      if (acknowledged.length >= count) resolve();
      else waits.push({ count, resolve });
    });
  return { process: child, acknowledged, opened, ended, reached };
}

test.each([
  ['store', '2 answers, closed\n'],
  ['writer', '1 answers, closed\n'],
])('a process that only waits for a %s to close lives until it is closed', (what, says) =>
  withStoreFile(async (path) => {
    const script = fileURLToPath(new URL('./threads/closing-child.testkit.js', import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [script, path, what], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: says });
  }),
);

describe('several processes on one file', () => {
  test('lose no commit, refuse none, and share one order', () =>
    withStoreFile(async (path) => {
      const store = await openSqlite(path);
      const children = Array.from({ length: 4 }, () => startChild(path, 'talk', 60, 4));
      await Promise.all(children.map(({ opened }) => opened));
      for (const child of children) child.process.stdin.write('go\n');
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
      const versions = children.flatMap(({ acknowledged }) => acknowledged.map((line) => Number(line.split(' ')[0])));
      expect(versions.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 240 }, (_, at) => at + 1));
      const feed = await store.feed(NAMESPACE, 0, 1_000);
      expect(feed.map(({ version }) => version)).toEqual(Array.from({ length: 240 }, (_, at) => at + 1));
      expect(await store.verify()).toEqual([]);
      await store.close();
    }));

  test('lose none of eight, each of whom watches what the others commit', () =>
    withStoreFile(async (path) => {
      const script = fileURLToPath(new URL('./watching-child.testkit.js', import.meta.url));
      const children = Array.from({ length: 8 }, (_, at) => {
        const child = spawn(process.execPath, [script, path, `talk ${at}`, '12', String(8 * 12)]);
        onTestFinished(() => void child.kill('SIGKILL'));
        child.stderr.pipe(process.stderr);
        let said = '';
        child.stdout.on('data', (data) => (said += String(data)));
        return new Promise<unknown>((resolve) => {
          child.on('close', (code) => resolve(code === 0 ? JSON.parse(said) : code));
        });
      });
      const seen = (await Promise.all(children)) as readonly (readonly string[])[];
      const store = await openSqlite(path);
      const feed = await store.feed(NAMESPACE, 0, 1_000);
      const all = feed.map(({ conversationId, version }) => `${conversationId} ${version}`);
      expect(all).toHaveLength(8 * 12);
      for (const one of seen) expect(one).toEqual(all);
      expect(await store.verify()).toEqual([]);
      await store.close();
    }));

  test('hear of what the others commit', () =>
    withStoreFile(async (path) => {
      const store = await openSqlite(path);
      const child = startChild(path, 'talk', 1, 1);
      await child.opened;
      const heard = new Promise<void>((resolve) => {
        store.onCommit(NAMESPACE, () => resolve());
      });
      child.process.stdin.write('go\n');
      await heard;
      expect(await versionOf(store, 'talk')).toBe(1);
      expect(await child.ended).toBe(0);
      await store.close();
    }));
});

test.each([
  ['--input-type=commonjs'],
  ['--input-type=module'],
  ['--input-type', 'module', '--expose-gc'],
  ['--max-old-space-size=256', '--expose-gc'],
  ['--enable-source-maps', '--no-warnings', '--stack-trace-limit=20'],
])('a process with options like %s opens a store, and ends by itself while that is idle', (...options) =>
  withStoreFile(async (path) => {
    const open = JSON.stringify(new URL('./open.js', import.meta.url).href);
    const script = `import(${open}).then(({ openSqlite }) => openSqlite(${JSON.stringify(path)}))`;
    const child = spawn(process.execPath, [...options, '--eval', script]);
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
      child.on('close', (code, signal) => resolve(signal ?? code));
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await ended).toBe(0);
  }),
);

test('where the system refuses to let the files grow, what is there is read, searched and checked as before', () =>
  withStoreFile(async (path) => {
    const script = fileURLToPath(new URL('./fill-child.testkit.js', import.meta.url));
    // 12 or 24 MiB: shells count otherwise. The WAL began anew before, and cannot be moved into the file any more.
    const limited = 'ulimit -f 24576; exec "$0" "$@"';
    const { stdout, stderr } = spawnSync('sh', ['-c', limited, process.execPath, script, path], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const { acknowledged, answers } = JSON.parse(stdout) as {
      acknowledged: number;
      answers: Record<string, string>;
    };
    expect(answers).toMatchObject({ search: 'fine', verify: 'fine', read: 'fine' });
    expect(statSync(path).size).toBeGreaterThanOrEqual(12 * 2 ** 20);
    const store = await openSqlite(path);
    expect(await versionOf(store, 'talk')).toBeGreaterThanOrEqual(acknowledged);
    await store.catchUp();
    expect(await store.verify()).toEqual([]);
    await store.close();
  }));

test.each([1, 7, 40, 90])(
  'what was acknowledged %i times before a process is killed is there afterwards, whole',
  (count) =>
    withStoreFile(async (path) => {
      const child = startChild(path, 'talk', 100_000, 8);
      await child.opened;
      child.process.stdin.write('go\n');
      await child.reached(count);
      child.process.kill('SIGKILL');
      await child.ended;
      const store = await openSqlite(path);
      const version = await versionOf(store, 'talk');
      const ids = await store.read(
        NAMESPACE,
        (rows) => new Set(rows.scan('talk', { from: 'c', to: 'd' }).map(({ key }) => key.slice(1))),
      );
      expect(ids.size).toBe(version);
      for (const line of child.acknowledged) expect(ids).toContain(line.split(' ')[1]);
      expect(await store.verify()).toEqual([]);
      const database = openDatabase(path, { readOnly: true });
      expect(database.pragma('integrity_check')).toBe('ok');
      database.close();
      expect((await store.commit(message('talk', 'on it goes'))).version).toBe(version + 1);
      await store.close();
    }),
);
