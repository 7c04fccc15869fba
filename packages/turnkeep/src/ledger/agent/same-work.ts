import { TurnkeepError } from '../../core/errors.ts';
import { sameJson } from '../../core/encoding.ts';
import { parseJson } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Interrupt, Step } from '../../core/read/agent.ts';
import type { Action, NewInterrupt } from './turn-work.ts';

/** What makes one step out of whoever asks for its key. */
type Asked = Pick<Action<never>, 'key' | 'sort' | 'name' | 'input'>;

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
