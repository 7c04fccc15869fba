import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, Recorder, TestSchema, turn, versionOf } from '../postgres.testkit.ts';

let schema: TestSchema;
let backend: PostgresBackend;
let recorder: Recorder;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  backend = await schema.open({ watch: 'poll' }, recorder);
});

afterEach(async () => schema.end());

describe('round trips', () => {
  /** Sends a commit as a process that has just begun and knows nothing; answers how many round trips it took. */
  async function tripsAfresh(commit: Envelope): Promise<number> {
    const process = await schema.open({ watch: 'poll' }, recorder);
    return recorder.trips(() => process.commit(commit));
  }

  it('a commit takes three at most, on a conversation of any length', async () => {
    for (let at = 1; at <= 40; at++) expect(await tripsAfresh(turn('c', `turn ${at}`))).toBe(at === 1 ? 2 : 3);
  });

  it('a commit to a conversation that this process wrote last takes one', async () => {
    for (let at = 1; at <= 40; at++) {
      expect(await recorder.trips(() => backend.commit(turn('c', `turn ${at}`)))).toBe(at === 1 ? 2 : 1);
    }
  });

  it('a turn that brings a checkpoint, a task, state and a promise was foreseen', async () => {
    const parts = [{ type: 'text', text: 'words' }];
    for (let at = 0; at < 24; at++) {
      const trips = await tripsAfresh(
        envelope('c', [
          ...(at === 0 ? [{ kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', payload: {} }] : []),
          { kind: 'turn.record', origin: 'test' },
          { kind: 'message.append', message: { role: 'user', parts } },
          { kind: 'message.append', message: { role: 'assistant', parts } },
          { kind: 'checkpoint.advance', checkpointId: 'k', from: at, payload: { s: { json: 'x'.repeat(300) } } },
          at % 2 === 0
            ? { kind: 'task.create', taskId: `task${at}`, title: 'a task' }
            : { kind: 'task.transition', taskId: `task${at - 1}`, to: 'cancelled' },
          { kind: 'state.update', stage: `stage ${at}` },
          { kind: 'commitment.add', content: `promise ${at}` },
        ]),
      );
      expect([at, trips]).toEqual([at, at === 0 ? 2 : 3]);
    }
  });

  it('what a running turn commits was foreseen', async () => {
    const conversation = ledgerOver(backend).namespace(NAMESPACE).conversation('c');
    const commit = async (changes: readonly object[], more: object = {}): Promise<void> => {
      const trips = await tripsAfresh(envelope('c', changes, more));
      const kinds = changes.map((change) => (change as { readonly kind: string }).kind).join();
      expect([kinds, trips]).toEqual([kinds, 3]);
    };
    await backend.commit(turn('c', 'first'));
    const parts = [{ type: 'text', text: 'hello' }];
    for (const at of [1, 2, 3]) {
      const turnId = `t${at}`;
      const ids = { turnId, operationId: `o${at}`, promptId: `p${at}` };
      await commit([{ kind: 'turn.submit', ...ids, prompt: parts }]);
      await commit([{ kind: 'attempt.start', turnId, attempt: `a${at}` }]);
      const fence = { attempt: `a${at}`, token: 1 };
      await commit([{ kind: 'turn.advance', turnId, to: 'running' }], { fence });
      await commit(
        [{ kind: 'checkpoint.create', checkpointId: `k${at}`, type: 'agent', payload: { x: { json: at } } }],
        { fence },
      );
      const payload = { x: { json: 'y'.repeat(2_000) } };
      await commit(
        [
          { kind: 'checkpoint.advance', checkpointId: `k${at}`, from: 0, payload },
          {
            kind: 'message.append',
            turnId,
            message: {
              role: 'assistant',
              parts: [{ type: 'tool_call', callId: `call${at}`, name: 'look', input: {} }],
            },
          },
        ],
        { fence },
      );
      await commit(
        [
          {
            kind: 'message.append',
            turnId,
            message: { role: 'tool', parts: [{ type: 'tool_result', callId: `call${at}`, status: 'ok', output: 1 }] },
          },
        ],
        { fence },
      );
      await commit([{ kind: 'state.update', turnId, stage: `stage ${at}` }], { fence });
      await commit([{ kind: 'task.create', taskId: `task${at}`, title: 'a task', turnId }], { fence });
      await commit([{ kind: 'task.transition', taskId: `task${at}`, to: 'running', turnId }], { fence });
      await commit([{ kind: 'task.transition', taskId: `task${at}`, to: 'completed', turnId }], { fence });
      await commit([{ kind: 'commitment.add', commitmentId: `x${at}`, content: 'I promise', turnId }], { fence });
      await commit([{ kind: 'binding.save', turnId, history: 'h', cursor: 'z', capture: 'live' }]);
      await commit([{ kind: 'turn.advance', turnId, to: 'completed' }], { fence });
      await commit([{ kind: 'conversation.update', title: 'A title', readThrough: { reader: 'me', sequence: at } }]);
    }
    expect((await conversation.graph()).length).toBe(4);
  });

  it('commits that wait share them', async () => {
    await Promise.all(Array.from({ length: 32 }, async (_, at) => backend.commit(turn(`c${at}`, 'first'))));
    expect(
      await recorder.trips(() =>
        Promise.all(Array.from({ length: 32 }, async (_, at) => backend.commit(turn(`c${at}`, 'second')))),
      ),
    ).toBeLessThanOrEqual(6);
    expect(await versionOf(backend, 'c31')).toBe(2);
  });
});

describe('a group', () => {
  it('a commit that is refused harms no neighbour and leaves nothing', async () => {
    await backend.commit(turn('there', 'first'));
    const results = await Promise.allSettled([
      backend.commit(turn('there', 'second')),
      backend.commit(turn('there', 'stale', { expect: { version: 1_000 } })),
      backend.commit(turn('new', 'expects what is not', { expect: { version: 5 } })),
      backend.commit(turn('other', 'first')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const client = await schema.client();
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM "${schema.name}".heads ORDER BY id`);
    expect(rows.map(({ id }) => id)).toEqual(['other', 'there']);
    expect(await versionOf(backend, 'there')).toBe(2);
  });

  it('commits of one conversation are decided one on the other', async () => {
    const all = Array.from({ length: 50 }, async (_, at) => backend.commit(turn('c', `turn ${at}`)));
    const versions = (await Promise.all(all)).map(({ version }) => version);
    expect(versions.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  });

  it('a write that fails is tried alone, and the others are written', async () => {
    await backend.commit(turn('poor', 'first'));
    const client = await schema.client();
    await client.query(`ALTER TABLE "${schema.name}".log ADD CONSTRAINT no_poison CHECK (words NOT LIKE '%poison%')`);
    const results = await Promise.allSettled([
      backend.commit(turn('poor', 'poison')),
      ...Array.from({ length: 8 }, async (_, at) => backend.commit(turn(`c${at}`, 'fine'))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array.from({ length: 8 }, () => 'fulfilled')]);
    expect(await versionOf(backend, 'poor')).toBe(1);
  });
});

describe('other processes', () => {
  it('a conversation that somebody holds stalls nobody else, and goes on when it is free', async () => {
    await backend.commit(turn('held', 'first'));
    await backend.commit(turn('free', 'first'));
    const client = await schema.client();
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM "${schema.name}".heads WHERE ns = $1 AND id = 'held' FOR UPDATE`, [NAMESPACE]);
    const stalled = backend.commit(turn('held', 'second'));
    for (let at = 0; at < 5; at++) await backend.commit(turn('free', `more ${at}`));
    expect(await versionOf(backend, 'free')).toBe(6);
    await client.query('COMMIT');
    expect((await stalled).version).toBe(2);
  });

  it('first commits to one conversation race, and all are there', async () => {
    const other = await schema.open({ watch: 'poll' });
    const all = Array.from({ length: 20 }, async (_, at) =>
      (at % 2 ? backend : other).commit(turn('new', `turn ${at}`)),
    );
    const versions = (await Promise.all(all)).map(({ version }) => version);
    expect(new Set(versions).size).toBe(20);
    expect(await versionOf(other, 'new')).toBe(20);
  });

  it('the same commit from two processes is done once', async () => {
    const other = await schema.open({ watch: 'poll' });
    const same = turn('c', 'once');
    const receipts = await Promise.all([backend.commit(same), other.commit(same), backend.commit(same)]);
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await versionOf(other, 'c')).toBe(1);
  });

  it('many writers of few conversations leave no gap, forks among them', async () => {
    const other = await schema.open({ watch: 'poll' });
    const stores = [backend, other];
    await backend.commit(turn('c0', 'first', {}));
    const fork = (at: number) => envelope(`fork${at}`, [{ kind: 'conversation.fork', source: 'c0', at: 'm' }]);
    await backend.commit(
      envelope('c0', [
        { kind: 'turn.record', origin: 'test' },
        { kind: 'message.append', message: { messageId: 'm', role: 'user', parts: [{ type: 'text', text: 'cut' }] } },
      ]),
    );
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const store = stores[at % 2] as PostgresBackend;
        return at % 6 === 0 ? store.commit(fork(at)) : store.commit(turn(`c${at % 3}`, `turn ${at}`));
      }),
    );
    expect(await versionOf(backend, 'fork0')).toBe(1);
    expect(await backend.verify()).toEqual([]);
  });
});

describe("a commit in the caller's transaction", () => {
  it('is there with it, and gone with it', async () => {
    const client = await schema.client();
    await client.query(`CREATE TABLE "${schema.name}".business (x int)`);
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN');
      await client.query(`INSERT INTO "${schema.name}".business VALUES (1)`);
      expect((await backend.commitWithin(client, turn('c', 'within'))).version).toBe(1);
      expect(await versionOf(backend, 'c')).toBe(0);
      await client.query(end);
    }
    expect(await versionOf(backend, 'c')).toBe(1);
    expect((await backend.feed(NAMESPACE, 0, 10)).map(({ version }) => version)).toEqual([1]);
  });

  it('a refusal leaves the transaction as it was', async () => {
    const client = await schema.client();
    await client.query('BEGIN');
    const refused = await backend
      .commitWithin(client, turn('c', 'stale', { expect: { version: 3 } }))
      .catch((error: unknown) => error);
    expect(isTurnkeepError(refused, 'conflict')).toBe(true);
    expect((await backend.commitWithin(client, turn('c', 'fine'))).version).toBe(1);
    await client.query('COMMIT');
    expect(await versionOf(backend, 'c')).toBe(1);
  });
});

