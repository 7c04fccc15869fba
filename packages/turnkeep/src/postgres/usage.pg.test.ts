import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../core/backend.ts';
import type { PostgresBackend } from './postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, Recorder, TestSchema } from './postgres.testkit.ts';

let schema: TestSchema;
let backend: PostgresBackend;
let recorder: Recorder;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  backend = await schema.open({ watch: 'poll' }, recorder);
});

afterEach(async () => schema.end());

/** A commit that records a model call of ten tokens and a tenth of a dollar. */
function used(conversationId: string, model = 'large'): Envelope {
  const cost = { amount: '0.1', currency: 'USD' };
  return envelope(conversationId, [{ kind: 'usage.record', provider: 'some', model, inputTokens: 10, cost }]);
}

async function total(store: PostgresBackend = backend) {
  return ledgerOver(store).namespace(NAMESPACE).usage.total();
}

async function additions(): Promise<number> {
  return (await schema.rowsOf('SELECT FROM $s.additions')).length;
}

describe('usage of a namespace', () => {
  it('is recorded in one conversation while a commit with usage in another stays open', async () => {
    await backend.commit(used('a'));
    const client = await schema.client();
    await client.query('BEGIN');
    await backend.commitWithin(client, used('a'));
    await backend.commit(used('b'));
    await backend.commit(used('b'));
    expect(await total()).toMatchObject({ calls: 3, inputTokens: 30, cost: { USD: '0.3' } });
    // To fold what is there waits for nobody either.
    await backend.catchUp();
    await client.query('COMMIT');
    expect(await total()).toMatchObject({ calls: 4, inputTokens: 40, cost: { USD: '0.4' } });
  });

  it('costs a conversation that this process wrote last no second round trip', async () => {
    await backend.commit(used('a'));
    expect(await recorder.trips(() => backend.commit(used('a')))).toBe(1);
  });

  it('is counted exactly, by two processes, while what was added is folded', async () => {
    const other = await schema.open({ watch: 'poll' });
    const stores = [backend, other];
    const commits = Array.from({ length: 120 }, async (_, at) =>
      stores[at % 2]?.commit(used(`c${at % 10}`, at % 3 === 0 ? 'small' : 'large')),
    );
    const folds = stores.map(async (store) => {
      for (let at = 0; at < 5; at++) {
        await store.catchUp();
        const { calls, inputTokens, cost } = await total(store);
        expect([inputTokens, Number(cost['USD'] ?? 0)]).toEqual([calls * 10, calls / 10]);
      }
    });
    await Promise.all([...commits, ...folds]);
    const sum = { calls: 120, inputTokens: 1_200, cost: { USD: '12.0' } };
    expect(await total()).toMatchObject(sum);
    await backend.catchUp();
    expect(await additions()).toBe(0);
    expect(await total(other)).toMatchObject({ ...sum, models: [{ calls: 80 }, { calls: 40 }] });
    const days = await ledgerOver(other).namespace(NAMESPACE).usage.byDay();
    expect(days.reduce((calls, day) => calls + day.calls, 0)).toBe(120);
    expect(await backend.verify()).toEqual([]);
  });

  it('is added once, whatever is sent again, and by nobody else', async () => {
    const call = used('a');
    await backend.commit(call);
    await backend.commit(call);
    const again = [...call.commit.changes, { kind: 'leaf.select', turnId: 'none' }];
    await expect(backend.commit(envelope('a', again))).rejects.toMatchObject({ name: 'TurnkeepError' });
    expect(await total()).toMatchObject({ calls: 1 });
    await schema.rowsOf('UPDATE $s.additions SET version = 7');
    expect(await backend.verify()).toMatchObject([{ kind: 'orphan_addition' }, { kind: 'orphan_addition' }]);
  });

  it('is folded after some commits that add, and when the store is closed', async () => {
    const process = await schema.open({ watch: 'poll' });
    const models = Array.from({ length: 64 }, (_, at) => `model ${at}`);
    await Promise.all(models.map(async (model) => process.commit(used(model, model))));
    await process.commit(used('a'));
    await process.close();
    expect(await additions()).toBe(0);
    expect(await total()).toMatchObject({ calls: 65 });
  });
});
