import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, Conversation, Ledger, StepOutcome, TurnOutcome } from 'turnkeep';
import { isTurnkeepError, openLedger } from 'turnkeep';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Child } from './child.testkit.ts';
import { clerk, did, effectsIn, KEY, text, TURN } from './clerk.ts';

/** Every boundary of a turn with a model call and three steps at once; those within a step with its key. */
const CUTS: readonly string[] = [
  'submitted',
  'held',
  ...['plan', 'read', 'ship', 'pay'].flatMap((key) =>
    ['step_started', 'step_done', 'step_finished'].map((at) => `${at} ${key}`),
  ),
  'answer_ready',
  'ended',
];

let folder = '';
let ledger: Ledger | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnkeep-agents-'));
});

afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
  rmSync(folder, { recursive: true });
});

const effects = () => join(folder, 'effects');

async function opened(url: string): Promise<Conversation> {
  await ledger?.close();
  ledger = await openLedger(url);
  return ledger.namespace('n').conversation('c');
}

async function said(conversation: Conversation): Promise<readonly string[]> {
  const { messages } = await conversation.page();
  return messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '));
}

/** The keys of the steps that have their outcome. */
async function recorded(conversation: Conversation): Promise<readonly string[]> {
  const [turn] = await conversation.graph();
  const steps = await conversation.steps(turn?.turnId ?? '');
  return steps.flatMap(({ key, status }) => (status === 'succeeded' ? [key] : []));
}

/** Goes on with the turn; of a payment that may have been made somebody looks it up, and says so. */
async function goOn(conversation: Conversation): Promise<TurnOutcome> {
  const run = (more: object = {}) => conversation.run(TURN, clerk(effects()), { idempotencyKey: KEY, ...more });
  try {
    return await run();
  } catch (error) {
    if (!isTurnkeepError(error, 'ambiguous')) throw error;
    if (!error.details.keys.includes('pay')) throw error;
    const truth: StepOutcome | { status: 'retry' } = effectsIn(effects()).includes('pay')
      ? { status: 'succeeded', result: 'pay done' }
      : { status: 'retry' };
    return run({ settle: { pay: truth } });
  }
}

describe.each(['sqlite', 'journal'])('a turn on %s whose process is killed', (backend) => {
  const url = () => `${backend}:${join(folder, 'store')}`;

  test.each(backend === 'sqlite' ? CUTS : CUTS.filter((cut) => /step_started|answer_ready/.test(cut)))(
    'at %s goes on at once: nothing recorded is done again, nothing is lost',
    async (cut) => {
      const child = new Child('clerk-child', [url(), effects(), ...cut.split(' ')]);
      expect(await child.end()).toBe('SIGKILL');
      const conversation = await opened(url());
      const before = await recorded(conversation);
      const { state } = await goOn(conversation);
      expect(state).toBe('completed');
      const done = effectsIn(effects());
      for (const step of ['pay', 'ship', ...before]) {
        expect(
          done.filter((one) => one === step),
          `times that ${step} was done`,
        ).toHaveLength(1);
      }
      expect(await said(conversation)).toEqual([
        'ship the parcel',
        'I read, ship and pay.',
        'read done, ship done, pay done',
      ]);
      expect((await conversation.operation(KEY))?.status).toBe('succeeded');
      expect((await conversation.checkpoints.get(KEY))?.phase).toBe('completed');
      expect((await ledger?.verify())?.faults).toEqual([]);
    },
    60_000,
  );
});

describe('two processes and one turn', () => {
  const url = () => `sqlite:${join(folder, 'store')}`;

  /** A turn whose owner was killed. */
  async function abandoned(): Promise<string> {
    const child = new Child('clerk-child', [url(), effects(), 'held']);
    await child.end();
    const [turn] = await (await opened(url())).graph();
    return turn?.turnId ?? '';
  }

  test('one goes on with it, the other is told, and no step is done twice', async () => {
    const turnId = await abandoned();
    const children = [0, 1].map(() => new Child('slow-child', [url(), effects(), turnId, '3000']));
    try {
      const first = await Promise.all(children.map(async (child) => child.says()));
      const winner = children[first.findIndex(({ began }) => began === true)];
      expect(first.map(({ began, code = '' }) => (began ? 'began' : code)).sort()).toEqual(['began', 'turn_held']);
      winner?.tell();
      expect(await winner?.says()).toEqual({ state: 'completed' });
      expect(effectsIn(effects())).toEqual(['slow']);
    } finally {
      for (const child of children) child.kill();
    }
  }, 60_000);

  test('I7: an owner that was paused beyond its lease wakes up and can commit nothing', async () => {
    const turnId = await abandoned();
    const paused = new Child('slow-child', [url(), effects(), turnId, '1000']);
    try {
      expect(await paused.says()).toEqual({ began: true });
      paused.process.kill('SIGSTOP');
      const conversation = await opened(url());
      const { state } = await conversation.resume(
        turnId,
        async (turn) => {
          await turn.step('slow', async () => 'done by the next', { retry: 'safe' });
          return [{ role: 'assistant', parts: [text('done')] }];
        },
        { ttlMs: 1_000 },
      );
      expect(state).toBe('completed');
      const { version } = await conversation.info();
      paused.tell();
      paused.process.kill('SIGCONT');
      // It is answered with the end of the turn that another one made, or told that it is fenced.
      const { state: seen, code } = await paused.says();
      expect([seen, code]).toSatisfy((said: readonly unknown[]) => said[0] === 'completed' || said[1] === 'fenced');
      await paused.end();
      expect((await conversation.info()).version).toBe(version);
      expect((await conversation.steps(turnId))[0]?.result).toBe('done by the next');
    } finally {
      paused.kill();
    }
  }, 60_000);
});

test.each([
  ['journal', 100],
  ['sqlite', 10],
])(
  'a turn that waits on %s survives %i restarts and is answered once',
  async (backend, restarts) => {
    const url = `${backend}:${join(folder, 'store')}`;
    const agent: Agent = async (turn) => {
      await turn.step('ask', async () => {
        did(effects(), 'ask');
        return null;
      });
      const answer = await turn.interrupt({ interruptId: 'may I', type: 'approval', payload: { euros: 5 } });
      await turn.step('pay', async () => {
        did(effects(), 'pay');
        return answer;
      });
    };
    const first = await (await opened(url)).run(TURN, agent, { idempotencyKey: KEY });
    expect(first.state).toBe('waiting');
    for (let restart = 1; restart <= restarts; restart++) {
      const conversation = await opened(url);
      expect((await conversation.interrupts()).map(({ interruptId }) => interruptId)).toEqual(['may I']);
      expect((await conversation.resume(first.turnId, agent)).state).toBe('waiting');
    }
    const answers = await Promise.all(
      ['ann', 'bob'].map(async (by) => ledger?.namespace('n').answer('may I', { by, response: by })),
    );
    expect(answers.filter((one) => one?.first === true)).toHaveLength(1);
    const conversation = await opened(url);
    expect((await conversation.resume(first.turnId, agent)).state).toBe('completed');
    expect((await conversation.resume(first.turnId, agent)).receipt.replayed).toBe(true);
    expect(effectsIn(effects())).toEqual(['ask', 'pay']);
  },
  120_000,
);
