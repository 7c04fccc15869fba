import type { Change } from 'turnkeep';

const WORDS = (
  'the quick brown fox jumps over a lazy dog while several engineers discuss durable storage of agent conversations and ' +
  'their tasks before lunch'
).split(' ');

let seed = 1;

/** Text of so many characters, never the same. */
export function textOf(length: number): string {
  let text = '';
  while (text.length < length) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${WORDS[(seed >>> 8) % WORDS.length]} `;
  }
  return text.slice(0, length);
}

/** Characters of message text in a turn. */
export const TURN_TEXT = 2_048;

/** What a turn brings: prompt and answer of 1 KB each, and the 200 bytes of the agent's state that change. */
export interface Turn {
  /** From 0 within the conversation. */
  readonly number: number;
  readonly prompt: string;
  readonly answer: string;
  readonly note: string;
  /** What of the agent's state never changes. */
  readonly constant?: string | undefined;
}

export function makeTurn(number: number): Turn {
  return { number, prompt: textOf(TURN_TEXT / 2), answer: textOf(TURN_TEXT / 2), note: textOf(180) };
}

const POOL_TURNS = 2_048;
const pool: Turn[] = [];

/** A turn whose words were made before: where so many are committed that making words would count. */
export function pooledTurn(number: number): Turn {
  while (pool.length < POOL_TURNS) pool.push(makeTurn(pool.length));
  const { prompt, answer, note } = pool[(seed = (seed + 1) >>> 0) % POOL_TURNS] ?? makeTurn(number);
  return { number, prompt, answer, note };
}

/** A whole turn: its two messages, a step of the checkpoint and a step of a task. */
export function changesOf({ number, prompt, answer, note, constant }: Turn): readonly Change[] {
  const state = { json: { turn: number, note } };
  const payload = constant === undefined ? { state } : { state, constant: { json: constant } };
  return [
    ...(number === 0
      ? [{ kind: 'checkpoint.create', checkpointId: 'agent', type: 'bench', payload: {} } as const]
      : []),
    { kind: 'turn.record', origin: 'bench' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: prompt }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: answer }] } },
    { kind: 'checkpoint.advance', checkpointId: 'agent', from: number, phase: 'ready', payload },
    taskStep(number),
  ];
}

/** A task is created, runs and is completed in three turns; one task at a time. */
function taskStep(turn: number): Change {
  const taskId = `task-${Math.floor(turn / 3)}`;
  if (turn % 3 === 0) return { kind: 'task.create', taskId, title: 'An errand' };
  return { kind: 'task.transition', taskId, to: turn % 3 === 1 ? 'running' : 'completed' };
}

/** Short turns without anything else, to make a conversation long. */
export function shortTurns(count: number): readonly Change[] {
  return Array.from({ length: count }, (): readonly Change[] => [
    { kind: 'turn.record', origin: 'bench' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: textOf(20) }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: textOf(20) }] } },
  ]).flat();
}
