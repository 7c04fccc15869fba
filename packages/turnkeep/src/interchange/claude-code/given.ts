import { TurnkeepError } from '../../core/errors.ts';
import { abortSignal, anything, assertFits, callback } from '../../ledger/given.ts';
import type { Check, Checks } from '../../ledger/given.ts';
import { JSONL_CHECKS } from '../jsonl.ts';
import type { JsonlOptions } from '../jsonl.ts';
import type { ImportProgress } from '../report.ts';

export interface PlanOptions extends JsonlOptions {
  readonly namespace: string;
}

export interface ImportOptions extends JsonlOptions {
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const IMPORT_CHECKS: Checks<ImportOptions> = { ...JSONL_CHECKS, onProgress: callback, signal: abortSignal };
export const PLAN_CHECKS: Checks<PlanOptions> = { ...JSONL_CHECKS, namespace: anything };

/** The name of a target's namespace; a ledger, which is easily taken for one, has none. */
export const targetName: Check = (value) =>
  typeof value === 'string'
    ? undefined
    : "expected a namespace, as ledger.namespace('acme'), or a target with its name";

const filePath: Check = (value) =>
  typeof value === 'string' && value !== '' && !value.includes('\0') ? undefined : 'expected a path';

/** Throws `invalid_value` unless it is a list of paths or a stream: a single path, say, where the caller has no types. */
export function assertSource(source: unknown): void {
  if (Array.isArray(source)) {
    source.forEach((path: unknown, at) => assertFits(path, filePath, `source[${at}]`));
    return;
  }
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) return;
  const reason = 'expected a list of paths or a stream of bytes';
  throw new TurnkeepError('invalid_value', { path: 'source', reason });
}
