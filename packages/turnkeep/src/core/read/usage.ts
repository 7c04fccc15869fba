import type { RowReader } from '../backend.ts';
import type { UsageRecord } from '../change.ts';
import type { ConversationId, UsageId } from '../ids.ts';
import { dayText, KEYS, USAGE_OF, usageSumParts } from '../keys.ts';
import { scanPrefix } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { addAmounts, COUNTS, NO_USAGE, unpackUsage } from '../usage-sum.ts';
import type { UsageCounts } from '../usage-sum.ts';
import type { Bodies } from './bodies.ts';

/** What one model call used, as it was recorded. */
export interface Usage extends Omit<UsageRecord, 'kind'> {
  readonly usageId: UsageId;
  readonly recordedAt: string;
}

/** Exact decimals by currency. */
export type Cost = { readonly [currency: string]: string };

/** What calls used together, and each model's share of it. */
export interface UsageTotal extends UsageCounts {
  readonly cost: Cost;
  readonly models: readonly ModelUsage[];
}

export interface ModelUsage extends UsageCounts {
  readonly provider: string;
  readonly model: string;
  readonly cost: Cost;
}

/** What was used on one day, in UTC by the store's clock: `2026-11-29`, or `+010000-01-01` after 9999. */
export interface DayUsage extends UsageTotal {
  readonly day: string;
}

export function readUsage(tree: Tree, bodies: Bodies, usageId: UsageId): Usage | undefined {
  const owner = tree.head.conversationId;
  const row = tree.rows.get(owner, KEYS.usage(usageId));
  if (!row) return undefined;
  const [version, index] = row as readonly [number, number];
  const body = bodies.body({ owner, version, index }) as unknown as Omit<Usage, 'usageId' | 'recordedAt'>;
  return { ...body, usageId, recordedAt: bodies.committedAt(owner, version) };
}

/** The sum of a scope (`USAGE_OF`): its cost follows the number of models, not that of calls. */
export function readUsageTotal(rows: RowReader, owner: ConversationId, scope: string): UsageTotal {
  return totalOf(sumsOf(rows, owner, scope));
}

/** The days from `from` to `to`, both included and given as days since the epoch, on which anything was used. */
export function readUsageByDay(rows: RowReader, owner: ConversationId, from: number, to: number): readonly DayUsage[] {
  const range = { from: KEYS.usageSumsOf(USAGE_OF.day(from)), to: KEYS.usageSumsOf(USAGE_OF.day(to + 1)) };
  const days = new Map<number, Sum[]>();
  for (const { key, value } of rows.scan(owner, range)) {
    const { day, ...by } = usageSumParts(key);
    if (day === undefined) continue; // the range has none
    const sums = days.get(day);
    const sum = { ...by, ...unpackUsage(value) };
    if (sums) sums.push(sum);
    else days.set(day, [sum]);
  }
  return [...days].map(([day, sums]) => ({ day: dayText(day), ...totalOf(sums) }));
}

type Sum = ReturnType<typeof unpackUsage> & {
  readonly provider: string;
  readonly model: string;
  readonly currency: string;
};

function sumsOf(rows: RowReader, owner: ConversationId, scope: string): readonly Sum[] {
  return scanPrefix(rows, owner, KEYS.usageSumsOf(scope)).map(({ key, value }) => {
    const { day: _day, ...by } = usageSumParts(key);
    return { ...by, ...unpackUsage(value) };
  });
}

function totalOf(sums: readonly Sum[]): UsageTotal {
  const models = new Map<string, Sum[]>();
  for (const sum of sums) {
    const name = JSON.stringify([sum.provider, sum.model]);
    models.set(name, [...(models.get(name) ?? []), sum]);
  }
  const byModel = [...models.values()].map((each) => {
    const { provider, model } = each[0] as Sum;
    return { provider, model, ...added(each) };
  });
  return { ...added(sums), models: byModel };
}

function added(sums: readonly Sum[]): UsageCounts & { readonly cost: Cost } {
  const { amount: _amount, ...none } = NO_USAGE;
  const counts: { -readonly [Count in keyof UsageCounts]: number } = { ...none };
  const cost = new Map<string, string>();
  for (const sum of sums) {
    for (const count of COUNTS) counts[count] += sum[count];
    if (sum.amount !== null)
      cost.set(sum.currency, addAmounts(cost.get(sum.currency) ?? null, sum.amount) ?? sum.amount);
  }
  return { ...counts, cost: Object.fromEntries(cost) };
}