describe('waiting and giving up', () => {
  it('a commit that waits can be withdrawn', async () => {
    const held = await schema.client();
    await backend.commit(turn('c', 'first'));
    await held.query('BEGIN');
    await held.query(`SELECT 1 FROM "${schema.name}".heads WHERE ns = $1 FOR UPDATE`, [NAMESPACE]);
    const first = backend.commit(turn('c', 'second'));
    const aborting = new AbortController();
    const second = backend.commit(turn('c', 'third'), aborting.signal);
    aborting.abort('enough');
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    await held.query('COMMIT');
    await first;
    expect(await versionOf(backend, 'c')).toBe(2);
  });

  it('a commit that waits past its deadline is refused, and was not written', async () => {
    const impatient = await schema.open({ watch: 'poll', commitTimeoutMs: 300 });
    await backend.commit(turn('c', 'first'));
    const held = await schema.client();
    await held.query('BEGIN');
    await held.query(`SELECT 1 FROM "${schema.name}".heads WHERE ns = $1 FOR UPDATE`, [NAMESPACE]);
    await expect(impatient.commit(turn('c', 'second'))).rejects.toMatchObject({ code: 'store_busy' });
    await held.query('COMMIT');
    expect(await versionOf(backend, 'c')).toBe(1);
  });

  it('a refusal has the line that called in its stack', async () => {
    async function appendsToNothing() {
      await backend.commit(envelope('c', [{ kind: 'turn.advance', turnId: 'nobody', to: 'running' }]));
    }
    await expect(appendsToNothing()).rejects.toMatchObject({
      code: 'no_turn',
      stack: expect.stringContaining('appendsToNothing') as string,
    });
  });
});
