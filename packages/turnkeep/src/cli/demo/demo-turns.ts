import type { Change } from '../../core/change.ts';
import type { CheckpointId, TaskId, TurnId } from '../../core/ids.ts';
import type { Part } from '../../core/message.ts';

/** The names that one run of the demonstration gives to what it makes. */
export interface DemoNames {
  readonly run: string;
}

export function demoCommitId({ run }: DemoNames, turn: number): string {
  return `demo_${run}_${turn}`;
}

export function demoTurnId({ run }: DemoNames, turn: number): TurnId {
  return `turn_demo_${run}_${turn}` as TurnId;
}

export function demoCheckpointId({ run }: DemoNames): CheckpointId {
  return `ckpt_demo_${run}` as CheckpointId;
}

/** What the person asks and what the script answers, by turn; turn 0 opens. */
export function demoWords(turn: number): { readonly prompt: string; readonly answer: string } {
  if (turn === 0) {
    const answer =
      'I will go through it step by step and keep a checkpoint with every step, so that nothing is done twice.';
    return { prompt: 'Pick up where this left off, and do not lose your place.', answer };
  }
  return {
    prompt: `Go on with step ${turn}.`,
    answer: `Step ${turn} is done; the checkpoint beside this answer says so too.`,
  };
}

/** The first turn: prompt, answer, checkpoint, a task that starts and a promise, in one commit. */
export function openingChanges(names: DemoNames, activeTask: TaskId | undefined): readonly Change[] {
  const taskId = `task_demo_${names.run}` as TaskId;
  return [
    ...turnChanges(names, 0),
    { kind: 'checkpoint.create', checkpointId: demoCheckpointId(names), type: 'demo', payload: payloadOf(0) },
    ...(activeTask === undefined
      ? []
      : [{ kind: 'task.transition' as const, taskId: activeTask, to: 'superseded' as const }]),
    { kind: 'task.create', taskId, title: 'Carry the imported work on, one durable step at a time' },
    { kind: 'task.transition', taskId, to: 'running' },
    { kind: 'commitment.add', content: 'Nothing that was acknowledged is ever lost' },
  ];
}

/** A later turn: prompt, answer, the checkpoint's next revision and the working state, in one commit. */
export function stepChanges(names: DemoNames, turn: number): readonly Change[] {
  return [
    ...turnChanges(names, turn),
    { kind: 'checkpoint.advance', checkpointId: demoCheckpointId(names), from: turn - 1, payload: payloadOf(turn) },
    { kind: 'state.update', stage: `step ${turn}` },
  ];
}

function turnChanges(names: DemoNames, turn: number): readonly Change[] {
  const { prompt, answer } = demoWords(turn);
  return [
    { kind: 'turn.record', turnId: demoTurnId(names, turn), origin: 'demo' },
    { kind: 'message.append', message: { role: 'user', parts: words(prompt) } },
    { kind: 'message.append', message: { role: 'assistant', parts: words(answer), finishReason: 'stop' } },
  ];
}

function words(text: string): readonly Part[] {
  return [{ type: 'text', text }];
}

function payloadOf(turn: number): { readonly position: { readonly json: { readonly turn: number } } } {
  return { position: { json: { turn } } };
}
