import type { Agent, Ledger } from 'turnkeep';
import { did, effectsIn, KEY, TURN } from './clerk.ts';

/** What became of a turn that waits for an answer. */
export interface Waited {
  /** Restarts after which its one question was found, and it waited on. */
  readonly restarts: number;
  /** Answers that were told to be the first. */
  readonly firstAnswers: number;
  readonly ends: readonly (readonly [state: string, replayed: boolean])[];
  readonly effects: readonly string[];
}

/** Opens the store of a waiting turn anew so many times, then answers it twice at once, and resumes it twice. */
export async function waitThrough(restarts: number, effects: string, reopened: () => Promise<Ledger>): Promise<Waited> {
  const agent: Agent = async (turn) => {
    await turn.step('ask', async () => {
      did(effects, 'ask');
      return null;
    });
    const answer = await turn.interrupt({ interruptId: 'may I', type: 'approval', payload: { euros: 5 } });
    await turn.step('pay', async () => {
      did(effects, 'pay');
      return answer;
    });
  };
  const opened = async () => (await reopened()).namespace('n').conversation('c');
  const first = await (await opened()).run(TURN, agent, { idempotencyKey: KEY });
  let found = first.state === 'waiting' ? 0 : Number.NaN;
  for (let restart = 1; restart <= restarts; restart++) {
    const conversation = await opened();
    const asked = (await conversation.interrupts()).map(({ interruptId }) => interruptId);
    const { state } = await conversation.resume(first.turnId, agent);
    if (asked.join() === 'may I' && state === 'waiting') found += 1;
  }
  const space = (await reopened()).namespace('n');
  const answers = await Promise.all(['ann', 'bob'].map(async (by) => space.answer('may I', { by, response: by })));
  const conversation = await opened();
  const ends: (readonly [string, boolean])[] = [];
  for (let times = 0; times < 2; times++) {
    const { state, receipt } = await conversation.resume(first.turnId, agent);
    ends.push([state, receipt.replayed]);
  }
  const firstAnswers = answers.filter((one) => one.first).length;
  return { restarts: found, firstAnswers, ends, effects: effectsIn(effects) };
}

/** The law: however often its store is opened anew, a turn that waits is found, waits on, and is answered once. */
export function survived(restarts: number): Waited {
  const ends = [
    ['completed', false],
    ['completed', true],
  ] as const;
  return { restarts, firstAnswers: 1, ends, effects: ['ask', 'pay'] };
}
