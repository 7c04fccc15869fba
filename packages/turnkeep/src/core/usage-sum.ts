import type { RowValue } from './backend.ts';
import { addDecimals } from './decimal.ts';
import { assert } from './errors.ts';

/** The summed usage of model calls. A number that a call did not report counts as 0. */
export interface UsageCounts {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly latencyMs: number;
}

/** The counts of one model in one currency, and their cost; `null` if nobody reported one. */
export interface UsageSum extends UsageCounts {
  readonly amount: string | null;
}

export const COUNTS = [
  'calls',
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'latencyMs',
] as const;

export const NO_USAGE: UsageSum = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  latencyMs: 0,
  amount: null,
};

/** Exact, and the same in any order: integers within 2^53, decimals digit by digit. */
export function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  const counts = Object.fromEntries(COUNTS.map((count) => [count, left[count] + right[count]]));
  const sum = { ...counts, amount: addAmounts(left.amount, right.amount) } as UsageSum;
  assert(
    COUNTS.every((count) => Number.isSafeInteger(sum[count])),
    'sums of usage stay within 2^53',
  );
  return sum;
}

export function addAmounts(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  return addDecimals(left, right);
}

export function packUsage(sum: UsageSum): RowValue {
  return [...COUNTS.map((count) => sum[count]), sum.amount];
}

export function unpackUsage(value: RowValue): UsageSum {
  const counts = Object.fromEntries(COUNTS.map((count, at) => [count, value[at] as number]));
  return { ...counts, amount: value[COUNTS.length] as string | null } as UsageSum;
}
