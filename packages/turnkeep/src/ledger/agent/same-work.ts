import type { InterruptRequest, StepSettle } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { sameJson } from '../../core/encoding.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { Json } from '../../core/json.ts';
import type { InterruptId, TurnId } from '../../core/ids.ts';
import type { Interrupt, Step } from '../../core/read/agent.ts';

/** What makes one step out of whoever asks for its key. */
export interface Asked {
  readonly key: string;
  /** A step has a result of its own, the others are messages. */
  readonly sort: 'step' | 'model' | 'tool';
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
}

/** A question as an agent puts it. */
export type NewInterrupt = Omit<InterruptRequest, 'kind' | 'turnId' | 'interruptId'> & {
  readonly interruptId: InterruptId;
};

/** Throws `step_conflict` where a key that this run asked for before is asked for something else. */
export function assertSameAsked(turnId: TurnId, before: Asked, now: Asked): void {
  const isSame = before.sort === now.sort && before.name === now.name && sameJson(before.input, now.input);
  if (!isSame) throw new TurnkeepError('step_conflict', { turnId, key: now.key });
}

/**
 * Throws `step_conflict` where a step is recorded under the key of another one: its result would be taken for what it is
 * not. Of what was redacted nobody can tell.
 */
export function assertSameStep(step: Step, now: Asked): void {
  const isSame = step.name === now.name && sameJson(step.input, now.input);
  const otherSort = step.messageId === undefined ? 'model' : 'step';
  const isOther = step.status === 'succeeded' && now.sort === otherSort;
  if ((step.redacted || isSame) && !isOther) return;
  throw new TurnkeepError('step_conflict', { turnId: step.turnId, key: step.key });
}

/**
 * True where a step that has ended, or waits to be started again, is so by this very word, or by one that says the same: it was
 * sent before. Of what was redacted nobody can tell.
 */
export function isSettledSo(step: Step, outcome: StepSettle['outcome']): boolean {
  if (outcome.status === 'retry') return step.status === 'retry' || step.starts > 1;
  if (step.status !== outcome.status || step.redacted) return step.status === outcome.status;
  const { result, messageId, failure } = step;
  const known = step.status === 'failed' ? { ...failure } : { result, messageId };
  const { status: _, ...told } = outcome;
  return sameJson(known, ownJson(told as Json, 'outcome'));
}

/** Throws `interrupt_exists` where the id is that of another turn's question, or of another question. */
export function assertSameQuestion(known: Interrupt, turnId: TurnId, asked: NewInterrupt): void {
  const isWordedSo = known.payload === undefined || sameJson(known.payload, ownJson(asked.payload, 'payload'));
  const isSame = known.type === asked.type && known.callId === (asked.callId ?? null) && isWordedSo;
  if (known.turnId === turnId && isSame) return;
  throw new TurnkeepError('interrupt_exists', { interruptId: known.interruptId });
}

/** As it is recorded. */
export function ownJson<Value extends Json | undefined>(value: Value, path: string): Value {
  return value === undefined ? value : (parseJson(value, path) as Value);
}
