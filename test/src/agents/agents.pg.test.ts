import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation, DraftEvent, Ledger } from 'turnkeep';
import { openLedger } from 'turnkeep';
import { testPostgresUrl } from 'turnkeep/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Child } from './child.testkit.ts';
import { clerk, effectsIn, KEY, text, TURN } from './clerk.ts';

let folder = '';
let url = '';
const ledgers: Ledger[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnkeep-agents-'));
  const server = new URL(await testPostgresUrl());
  server.searchParams.set('schema', `agents_${randomUUID().slice(0, 8)}`);
  url = server.href;
});

afterEach(async () => {
  for (const ledger of ledgers.splice(0)) await ledger.close();
  rmSync(folder, { recursive: true });
});

async function opened(): Promise<Conversation> {
  const ledger = await openLedger(url);
  ledgers.push(ledger);
  return ledger.namespace('n').conversation('c');
}

test('a turn on Postgres whose process was killed goes on at once, and does nothing twice', async () => {
  const effects = join(folder, 'effects');
  await (await opened()).exists();
  const child = new Child('clerk-child', [url, effects, 'step_finished', 'pay']);
  expect(await child.end()).toBe('SIGKILL');
  const conversation = await opened();
  const { state } = await conversation.run(TURN, clerk(effects), { idempotencyKey: KEY });
  expect(state).toBe('completed');
  expect(
    effectsIn(effects)
      .filter((one) => one !== 'read')
      .toSorted(),
  ).toEqual(['pay', 'plan', 'ship']);
}, 60_000);

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
}, 60_000);
