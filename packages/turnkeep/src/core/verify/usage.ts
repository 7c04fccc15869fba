import type { Row, RowReader } from '../backend.ts';
import type { UsageRecord } from '../change.ts';
import { checksum } from '../checksum.ts';
import { DECIMAL, scaledDecimal } from '../decimal.ts';
import type { ConversationId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { afterSeparator, beforeSeparator, dayOf, KEYS, TABLES, USAGE_OF, usageSumParts } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { COUNTS, NO_USAGE, unpackUsage } from '../usage-sum.ts';
import type { UsageSum } from '../usage-sum.ts';

/**
 * Sums of usage, weighed: each count of a sum times the checksum of the sum's key, added to one number. Two lots of sums weigh
 * the same exactly where each sum is the same, however many there are.
 */
type Weighed = readonly bigint[];

const NOTHING: Weighed = [...COUNTS.map(() => 0n), 0n];

export function sameWeight(left: Weighed, right: Weighed): boolean {
  return left.every((one, at) => one === right[at]);
}

/** What a conversation's sums of usage must be, and what they are. */
export interface Use {
  /** What its own commits recorded. */
  readonly recorded: Weighed;
  /** What its sub-agents' conversations used. */
  readonly children: Weighed;
  readonly sums: Weighed;
  readonly hasChildren: boolean;
  readonly hasSums: boolean;
  /** False if not all usage can be read, or a sub-agent's conversation was erased: nobody can tell then. */
  readonly isKnown: boolean;
}

export const NO_USE: Use = {
  recorded: NOTHING,
  children: NOTHING,
  sums: NOTHING,
  hasChildren: false,
  hasSums: false,
  isKnown: true,
};

export function usesAddUp({ isKnown, recorded, children, sums }: Use): boolean {
  return !isKnown || sums.every((sum, at) => sum === (recorded[at] as bigint) + (children[at] as bigint));
}

/** With a record of usage that one of the conversation's own commits made at `at`, in milliseconds. */
export function useOfRecord(use: Use, body: JsonObject | undefined, turnId: TurnId | undefined, at: number): Use {
  if (!body) return { ...use, isKnown: false };
  const { provider, model, cost } = body as unknown as Pick<UsageRecord, 'provider' | 'model' | 'cost'>;
  const used: UsageSum = { ...NO_USAGE, ...countsIn(body), calls: 1, amount: cost?.amount ?? null };
  const by = { provider, model, currency: cost?.currency ?? '' };
  const scopes = [USAGE_OF.all, USAGE_OF.day(dayOf(at)), ...(turnId === undefined ? [] : [USAGE_OF.turn(turnId)])];
  const recorded = scopes.reduce((sum, scope) => weigh(sum, KEYS.usageSum(scope, by), used), use.recorded);
  return { ...use, recorded };
}

/** With what a sub-agent's conversation used, by the row that names it. */
export function useOfChild(use: Use, rows: RowReader, { key }: Row): Use {
  const child = afterSeparator(key) as ConversationId;
  const turn = USAGE_OF.turn(beforeSeparator(key, 1));
  if (rows.head(child)?.erasedAt !== null) return { ...use, hasChildren: true, isKnown: false };
  const children = daysAndAll(rows, child).reduce((sum, row) => {
    const used = unpackUsage(row.value);
    const { day, ...by } = usageSumParts(row.key);
    const counted = weigh(sum, row.key, used);
    return day === undefined ? weigh(counted, KEYS.usageSum(turn, by), used) : counted;
  }, use.children);
  return { ...use, children, hasChildren: true };
}

/** With a sum as it is stored. */
export function useOfSum(use: Use, { key, value }: Row): Use {
  return { ...use, sums: weigh(use.sums, key, unpackUsage(value)), hasSums: true };
}

/** True if the sums of the days together are those of all. */
export function daysAddUp(rows: RowReader, owner: ConversationId): boolean {
  let days = NOTHING;
  let all = NOTHING;
  for (const { key, value } of daysAndAll(rows, owner)) {
    const { day, ...by } = usageSumParts(key);
    const total = KEYS.usageSum(USAGE_OF.all, by);
    if (day === undefined) all = weigh(all, total, unpackUsage(value));
    else days = weigh(days, total, unpackUsage(value));
  }
  return sameWeight(days, all);
}

/** The sums without those of turns, which come after them. */
function daysAndAll(rows: RowReader, owner: ConversationId): readonly Row[] {
  return rows.scan(owner, { from: TABLES.usageSums, to: `${TABLES.usageSums}t` });
}

function weigh(weighed: Weighed, key: string, used: UsageSum): Weighed {
  const weight = BigInt(checksum(key));
  return weighed.map((sum, at) => sum + weight * valueAt(used, at));
}

/** A damaged sum has a weight that no valid sum has. */
function valueAt(used: UsageSum, at: number): bigint {
  const count = COUNTS[at];
  if (count !== undefined) return Number.isSafeInteger(used[count]) ? BigInt(used[count]) : -1n;
  if (used.amount === null) return 0n;
  return isAmount(used.amount) ? scaledDecimal(used.amount, LIMITS.amountDigits) : -1n;
}

function isAmount(amount: unknown): amount is string {
  if (typeof amount !== 'string' || !DECIMAL.test(amount)) return false;
  return (amount.split('.')[1] ?? '').length <= LIMITS.amountDigits;
}

function countsIn(body: JsonObject): Partial<UsageSum> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value === 'number'));
}
