import { TurnkeepError } from '../../core/errors.ts';

/** What was found out about a step that may or may not have been done; without `result` it had none. */
export type Reconciled<Result> =
  | { readonly done: true; readonly result?: Result | undefined }
  | { readonly done: false };

/**
 * Throws `invalid_value` for any other answer: whether to do the step again would be a guess.
 */
export function assertReconciled(key: string, answer: unknown): void {
  if (typeof answer === 'object' && answer !== null && 'done' in answer) {
    const known = answer.done === true ? ['done', 'result'] : ['done'];
    if (typeof answer.done === 'boolean' && Object.keys(answer).every((name) => known.includes(name))) return;
  }
  const reason = 'expected { done: true, result? } or { done: false }';
  throw new TurnkeepError('invalid_value', { path: `reconcile of step ${key}`, reason });
}
