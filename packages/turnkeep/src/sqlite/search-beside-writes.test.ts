import { expect, test } from 'vitest';
import type { Envelope } from '../core/backend.ts';
import { Collector } from './store/collect.ts';
import type { Database } from './driver/driver.ts';
import { GroupWriter } from './threads/group-writer.ts';
import { envelope, message, NAMESPACE, withStoreFile } from './sqlite-backend.testkit.ts';
import { openForReading, openStoreFile } from './store/store-file.ts';
import type { StoreFile } from './store/store-file.ts';
import { StoreReader } from './store/store-reader.ts';
import { StoreSearch } from './store/store-search.ts';

// Between any two statements of a search another thread, or another process, may commit: what moves rows from the tail to
// their places, or takes them out of the tail, must neither double nor hide a commit, nor look like damage.

/** The database, which calls `before` before each reading of a statement. */
function watched(database: Database, before: () => void): Database {
  return {
    driver: database.driver,
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (...params) => statement.run(...params),
        get: (...params) => (before(), statement.get(...params)),
        all: (...params) => (before(), statement.all(...params)),
        iterate: (...params) => (before(), statement.iterate(...params)),
      };
    },
    pragma: (text) => database.pragma(text),
    dataVersion: () => database.dataVersion(),
    inTransaction: () => database.inTransaction(),
    close: () => database.close(),
  };
}

interface Scene {
  readonly told: readonly Envelope[];
  /** Committed in the middle of the search. */
  readonly meanwhile: readonly Envelope[];
  readonly conversationId: string;
}

/** What a search finds with the commits in between, for each of its readings as the one that they come before. */
async function* searches(sceneOf: () => Scene): AsyncGenerator<readonly string[]> {
  for (let at = 0; ; at++) {
    const searched: ReturnType<typeof searchedWith>[] = [];
    await withStoreFile(async (path) => {
      searched.push(searchedWith(sceneOf(), { path, journal: 'auto', busyTimeoutMs: 1_000 }, at));
    });
    for (const { found } of searched) yield found;
    if (!searched.some(({ cameTo }) => cameTo)) return;
  }
}

function searchedWith({ told, meanwhile, conversationId }: Scene, file: StoreFile, at: number) {
  const writing = openStoreFile(file);
  const writer = new GroupWriter(writing, file.path, 1_000);
  const collector = new Collector(writing, writer);
  const begin = () => expect(writer.begin()).toBe(true);
  const write = (commits: readonly Envelope[]) => {
    begin();
    for (const answer of writer.write(commits)) expect(answer).not.toBeInstanceOf(Error);
    for (let more = true; more;) {
      begin();
      ({ more } = collector.step(NAMESPACE, ''));
    }
  };
  write(told);
  let reads = 0;
  const database = watched(openForReading(file, 1_000), () => {
    if (reads++ === at) write(meanwhile);
  });
  try {
    const search = new StoreSearch(database, new StoreReader(database), () => undefined);
    const steps = search.search(NAMESPACE, { text: 'word', conversationId, limit: 100 });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const found = step.value.places.map((place) => `${place.conversationId} ${place.version}`);
    return { found, cameTo: reads > at };
  } finally {
    database.close();
    writing.close();
  }
}

const first = () => {
  const said = { messageId: 'first', role: 'user', parts: [{ type: 'text', text: 'word' }] };
  return envelope('talk', [{ kind: 'message.append', turnId: null, message: said }]);
};
const fork = () => envelope('fork', [{ kind: 'conversation.fork', source: 'talk', at: 'first' }]);
const times = (count: number, text: string) => Array.from({ length: count }, () => message('talk', text));

test.each<[string, () => Scene, number]>([
  [
    'commits that fill its tail',
    () => ({ told: [first(), ...times(25, 'word')], meanwhile: times(10, 'other'), conversationId: 'talk' }),
    26,
  ],
  [
    'commits that fill the tail of what it was forked from',
    () => ({
      told: [first(), fork(), message('fork', 'word'), ...times(25, 'word')],
      meanwhile: times(10, 'other'),
      conversationId: 'fork',
    }),
    27,
  ],
])('a search of a conversation finds each commit once beside %s', async (_, sceneOf, count) => {
  for await (const found of searches(sceneOf)) {
    expect(new Set(found).size).toBe(count);
    expect(found.length).toBe(count);
  }
});

test('a search beside an erasure that is collected meets no damage', async () => {
  const erase = () => envelope('talk', [{ kind: 'conversation.erase' }]);
  const sceneOf = () => ({ told: [first(), ...times(9, 'word')], meanwhile: [erase()], conversationId: 'talk' });
  for await (const found of searches(sceneOf)) expect([0, 10]).toContain(found.length);
});
