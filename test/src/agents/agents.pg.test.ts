import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Conversation, DraftEvent, Ledger } from 'turnkeep';
import { openLedger } from 'turnkeep';
import { testPostgresUrl } from 'turnkeep/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, text, TURN } from './clerk.ts';
import { CUTS, goOnAfter, inFolder, WHOLE } from './killed.testkit.ts';
import { survived, waitThrough } from './waiting.testkit.ts';

/** One schema: each case has a namespace of its own. */
let url = '';
let shared: Ledger;
const ledgers: Ledger[] = [];

beforeAll(async () => {
  const server = new URL(await testPostgresUrl());
  server.searchParams.set('schema', `agents_${randomUUID().slice(0, 8)}`);
  url = server.href;
  shared = await openedLedger(); // it makes the tables, before anybody is killed over them
});

afterAll(async () => {
  for (const ledger of ledgers) await ledger.close();
});

async function openedLedger(): Promise<Ledger> {
  const ledger = await openLedger(url);
  ledgers.push(ledger);
  return ledger;
}

async function opened(): Promise<Conversation> {
  return (await openedLedger()).namespace('followed').conversation('c');
}

describe.concurrent('a turn on Postgres whose process is killed', () => {
  test.each(CUTS)('at %s goes on at once: nothing recorded is done again, nothing is lost', async (cut) => {
    const place = { url, namespace: cut.replace(' ', '.'), reopened: async () => shared };
    const aftermath = await inFolder((folder) => goOnAfter(cut, join(folder, 'effects'), place));
    expect(aftermath).toEqual(WHOLE);
  });
});

test('a turn that waits on Postgres survives 100 restarts and is answered once', async () => {
  let ledger: Ledger | undefined;
  const reopened = async () => {
    await ledger?.close();
    return (ledger = await openLedger(url));
  };
  const waited = await inFolder((folder) => waitThrough(100, join(folder, 'effects'), reopened));
  await ledger?.close();
  expect(waited).toEqual(survived(100));
}, 300_000);

test('another process follows a turn on Postgres and stops it, and its owner is told', async () => {
  const [mine, theirs] = [await opened(), await opened()];
  const running = mine.run(
    TURN,
    async (turn) => {
      await turn.model('plan', async function* () {
        yield text('half an answer');
        await new Promise(() => undefined); // a model that hears no signal
      });
    },
    { idempotencyKey: KEY },
  );
  const moved = theirs.watch({ after: 2 });
  await moved.next();
  const events = (await theirs.reconnect()) as AsyncGenerator<DraftEvent, void>;
  const first = await events.next();
  expect(first.value).toMatchObject({ kind: 'delta', parts: [text('half an answer')] });
  const [{ turnId } = { turnId: '' }] = await theirs.graph();
  await theirs.stop(turnId, 'enough');
  expect((await running).state).toBe('cancelled');
  expect((await events.next()).value).toMatchObject({ kind: 'end', state: 'cancelled' });
  const { messages } = await theirs.page();
  expect(messages.map(({ role, status }) => `${role} ${status ?? 'complete'}`)).toEqual([
    'user complete',
    'assistant incomplete',
  ]);
  await moved.return(undefined);
});

test('all that was left behind verifies', async () => {
  expect((await shared.verify()).faults).toEqual([]);
});
