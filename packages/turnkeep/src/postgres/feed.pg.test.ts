import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PostgresBackend } from './postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, TestSchema, turn } from './postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

async function idsOf(backend: PostgresBackend): Promise<readonly string[]> {
  const entries = await backend.feed(NAMESPACE, 0, 1_000);
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, at) => at + 1));
  return entries.map(({ conversationId, version }) => `${conversationId}@${version}`);
}

describe('the feed', () => {
  it('neither loses nor moves a commit whose transaction stays open while others commit', async () => {
    const backend = await schema.open();
    const client = await schema.client();
    await client.query('BEGIN');
    await backend.commitWithin(client, turn('slow', 'began first'));
    await backend.commit(turn('quick', 'first'));
    expect(await idsOf(backend)).toEqual(['quick@1']);
    await backend.commit(turn('quick', 'second'));
    await client.query('COMMIT');
    expect(await idsOf(backend)).toEqual(['quick@1', 'slow@1', 'quick@2']);
    await backend.commit(turn('slow', 'second'));
    expect(await idsOf(backend)).toEqual(['quick@1', 'slow@1', 'quick@2', 'slow@2']);
  });

  it('is one for all readers, whoever gives the places', async () => {
    const stores = await Promise.all([schema.open(), schema.open(), schema.open()]);
    const seen: string[][] = [[], [], []];
    const writing = { goes: true };
    const reading = stores.map(async (store, reader) => {
      for (let last = 0; writing.goes || (await store.feed(NAMESPACE, last, 1)).length > 0;) {
        for (const { position, conversationId, version } of await store.feed(NAMESPACE, last, 7)) {
          expect(position).toBe(last + 1);
          last = position;
          seen[reader]?.push(`${conversationId}@${version}`);
        }
      }
    });
    await Promise.all(
      Array.from({ length: 90 }, async (_, at) => stores[at % 3]?.commit(turn(`c${at % 4}`, `turn ${at}`))),
    );
    writing.goes = false;
    await Promise.all(reading);
    expect(seen[0]).toHaveLength(90);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('tells a fork after its source', async () => {
    const backend = await schema.open();
    await backend.commit(
      envelope('zzz', [
        { kind: 'turn.record', origin: 'test' },
        { kind: 'message.append', message: { messageId: 'm', role: 'user', parts: [{ type: 'text', text: 'cut' }] } },
      ]),
    );
    await backend.commit(envelope('aaa', [{ kind: 'conversation.fork', source: 'zzz', at: 'm' }]));
    expect(await idsOf(backend)).toEqual(['zzz@1', 'aaa@1']);
  });
});

describe.each(['listen', 'poll'] as const)('watching by %s', (watch) => {
  it('hears of commits of another process', async () => {
    const [writer, watcher] = [await schema.open({ watch }), await schema.open({ watch, pollMs: 50 })];
    const events = ledgerOver(watcher).namespace(NAMESPACE).watch();
    const heard: number[] = [];
    const listening = (async () => {
      for await (const event of events) if (heard.push(event.version) === 20) return;
    })();
    for (let at = 0; at < 20; at++) await writer.commit(turn('c', `turn ${at}`));
    await listening;
    expect(heard).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it('goes on where the connection that listened was lost', async () => {
    const [writer, watcher] = [await schema.open({ watch }), await schema.open({ watch, pollMs: 50 })];
    const events = ledgerOver(watcher).namespace(NAMESPACE).watch();
    await writer.commit(turn('c', 'first'));
    expect((await events.next()).value).toMatchObject({ version: 1 });
    const client = await schema.client();
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN "turnkeep_${schema.name}"%'`,
    );
    const next = events.next();
    await writer.commit(turn('c', 'second'));
    expect((await next).value).toMatchObject({ version: 2 });
    await events.return(undefined);
  });
});
