import type { RunStatus, StepRepeat } from '../change.ts';
import type { AttemptId, InterruptId, MessageId, RunId, TurnId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { afterSeparator, KEYS } from '../keys.ts';
import { unpackInterrupt, unpackRun, unpackStep } from '../rows.ts';
import type { InterruptStatus, LocalRef, StepStatus } from '../rows.ts';
import { scanPrefix } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** Readings of what agents record: runs, attempts, steps, interrupts. They belong to their conversation; a fork has none. */

/** One launch of an agent. */
export interface Run {
  readonly runId: RunId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly baseTurnId: TurnId | null;
  readonly metadata?: Json | undefined;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Why it ended, if somebody said so. */
  readonly reason?: { readonly code: string; readonly message: string } | undefined;
}

export function readRun(tree: Tree, bodies: Bodies, runId: RunId): Run | undefined {
  const owner = tree.head.conversationId;
  const value = tree.rows.get(owner, KEYS.run(runId));
  if (!value) return undefined;
  const { status, start, end, baseTurnId } = unpackRun(value);
  const { agent = '', metadata } = wordsAt(tree, bodies, start) ?? {};
  const reason = end && wordsAt(tree, bodies, end);
  return {
    runId,
    agent: agent as string,
    status,
    baseTurnId,
    ...(metadata === undefined ? {} : { metadata }),
    startedAt: bodies.committedAt(owner, start.version),
    endedAt: end && bodies.committedAt(owner, end.version),
    ...(reason?.['code'] === undefined ? {} : { reason: reason as NonNullable<Run['reason']> }),
  };
}

/** The run of an attempt, if it named one. */
export function runOfAttempt(tree: Tree, attempt: AttemptId): RunId | undefined {
  return tree.rows.get(tree.head.conversationId, KEYS.attempt(attempt))?.[1] as RunId | undefined;
}

/** A recorded step. */
export interface Step {
  readonly turnId: TurnId;
  readonly key: string;
  readonly status: StepStatus;
  readonly repeat: StepRepeat;
  /** How often it was started. */
  readonly starts: number;
  /** The token of the attempt that started it last; 0 if no attempt held the turn. */
  readonly token: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
  /** The result of a step that succeeded; absent if it had none, or if `messageId` names it. */
  readonly result?: Json | undefined;
  readonly messageId?: MessageId | undefined;
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
  /** True where its words were redacted. */
  readonly redacted?: true | undefined;
}

export function readStep(tree: Tree, bodies: Bodies, turnId: TurnId, key: string): Step | undefined {
  const owner = tree.head.conversationId;
  const value = tree.rows.get(owner, KEYS.step(turnId, key));
  if (!value) return undefined;
  const row = unpackStep(value);
  const { status, repeat, starts, token, end, messageId } = row;
  const said = wordsAt(tree, bodies, row.start);
  const ended = end ? wordsAt(tree, bodies, end) : {};
  return {
    turnId,
    key,
    status,
    repeat,
    starts,
    token,
    startedAt: bodies.committedAt(owner, row.startedAt),
    endedAt: end && bodies.committedAt(owner, end.version),
    ...said,
    ...(status === 'succeeded' && ended?.['result'] !== undefined ? { result: ended['result'] } : {}),
    ...(messageId === null ? {} : { messageId }),
    ...(status === 'failed' && ended ? { failure: ended as unknown as NonNullable<Step['failure']> } : {}),
    ...(said && ended ? {} : { redacted: true as const }),
  };
}

/** The steps of a turn, in the order in which they were first started. */
export function readSteps(tree: Tree, bodies: Bodies, turnId: TurnId): readonly Step[] {
  const rows = scanPrefix(tree.rows, tree.head.conversationId, KEYS.stepsOf(turnId));
  const placed = rows.map(({ key, value }) => ({ key: afterSeparator(key), at: unpackStep(value).start }));
  const inOrder = placed.sort((left, right) => left.at.version - right.at.version || left.at.index - right.at.index);
  return inOrder.flatMap(({ key }) => readStep(tree, bodies, turnId, key) ?? []);
}

/** A question that a turn waits on, or waited on. */
export interface Interrupt {
  readonly interruptId: InterruptId;
  readonly turnId: TurnId;
  readonly status: InterruptStatus;
  readonly type: string;
  readonly callId: string | null;
  readonly requestedAt: string;
  readonly expiresAt: string | null;
  readonly payload?: Json | undefined;
  /** When it was answered, expired or withdrawn. */
  readonly closedAt: string | null;
  readonly answer?: { readonly by: string; readonly response: Json } | undefined;
  /** True where its words were redacted. */
  readonly redacted?: true | undefined;
}

export function readInterrupt(tree: Tree, bodies: Bodies, interruptId: InterruptId): Interrupt | undefined {
  const owner = tree.head.conversationId;
  const turnId = tree.rows.get(owner, KEYS.interruptId(interruptId))?.[0] as TurnId | undefined;
  const value = turnId === undefined ? undefined : tree.rows.get(owner, KEYS.interrupt(turnId, interruptId));
  if (turnId === undefined || !value) return undefined;
  const row = unpackInterrupt(turnId, value);
  const asked = wordsAt(tree, bodies, row.request);
  const answer = row.answer ? wordsAt(tree, bodies, row.answer) : undefined;
  const whole = asked && (row.answer === null || answer);
  return {
    interruptId,
    turnId,
    status: row.status,
    type: row.type,
    callId: row.callId,
    requestedAt: bodies.committedAt(owner, row.request.version),
    expiresAt: row.expiresAt === null ? null : new Date(row.expiresAt).toISOString(),
    ...(asked ? { payload: asked['payload'] } : {}),
    closedAt: row.closedAt === null ? null : bodies.committedAt(owner, row.closedAt),
    ...(answer ? { answer: answer as unknown as NonNullable<Interrupt['answer']> } : {}),
    ...(whole ? {} : { redacted: true as const }),
  };
}

/** The interrupts of a turn, in the order in which they were requested. */
export function readInterrupts(tree: Tree, bodies: Bodies, turnId: TurnId): readonly Interrupt[] {
  const rows = scanPrefix(tree.rows, tree.head.conversationId, KEYS.interruptsOf(turnId));
  const placed = rows.map(({ key, value }) => ({
    interruptId: afterSeparator(key),
    at: unpackInterrupt(turnId, value).request,
  }));
  const inOrder = placed.sort((left, right) => left.at.version - right.at.version || left.at.index - right.at.index);
  return inOrder.flatMap(({ interruptId }) => readInterrupt(tree, bodies, interruptId) ?? []);
}

function wordsAt(tree: Tree, bodies: Bodies, ref: LocalRef): JsonObject | undefined {
  return bodies.body({ owner: tree.head.conversationId, ...ref });
}
