import { z } from 'zod';
import type { StepOutcome, StepSettle } from '../change.ts';
import type { Draft } from '../draft.ts';
import { sameJson } from '../encoding.ts';
import { TurnkeepError } from '../errors.ts';
import type { MessageId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import { packStep, unpackStep } from '../rows.ts';
import type { LocalRef, StepRow } from '../rows.ts';
import { code, id, json, shortText } from '../shapes.ts';
import type { OwnTurn } from '../tree/path.ts';
import type { LeftRows } from './left-rows.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { assertCalledIn, turnAtWork } from './turn-at-work.ts';

/**
 * The life of a step: `started → succeeded | failed` by the attempt that does it, or settled by a later one, which may
 * also say `retry`. A step can be started again from `retry`, from `started` and `failed` only if it is safe to repeat, and
 * never from `succeeded`.
 */

const succeeded = z.strictObject({
  status: z.literal('succeeded'),
  result: json.optional(),
  messageId: id.optional(),
});
const failed = z.strictObject({ status: z.literal('failed'), code, message: z.string() });
const outcome: z.ZodType<StepOutcome> = z
  .union([succeeded, failed])
  .refine(
    (one) => one.status === 'failed' || one.result === undefined || one.messageId === undefined,
    'result or messageId, not both',
  );

/** How a step that nobody saw end is settled. */
export const settled: z.ZodType<StepSettle['outcome']> = z.union([
  outcome,
  z.strictObject({ status: z.literal('retry') }),
]);

/** The token of the attempt that holds a turn; 0 if none does. */
function tokenOf(turn: OwnTurn): number {
  return turn.row.attempt?.token ?? 0;
}

function stepAt(draft: Draft, turnId: TurnId, key: string): StepRow | undefined {
  const value = draft.get(KEYS.step(turnId, key));
  return value && unpackStep(value);
}

export const stepStart: Rule<'step.start'> = {
  shape: z
    .strictObject({
      kind: z.literal('step.start'),
      turnId: id,
      key: id.optional(),
      callId: id.optional(),
      repeat: z.enum(['never', 'safe', 'reconcile']).optional(),
      name: shortText.optional(),
      input: json.optional(),
    })
    .refine((change) => change.key !== undefined || change.callId !== undefined, 'a key, or the call that it is for'),
  complete: (change) => ({ ...change, key: change.key ?? change.callId }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, callId, repeat = 'never', name, input } = change;
    const key = change.key as string; // `complete` gave it one
    const turn = turnAtWork(draft, turnId, path);
    assertCalledIn(draft, turn, callId);
    const known = stepAt(draft, turnId, key);
    if (known) assertMayRestart(turnId, key, known);
    const words = { name, input } as JsonObject;
    const start = known
      ? sameStart(draft, turnId, key, known, words)
      : { version: draft.version, index: draft.addRecord(words, path) };
    const starts = (known?.starts ?? 0) + 1;
    const row = { status: 'started' as const, token: tokenOf(turn), repeat, starts, start };
    draft.put(KEYS.step(turnId, key), packStep({ ...row, startedAt: draft.version, end: null, messageId: null }));
    const event = { kind, turnId, key, starts, ...(callId === undefined ? {} : { callId }) };
    return known ? event : { ...event, record: start.index };
  },
  leaves: leavesStep,
  saidBefore({ rows, head: { conversationId: owner } }, { turnId, key }) {
    const known = rows.get(owner, KEYS.step(turnId, key));
    return known && { owner, ...unpackStep(known).start };
  },
};

function assertMayRestart(turnId: TurnId, key: string, { status, repeat }: StepRow): void {
  if (status === 'retry' || (repeat === 'safe' && status !== 'succeeded')) return;
  if (status === 'started') throw new TurnkeepError('ambiguous', { turnId, keys: [key] });
  throw new TurnkeepError('step_ended', { turnId, key, status });
}

/** The record of the first start: doing the step again must have the same name and input. */
function sameStart(draft: Draft, turnId: TurnId, key: string, known: StepRow, words: JsonObject): LocalRef {
  const ref = { owner: draft.conversationId, ...known.start };
  const said = draft.body(ref);
  if (said !== undefined && !sameJson(said, words)) throw new TurnkeepError('step_conflict', { turnId, key });
  if (said !== undefined) draft.saltWith(ref);
  return known.start;
}

export const stepFinish: Rule<'step.finish'> = {
  shape: z.strictObject({ kind: z.literal('step.finish'), turnId: id, key: id, outcome }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, key } = change;
    const turn = turnAtWork(draft, turnId, path);
    const known = startedStep(draft, turnId, key);
    // What an earlier attempt began may or may not have been done: `step.settle` must say.
    if (known.token !== tokenOf(turn)) throw new TurnkeepError('ambiguous', { turnId, keys: [key] });
    return { kind, turnId, key, ...end(draft, turn, key, known, change.outcome, path) };
  },
  leaves: leavesStep,
};

export const stepSettle: Rule<'step.settle'> = {
  shape: z.strictObject({
    kind: z.literal('step.settle'),
    turnId: id,
    key: id,
    outcome: settled,
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, key, outcome: how } = change;
    const turn = turnAtWork(draft, turnId, path);
    const known = startedStep(draft, turnId, key);
    if (how.status !== 'retry') return { kind, turnId, key, ...end(draft, turn, key, known, how, path) };
    draft.put(KEYS.step(turnId, key), packStep({ ...known, status: 'retry' }));
    return { kind, turnId, key, status: 'retry' };
  },
  leaves: leavesStep,
};

function startedStep(draft: Draft, turnId: TurnId, key: string): StepRow {
  const known = stepAt(draft, turnId, key);
  if (!known) throw new TurnkeepError('no_step', { turnId, key });
  if (known.status !== 'started') throw new TurnkeepError('step_ended', { turnId, key, status: known.status });
  return known;
}

function end(
  draft: Draft,
  turn: OwnTurn,
  key: string,
  known: StepRow,
  how: StepOutcome,
  path: string,
): { readonly status: StepOutcome['status']; readonly record: number } {
  const { status, ...words } = how;
  const messageId = how.status === 'succeeded' ? (how.messageId ?? null) : null;
  if (messageId !== null) assertSaidIn(draft, turn, messageId);
  const record = draft.addRecord(words, `${path}.outcome`);
  const row = { ...known, status, end: { version: draft.version, index: record }, messageId };
  draft.put(KEYS.step(turn.row.turnId, key), packStep(row));
  return { status, record };
}

function assertSaidIn(draft: Draft, turn: OwnTurn, messageId: MessageId): void {
  const place = draft.get(KEYS.messageId(messageId));
  if (place?.[0] === turn.branch && place[1] === turn.position) return;
  throw new TurnkeepError('no_message', { messageId });
}

function leavesStep(left: LeftRows, { turnId, key }: { readonly turnId: TurnId; readonly key: string }): void {
  left.here(KEYS.step(turnId, key), `step ${key} of turn ${turnId}`);
}
