import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Receipt } from '../core/receipt.ts';
import type { PostgresBackend } from './postgres-backend.ts';
import { envelope, Flaky, TestSchema, versionOf } from './postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

async function openFlaky(every: number): Promise<PostgresBackend> {
  const driver = new Flaky(await schema.driver());
  const backend = await schema.open({ watch: 'poll' }, driver);
  driver.every = every;
  return backend;
}

/** The `at`-th commit of an agent that saves its checkpoint with each: decided in any other order, it is a conflict. */
function save(conversationId: string, checkpointId: string, at: number) {
  const payload = { at: { json: at } };
  const first = { kind: 'checkpoint.create', checkpointId, type: 'agent', payload };
  return envelope(conversationId, [
    at === 0 ? first : { kind: 'checkpoint.advance', checkpointId, from: at - 1, payload },
  ]);
}

async function sendAll(
  backend: PostgresBackend,
  conversations: number,
  commits: number,
  agent = 'agent',
): Promise<void> {
  const sent: Promise<Receipt>[] = [];
  for (let at = 0; at < commits; at++)
    for (let of = 0; of < conversations; of++) sent.push(backend.commit(save(`c${of}`, agent, at)));
  await Promise.all(sent);
}

describe('commits of a conversation that are sent without waiting are decided in the order in which they were sent', () => {
  it('a thousand of one conversation', async () => {
    const backend = await schema.open({ watch: 'poll' });
    const receipts = await Promise.all(
      Array.from({ length: 1_000 }, async (_, at) => backend.commit(save('c0', 'agent', at))),
    );
    expect(receipts.map(({ version }) => version)).toEqual(receipts.map((_, at) => at + 1));
  });

  it('a thousand of one conversation, where the server takes back every seventh flush', async () => {
    const backend = await openFlaky(7);
    const receipts = await Promise.all(
      Array.from({ length: 1_000 }, async (_, at) => backend.commit(save('c0', 'agent', at))),
    );
    expect(receipts.map(({ version }) => version)).toEqual(receipts.map((_, at) => at + 1));
  });

  it.each([5, 7, 11])('some hundred of eight conversations, where it takes back every flush of %i', async (every) => {
    const backend = await openFlaky(every);
    await sendAll(backend, 8, 25);
    for (let of = 0; of < 8; of++) expect(await versionOf(backend, `c${of}`)).toBe(25);
  });

  it('from two processes, each in its own order', async () => {
    const [ours, theirs] = [await openFlaky(7), await openFlaky(7)];
    await Promise.all([sendAll(ours, 3, 100, 'ours'), sendAll(theirs, 3, 100, 'theirs')]);
    for (let of = 0; of < 3; of++) expect(await versionOf(ours, `c${of}`)).toBe(200);
  });
});
