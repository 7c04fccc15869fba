import { TurnkeepError, isTurnkeepError } from '../core/errors.ts';
import { assertId } from '../core/ids.ts';
import type { ConversationId, InterruptId, NamespaceId, TurnId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';
import { KEYS } from '../core/keys.ts';
import { readInterrupt } from '../core/read/agent.ts';
import type { Interrupt } from '../core/read/agent.ts';
import { Bodies } from '../core/read/bodies.ts';
import { assertNotAborted } from '../core/abort.ts';
import type { Access, WriteOptions } from './access.ts';
import { livingHeads } from './living.ts';
import { eventOf } from './receipt-event.ts';

/** Conversations that are asked at the same time. */
const TOGETHER = 64;

/** An open interrupt with the conversation that asks. */
export interface OpenInterrupt extends Interrupt {
  readonly conversationId: ConversationId;
}

/** An answer, and how it is sent. */
export interface AnswerOptions extends Pick<WriteOptions, 'idempotencyKey' | 'signal'> {
  /** Who answers. */
  readonly by: string;
  readonly response: Json;
  /** The conversation that asks: saves looking for it, and decides between two that ask under one id. */
  readonly conversationId?: ConversationId | undefined;
}

/** What became of an answer. */
export interface Answered {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  /** False if somebody had answered before: that answer stands. */
  readonly first: boolean;
}

/**
 * The open interrupts of a namespace, conversation by conversation, the newest conversation first. Its cost follows the
 * number of conversations: their heads are read, and say which of them ask.
 */
export async function* openInterrupts(
  access: Access,
  namespace: NamespaceId,
  signal?: AbortSignal,
): AsyncGenerator<OpenInterrupt> {
  for await (const { conversationId, openInterrupts: ids } of livingHeads(access, namespace)) {
    assertNotAborted(signal);
    if (ids.length === 0) continue;
    yield* await access.read(namespace, (rows) => {
      const head = rows.head(conversationId);
      if (!head) return [];
      const bodies = new Bodies(rows, access.surroundings.sha256);
      const found = head.openInterrupts.flatMap((id) => readInterrupt({ rows, head }, bodies, id) ?? []);
      return found.map((interrupt) => ({ ...interrupt, conversationId }));
    });
  }
}

/** Answers an interrupt wherever in the namespace it is; the first answer stands. */
export async function answerInterrupt(
  access: Access,
  namespace: NamespaceId,
  interruptId: InterruptId,
  options: AnswerOptions,
): Promise<Answered> {
  assertId(interruptId, 'interruptId');
  const { by, response, conversationId: named, ...sent } = options;
  if (named !== undefined) assertId(named, 'options.conversationId');
  const conversationId = named ?? (await conversationOf(access, namespace, interruptId));
  const change = { kind: 'interrupt.answer' as const, interruptId, by, response };
  try {
    const receipt = await access.write(namespace, conversationId, [change], sent);
    return { conversationId, turnId: eventOf(receipt, 'interrupt.answer').turnId, first: true };
  } catch (error) {
    if (!isTurnkeepError(error, 'interrupt_closed') || error.details.status !== 'answered') throw error;
    return { conversationId, turnId: await turnOf(access, namespace, conversationId, interruptId), first: false };
  }
}

async function turnOf(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  interruptId: InterruptId,
): Promise<TurnId> {
  const row = await access.read(namespace, (rows) => rows.get(conversationId, KEYS.interruptId(interruptId)));
  if (!row) throw new TurnkeepError('no_interrupt', { interruptId });
  return row[0] as TurnId;
}

/** The conversation that asks: one that still waits if there is any, else any. */
async function conversationOf(
  access: Access,
  namespace: NamespaceId,
  interruptId: InterruptId,
): Promise<ConversationId> {
  const found = await whereOpen(access, namespace, interruptId);
  if (found.length === 0) found.push(...(await whereKnown(access, namespace, interruptId)));
  if (found.length > 1) {
    const reason = `${found.length} conversations have an interrupt of this id: name the one that is meant`;
    throw new TurnkeepError('invalid_value', { path: 'conversationId', reason });
  }
  if (found[0] === undefined) throw new TurnkeepError('no_interrupt', { interruptId });
  return found[0];
}

/** Heads say which interrupts are open: nothing else is read. */
async function whereOpen(access: Access, namespace: NamespaceId, interruptId: InterruptId): Promise<ConversationId[]> {
  const found: ConversationId[] = [];
  for await (const head of livingHeads(access, namespace)) {
    if (head.openInterrupts.includes(interruptId)) found.push(head.conversationId);
  }
  return found;
}

/** For an answer that comes too late: one row is read in every conversation. */
async function whereKnown(access: Access, namespace: NamespaceId, interruptId: InterruptId): Promise<ConversationId[]> {
  const found: ConversationId[] = [];
  let together: Promise<void>[] = [];
  const ask = async (id: ConversationId) => {
    if (await knows(access, namespace, id, interruptId)) found.push(id);
  };
  for await (const { conversationId } of livingHeads(access, namespace)) {
    together.push(ask(conversationId));
    if (together.length < TOGETHER) continue;
    await Promise.all(together);
    together = [];
  }
  await Promise.all(together);
  return found;
}

async function knows(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  interruptId: InterruptId,
): Promise<boolean> {
  return access.read(namespace, (rows) => rows.get(conversationId, KEYS.interruptId(interruptId)) !== undefined);
}
