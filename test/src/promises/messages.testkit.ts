import type {
  Change,
  Conversation,
  ConversationEvent,
  ErrorCode,
  ErrorDetails,
  Json,
  NewMessage,
  Part,
} from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { expect } from 'vitest';

export function text(words: string): readonly Part[] {
  return [{ type: 'text', text: words }];
}

export function user(words: string, more: Partial<NewMessage> = {}): NewMessage {
  return { role: 'user', parts: text(words), ...more };
}

export function assistant(words: string, more: Partial<NewMessage> = {}): NewMessage {
  return { role: 'assistant', parts: text(words), ...more };
}

/** A whole turn as changes: submitted, running, answered, completed. */
export function turn(turnId: string, answer: string = `answer ${turnId}`): readonly Change[] {
  return [
    {
      kind: 'turn.submit',
      turnId,
      operationId: `${turnId}.op`,
      messageId: `${turnId}.q`,
      prompt: text(`ask ${turnId}`),
    },
    { kind: 'turn.advance', turnId, to: 'running' },
    { kind: 'message.append', turnId, message: assistant(answer, { messageId: `${turnId}.a` }) },
    { kind: 'turn.advance', turnId, to: 'completed' },
  ];
}

/** Awaits a refusal with exactly these details. */
export async function refused<Code extends ErrorCode>(
  call: Promise<unknown>,
  code: Code,
  details: ErrorDetails[Code],
): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isTurnkeepError(error, code)) expect.fail(`refused with ${code}, not: ${String(error)}`);
  expect(error.details).toEqual(details);
}

/** Why those that lost a race were refused. */
export function refusals(results: readonly PromiseSettledResult<unknown>[]): readonly unknown[] {
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

/** The words of a path, root first. */
export async function words(conversation: Conversation, leaf?: string | null): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const message of conversation.read(leaf === undefined ? {} : { leaf })) {
    found.push(message.parts.map((part) => ('text' in part ? part.text : part.type)).join());
  }
  return found;
}

/** The commits of a conversation so far, as a watcher is handed them. */
export async function feed(conversation: Conversation): Promise<readonly ConversationEvent[]> {
  const events: ConversationEvent[] = [];
  for await (const event of conversation.watch({ untilNow: true })) events.push(event);
  return events;
}

/** All that a conversation answers about itself: what a refused commit must leave as it was. */
export async function everything(conversation: Conversation, checkpointId: string = 'k'): Promise<Json> {
  const checkpoint = await conversation.checkpoints.get(checkpointId);
  return structured({
    info: await conversation.info(),
    graph: await conversation.graph(),
    messages: (await conversation.page({ limit: 1_000 })).messages,
    state: await conversation.state(),
    tasks: await conversation.tasks.list(),
    active: await conversation.tasks.active(),
    commitments: await conversation.commitments.list(),
    summary: await conversation.summary(),
    operations: await conversation.openOperations(),
    checkpoint,
    pending: await conversation.checkpoints.pendingWrites(checkpointId, checkpoint?.revision ?? 0),
    events: await feed(conversation),
  });
}

function structured(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json; // plain data, made comparable
}
