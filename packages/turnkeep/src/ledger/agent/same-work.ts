import type { InterruptRequest, StepSettle } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { sameJson } from '../../core/encoding.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { Json } from '../../core/json.ts';
import type { InterruptId, TurnId } from '../../core/ids.ts';
import type { Interrupt, Step } from '../../core/read/agent.ts';

/** What identifies a step: whoever asks for its key must say the same. */
export interface Asked {
  readonly key: string;
  /** A `step` has a result of its own; the results of the others are messages. */
  readonly sort: 'step' | 'model' | 'tool';
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
}

/** A question as an agent puts it. */
export type NewInterrupt = Omit<InterruptRequest, 'kind' | 'turnId' | 'interruptId'> & {
  readonly interruptId: InterruptId;
};

/** Throws `step_conflict` if this run asked for the key before with something else. */
export function assertSameAsked(turnId: TurnId, before: Asked, now: Asked): void {
  const isSame = before.sort === now.sort && before.name === now.name && sameJson(before.input, now.input);
  if (!isSame) throw new TurnkeepError('step_conflict', { turnId, key: now.key });
}

/**
 * Throws `step_conflict` if another step is recorded under the key, whose result would be mistaken for this one's. Redacted
 * words cannot be compared.
 */
export function assertSameStep(step: Step, now: Asked): void {
  const isSame = step.name === now.name && sameJson(step.input, now.input);
  const otherSort = step.messageId === undefined ? 'model' : 'step';
  const isOther = step.status === 'succeeded' && now.sort === otherSort;
  if ((step.redacted || isSame) && !isOther) return;
  throw new TurnkeepError('step_conflict', { turnId: step.turnId, key: step.key });
}

/**
 * True if a step has ended, or may be started again, because of this very settlement or an equal one, which was sent before.
 * Redacted words cannot be compared.
 */
export function isSettledSo(step: Step, outcome: StepSettle['outcome']): boolean {
  if (outcome.status === 'retry') return step.status === 'retry' || step.starts > 1;
  if (step.status !== outcome.status || step.redacted) return step.status === outcome.status;
  const { result, messageId, failure } = step;
  const known = step.status === 'failed' ? { ...failure } : { result, messageId };
  const { status: _, ...told } = outcome;
  return sameJson(known, ownJson(told as Json, 'outcome'));
}

/** Throws `interrupt_exists` if the id belongs to another turn's question, or to another question. */
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
