import type { Change } from 'turnkeep';

/**
 * The workload of the kill runs: turn `number` of a conversation is one commit with two messages, a step of the checkpoint, a
 * move of the task, a commitment and the working state, each of which names the turn. Whatever is left of a store, its parts
 * tell whether a turn is there whole.
 */
export function turnChanges(number: number): readonly Change[] {
  const text = `turn ${number} ${'words '.repeat(number % 40)}`;
  const payload = { step: { json: { number } }, blob: { json: 'constant '.repeat(60) } };
  return [
    { kind: 'turn.record', origin: 'crash_run' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: `answer to ${text}` }] } },
    number === 1
      ? { kind: 'checkpoint.create', checkpointId: 'agent', type: 'agent', payload }
      : { kind: 'checkpoint.advance', checkpointId: 'agent', from: number - 2, payload },
    taskMove(number),
    { kind: 'commitment.add', commitmentId: `promise-${number}`, content: `keep turn ${number}` },
    { kind: 'state.update', objective: `turn ${number}` },
  ];
}

function taskMove(number: number): Change {
  if (number === 1) return { kind: 'task.create', taskId: 'work', title: 'Work through the run' };
  return { kind: 'task.transition', taskId: 'work', to: number % 2 === 0 ? 'running' : 'awaiting_approval' };
}

/** The key of a turn's commit: the same turn sent again is the same commit. */
export function turnKey(number: number): string {
  return `turn-${number}`;
}

export const NAMESPACE = 'crash';
