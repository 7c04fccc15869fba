import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation, Ledger, StepOutcome, TurnOutcome } from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { Child } from './child.testkit.ts';
import { clerk, effectsIn, KEY, TURN } from './clerk.ts';

/** Every boundary of a turn with a model call and three steps at once; those within a step with its key. */
export const CUTS: readonly string[] = [
  'submitted',
  'held',
  ...['plan', 'read', 'ship', 'pay'].flatMap((key) =>
    ['step_started', 'step_done', 'step_finished'].map((at) => `${at} ${key}`),
  ),
  'answer_ready',
  'ended',
];

/** Where a turn is cut off, and how whoever comes after reaches it. */
export interface Place {
  readonly url: string;
  readonly namespace: string;
  /** The store as the next process opens it. */
  readonly reopened: () => Promise<Ledger>;
}

/** Runs `work` with a folder that nobody else has. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-agents-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What became of a turn whose process was killed. */
export interface Aftermath {
  readonly endOfProcess: string;
  readonly state: string;
  /** Steps that were recorded, or are not safe to repeat, and were not done exactly once. */
  readonly notOnce: readonly string[];
  readonly said: readonly string[];
  readonly operation: string | undefined;
  readonly phase: string | undefined;
}

/** The law: nothing that is recorded is done again, the transcript is whole, and turn, operation and checkpoint end. */
export const WHOLE: Aftermath = {
  endOfProcess: 'SIGKILL',
  state: 'completed',
  notOnce: [],
  said: ['ship the parcel', 'I read, ship and pay.', 'read done, ship done, pay done'],
  operation: 'succeeded',
  phase: 'completed',
};

/** Kills a process at a boundary of its turn, and goes on with the turn at once: its time to live is an hour. */
export async function goOnAfter(cut: string, effects: string, { url, namespace, reopened }: Place): Promise<Aftermath> {
  const child = new Child('clerk-child', [url, effects, namespace, ...cut.split(' ')]);
  const endOfProcess = await child.end();
  const ledger = await reopened();
  const conversation = ledger.namespace(namespace).conversation('c');
  const before = await recorded(conversation);
  const { state } = await goOn(conversation, effects);
  const done = effectsIn(effects);
  return {
    endOfProcess,
    state,
    notOnce: ['pay', 'ship', ...before].filter((step) => done.filter((one) => one === step).length !== 1),
    said: await said(conversation),
    operation: (await conversation.operation(KEY))?.status,
    phase: (await conversation.checkpoints.get(KEY))?.phase,
  };
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
async function goOn(conversation: Conversation, effects: string): Promise<TurnOutcome> {
  const run = (more: object = {}) => conversation.run(TURN, clerk(effects), { idempotencyKey: KEY, ...more });
  try {
    return await run();
  } catch (error) {
    if (!isTurnkeepError(error, 'ambiguous')) throw error;
    if (!error.details.keys.includes('pay')) throw error;
    const truth: StepOutcome | { status: 'retry' } = effectsIn(effects).includes('pay')
      ? { status: 'succeeded', result: 'pay done' }
      : { status: 'retry' };
    return run({ settle: { pay: truth } });
  }
}
