import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { Ledger } from './ledger.ts';
import { openBackend, openLedger } from './open.ts';
import type { ConversationEvent } from './watch.ts';

/** A store that counts who listens to it. */
async function opened() {
  const backend = await openBackend('memory:');
  const onCommit = backend.onCommit.bind(backend);
  const count = { listeners: 0 };
  backend.onCommit = (...args) => {
    const stop = onCommit(...args);
    count.listeners += 1;
    return () => {
      count.listeners -= 1;
      stop();
    };
  };
  const ledger = new Ledger(backend, systemSurroundings, mintCommitId);
  const space = ledger.namespace('n');
  await space.conversation('c').create();
  return { count, ledger, watches: [space.watch({ after: 1 }), space.conversation('c').watch({ after: 1 })] };
}

test('a watcher that breaks off while it waits is let go at once, and listens no more', async () => {
  const { count, watches } = await opened();
  for (const events of watches) {
    const waiting = events.next();
    await events.return(undefined);
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(count.listeners).toBe(0);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  }
});

test('a watcher that gives up by its signal returns, and listens no more', async () => {
  const { count, ledger } = await opened();
  const stopping = new AbortController();
  const waiting = ledger.namespace('n').watch({ after: 1, signal: stopping.signal }).next();
  stopping.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(count.listeners).toBe(0);
});

test('a watcher whose cursor is past the newest waits for what comes after it, and is told nothing before', async () => {
  const { ledger } = await opened();
  const space = ledger.namespace('n');
  const conversation = space.conversation('c');
  const watches = [space.watch({ after: 3 }), conversation.watch({ after: 3 })];
  for await (const event of conversation.watch({ after: 3, untilNow: true }))
    throw new Error(`it told ${event.version}`);
  const waiting = watches.map(async (events): Promise<number | undefined> => {
    const next: IteratorResult<ConversationEvent, unknown> = await events.next();
    return next.done === true ? undefined : next.value.version;
  });
  for (let at = 0; at < 3; at++) await conversation.updateState({ stage: `stage ${at}` });
  expect(await Promise.all(waiting)).toEqual([4, 4]);
  await Promise.all(watches.map(async (events) => events.return(undefined)));
});

test('I8: a watcher far behind is told every commit once and in order, then those that come', async () => {
  const { ledger } = await opened();
  const space = ledger.namespace('n');
  const conversation = space.conversation('c');
  for (let at = 2; at <= 600; at++) await conversation.updateState({ stage: `stage ${at}` });
  const versions = Array.from({ length: 600 }, (_, at) => at + 1);
  for (const behind of [space.watch({ untilNow: true }), conversation.watch({ untilNow: true })]) {
    const told: number[] = [];
    for await (const { version } of behind) told.push(version);
    expect(told).toEqual(versions);
  }
  for (const events of [space.watch(), conversation.watch()]) {
    for (const version of versions) expect((await events.next()).value).toMatchObject({ version });
    const waiting = events.next();
    const { version } = await conversation.updateState({ stage: 'live' });
    versions.push(version);
    expect((await waiting).value).toMatchObject({ version });
    await events.return(undefined);
  }
});

test('a watcher that waits hears of the end of the store', async () => {
  const { count, ledger, watches } = await opened();
  const waiting = watches.map(async (events) => events.next());
  await ledger.namespaces();
  await ledger.close();
  for (const next of waiting) await expect(next).rejects.toMatchObject({ code: 'closed' });
  expect(count.listeners).toBe(0);
});

test.each(['memory', 'sqlite', 'journal'])(
  'a watcher that waits when its ledger is closed is told so, on %s',
  async (scheme) => {
    const folder = mkdtempSync(join(tmpdir(), 'turnkeep-watch-'));
    const ledger = await openLedger(scheme === 'memory' ? 'memory:' : `${scheme}:${join(folder, 'store')}`);
    try {
      const space = ledger.namespace('n');
      const conversation = space.conversation('c');
      await conversation.create();
      const views = conversation.operator().watch();
      await views.next();
      const waiting = [space.watch({ after: 1 }), conversation.watch({ after: 1 }), views].map(async (events) =>
        events.next(),
      );
      // Each has looked, found nothing and waits.
      await conversation.info();
      await Promise.all([
        ledger.close(),
        ...waiting.map((next) => expect(next).rejects.toMatchObject({ code: 'closed' })),
      ]);
    } finally {
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
