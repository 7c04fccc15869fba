import type { Change, Parent, TaskStatus, TurnState, TurnSubmit } from './change.ts';
import type { MessageContent, Part } from './message.ts';

/**
 * Changes in few words, with ids that follow from one name: turn `t1` has the prompt `t1.prompt`, the first message
 * `t1.q` and the operation `t1.op`.
 */

export function text(words: string): readonly Part[] {
  return [{ type: 'text', text: words }];
}

export function submit(turnId: string, more: Partial<TurnSubmit> = {}): Change {
  const ids = { turnId, messageId: `${turnId}.q`, operationId: `${turnId}.op` };
  if (more.samePromptAs !== undefined) return { kind: 'turn.submit', ...ids, ...more };
  return { kind: 'turn.submit', ...ids, promptId: `${turnId}.prompt`, prompt: text(`ask ${turnId}`), ...more };
}

export function advance(turnId: string, to: TurnState): Change {
  return { kind: 'turn.advance', turnId, to };
}

export function record(turnId: string, parent?: Parent): Change {
  return { kind: 'turn.record', turnId, parent, origin: 'import' };
}

export function select(turnId: string): Change {
  return { kind: 'leaf.select', turnId };
}

export function resolve(turnId: string, ...failure: readonly [] | readonly [code: string, message: string]): Change {
  const [code, message] = failure;
  const failed = code === undefined ? undefined : { status: 'failed' as const, code, message: message ?? '' };
  return { kind: 'operation.resolve', operationId: `${turnId}.op`, outcome: failed ?? { status: 'succeeded' } };
}

/** An assistant's message whose words are its id. */
export function say(messageId: string, turnId?: string | null, more: Partial<MessageContent> = {}): Change {
  return { kind: 'message.append', turnId, message: { messageId, role: 'assistant', parts: text(messageId), ...more } };
}

/** An assistant's message that calls tools. */
export function call(messageId: string, callIds: readonly string[], turnId?: string): Change {
  const parts = callIds.map((callId) => ({ type: 'tool_call' as const, callId, name: 'look', input: { callId } }));
  return { kind: 'message.append', turnId, message: { messageId, role: 'assistant', parts } };
}

/** The results of tool calls. */
export function answer(messageId: string, callIds: readonly string[], turnId?: string): Change {
  const parts = callIds.map((callId) => ({ type: 'tool_result' as const, callId, status: 'ok' as const, output: 1 }));
  return { kind: 'message.append', turnId, message: { messageId, role: 'tool', parts } };
}

export function redact(messageId: string, replacement?: string): Change {
  return {
    kind: 'message.redact',
    messageId,
    reason: 'asked',
    ...(replacement === undefined ? {} : { replacement: text(replacement) }),
  };
}

/** A whole turn: submitted, running, what is said in it, completed. */
export function turn(
  turnId: string,
  inside: readonly Change[] = [],
  more: Partial<TurnSubmit> = {},
): readonly Change[] {
  return [submit(turnId, more), advance(turnId, 'running'), ...inside, advance(turnId, 'completed')];
}

export function task(taskId: string, turnId?: string, parentTaskId?: string): Change {
  return { kind: 'task.create', taskId, title: `do ${taskId}`, turnId, parentTaskId };
}

export function move(taskId: string, to: TaskStatus, turnId?: string): Change {
  return { kind: 'task.transition', taskId, to, turnId };
}

export function promise(commitmentId: string, content: string = commitmentId, turnId?: string): Change {
  return { kind: 'commitment.add', commitmentId, content, turnId };
}

export function aim(objective: string, turnId?: string): Change {
  return { kind: 'state.update', objective, turnId };
}

export function fork(source: string, at: string): Change {
  return { kind: 'conversation.fork', source, at };
}
