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

/**
 * A whole turn: prompt and answer of 1 KB each, a step of the checkpoint of which 200 bytes change, and a step of a task.
 * `turn` counts from 0 within the conversation.
 */
export function turnChanges(turn: number): readonly Change[] {
  const state = { json: { turn, note: textOf(180) } };
  return [
    ...(turn === 0 ? [{ kind: 'checkpoint.create', checkpointId: 'agent', type: 'bench', payload: {} } as const] : []),
    { kind: 'turn.record', origin: 'bench' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: textOf(TURN_TEXT / 2) }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: textOf(TURN_TEXT / 2) }] } },
    { kind: 'checkpoint.advance', checkpointId: 'agent', from: turn, phase: 'ready', payload: { state } },
    ...taskStep(turn),
  ];
}

/** A task is created, runs and is completed in three turns; one task at a time. */
function taskStep(turn: number): readonly Change[] {
  const taskId = `task-${Math.floor(turn / 3)}`;
  if (turn % 3 === 0) return [{ kind: 'task.create', taskId, title: 'An errand' }];
  return [{ kind: 'task.transition', taskId, to: turn % 3 === 1 ? 'running' : 'completed' }];
}

/** Short turns without anything else, to make a conversation long. */
export function shortTurns(count: number): readonly Change[] {
  return Array.from({ length: count }, (): readonly Change[] => [
    { kind: 'turn.record', origin: 'bench' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: textOf(20) }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: textOf(20) }] } },
  ]).flat();
}
