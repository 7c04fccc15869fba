import type { UsageRecord } from '../core/change.ts';
import { TurnkeepError } from '../core/errors.ts';
import { assertId } from '../core/ids.ts';
import type { ConversationId, NamespaceId, TurnId, UsageId } from '../core/ids.ts';
import { dayOf, dayText, USAGE_OF } from '../core/keys.ts';
import { readUsage, readUsageByDay, readUsageTotal } from '../core/read/usage.ts';
import type { DayUsage, Usage, UsageTotal } from '../core/read/usage.ts';
import type { Receipt } from '../core/receipt.ts';
import { SHELVES } from '../core/shelf.ts';
import { ownTurn } from '../core/tree/path.ts';
import type { Access, WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { assertChecked, text, withFields } from './given.ts';
import type { Checks } from './given.ts';
import { eventOf } from './receipt-event.ts';

/**
 * Days in UTC as `2026-11-29`, both included; years before 0 and after 9999 as JavaScript writes them, `+010000-01-01`. Absent
 * means from the first, or to the last.
 */
export interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * What the model calls of a conversation used. Sums are updated as calls are recorded: reading one costs the same however
 * many calls there were.
 */
export class ConversationUsage {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /**
   * Records what a model call used, once: the same again under the same id is a no-op. Better: put a `usage.record` into the
   * commit of what the call paid for, so that both are stored or neither.
   */
  async record(
    usage: Omit<UsageRecord, 'kind'>,
    options?: WriteOptions,
  ): Promise<Receipt & { readonly usageId: UsageId }> {
    const receipt = await this.#access.write([withFields(usage, 'usage', { kind: 'usage.record' })], options);
    return { ...receipt, usageId: eventOf(receipt, 'usage.record').usageId };
  }

  /** A call as it was recorded. */
  async get(usageId: UsageId): Promise<Usage | undefined> {
    assertId(usageId, 'usageId');
    return this.#access.view(({ tree, bodies }) => readUsage(tree, bodies, usageId));
  }

  /** Everything that the conversation and its sub-agents used; a fork does not count its source's usage. */
  async total(): Promise<UsageTotal> {
    return this.#access.view(({ tree }) => readUsageTotal(tree.rows, tree.head.conversationId, USAGE_OF.all));
  }

  /** What one of its own turns used; `no_turn` if it has none of this id. */
  async ofTurn(turnId: TurnId): Promise<UsageTotal> {
    assertId(turnId, 'turnId');
    return this.#access.view(({ tree }) => {
      if (!ownTurn(tree, turnId)) throw new TurnkeepError('no_turn', { turnId });
      return readUsageTotal(tree.rows, tree.head.conversationId, USAGE_OF.turn(turnId));
    });
  }

  /** The days on which anything was used, oldest first. */
  async byDay(range: DayRange = {}): Promise<readonly DayUsage[]> {
    const { from, to } = daysOf(range);
    return this.#access.view(({ tree }) => readUsageByDay(tree.rows, tree.head.conversationId, from, to));
  }
}

/** What all conversations of a namespace used, including those erased since: sums hold nobody's words. */
export class NamespaceUsage {
  readonly #access: Access;
  readonly #namespace: NamespaceId;
  readonly #shelf: ConversationId = SHELVES.usage;

  constructor(access: Access, namespace: NamespaceId) {
    this.#access = access;
    this.#namespace = namespace;
  }

  /** All that was ever used, by model and currency. */
  async total(): Promise<UsageTotal> {
    return this.#access.read(this.#namespace, (rows) => readUsageTotal(rows, this.#shelf, USAGE_OF.all));
  }

  /** The days on which anything was used, oldest first. */
  async byDay(range: DayRange = {}): Promise<readonly DayUsage[]> {
    const { from, to } = daysOf(range);
    return this.#access.read(this.#namespace, (rows) => readUsageByDay(rows, this.#shelf, from, to));
  }
}

/** The first and the last day that a date can express. */
const [FIRST_DAY, LAST_DAY] = [-100_000_000, 100_000_000];

const RANGE: Checks<DayRange> = { from: text, to: text };

function daysOf(range: DayRange): { readonly from: number; readonly to: number } {
  assertChecked(range, RANGE, 'range');
  const { from, to } = range;
  return {
    from: from === undefined ? FIRST_DAY : dayNumber(from, 'from'),
    to: to === undefined ? LAST_DAY : dayNumber(to, 'to'),
  };
}

function dayNumber(day: string, path: string): number {
  const at = /^(\d{4}|[+-]\d{6})-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(at) || dayText(dayOf(at)) !== day)
    throw new TurnkeepError('invalid_value', { path, reason: 'expected a day, as 2026-11-29' });
  return dayOf(at);
}
