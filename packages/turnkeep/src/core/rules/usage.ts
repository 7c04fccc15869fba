import { z } from 'zod';
import type { RowValue } from '../backend.ts';
import type { UsageRecord } from '../change.ts';
import { DECIMAL } from '../decimal.ts';
import type { Draft } from '../draft.ts';
import { sameJson } from '../encoding.ts';
import { TurnkeepError } from '../errors.ts';
import type { RecordRef } from '../head.ts';
import type { ConversationId, TurnId, UsageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { dayOf, KEYS, USAGE_OF } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { code, id, json } from '../shapes.ts';
import { SHELVES } from '../shelf.ts';
import { ownTurn } from '../tree/path.ts';
import { addUsage, NO_USAGE, packUsage, unpackUsage } from '../usage-sum.ts';
import type { UsageSum } from '../usage-sum.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { ancestorsOf } from './sub-agent.ts';

const tokens = z
  .int()
  .min(0)
  .superRefine((value, context) => {
    if (value <= LIMITS.usageCount) return;
    context.addIssue({ code: 'custom', message: 'too many', params: { limit: 'usageCount', actual: value } });
  })
  .optional();

const amount = z
  .string()
  .regex(DECIMAL, 'a decimal is digits, with a fraction where there is a point')
  .superRefine((value, context) => {
    if (value.length <= LIMITS.amountDigits) return;
    context.addIssue({ code: 'custom', message: 'too long', params: { limit: 'amountDigits', actual: value.length } });
  });

// As ISO 4217 writes them: `usd` beside `USD` would be another sum.
const currency = z.string().regex(/^[A-Z]{3}$/, 'a currency is three capital letters, as in ISO 4217: USD');

/**
 * What a model call used, recorded once under its id, in the commit of what it paid for; the same again is a no-op. It
 * needs no fence: it was paid, whoever holds the turn now. A sub-agent's counts for the turns above it too.
 */
export const usageRecord: Rule<'usage.record'> = {
  shape: z.strictObject({
    kind: z.literal('usage.record'),
    usageId: id.optional(),
    turnId: id.optional(),
    provider: id,
    model: id,
    inputTokens: tokens,
    cachedInputTokens: tokens,
    cacheWriteTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
    latencyMs: tokens,
    cost: z.strictObject({ amount, currency }).optional(),
    purpose: code.optional(),
    raw: json.optional(),
  }),
  complete: (change, mint) => ({ ...change, usageId: change.usageId ?? mint('use') }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, usageId: given, ...said } = change;
    const usageId = given as UsageId;
    if (turnId !== undefined && !ownTurn(draft.tree, turnId)) throw new TurnkeepError('no_turn', { turnId });
    const body = { ...said, turnId } as unknown as JsonObject;
    if (isKnown(draft, usageId, body)) return { kind, usageId, noop: true };
    const record = draft.addRecord(body, path);
    draft.put(KEYS.usage(usageId), [draft.version, record]);
    addToSums(draft, turnId, change);
    return turnId === undefined ? { kind, usageId, record } : { kind, usageId, turnId, record };
  },
  leaves: (left, { usageId }) => void left.here(KEYS.usage(usageId), `usage ${usageId}`),
  saidBefore({ rows, head: { conversationId: owner } }, { usageId }) {
    const known = rows.get(owner, KEYS.usage(usageId));
    return known && refOf(owner, known);
  },
};

/** True if the same was recorded before; `usage_conflict` if something else was. */
function isKnown(draft: Draft, usageId: UsageId, body: JsonObject): boolean {
  const known = draft.get(KEYS.usage(usageId));
  if (!known) return false;
  const ref = refOf(draft.conversationId, known);
  if (!sameJson(draft.body(ref), body)) throw new TurnkeepError('usage_conflict', { usageId });
  draft.saltWith(ref);
  return true;
}

function refOf(owner: ConversationId, row: RowValue): RecordRef {
  const [version, index] = row as readonly [number, number];
  return { owner, version, index };
}

function addToSums(draft: Draft, turnId: TurnId | undefined, change: UsageRecord): void {
  const { provider, model, cost } = change;
  const counts = Object.fromEntries(Object.entries(change).filter(([, value]) => typeof value === 'number'));
  const used: UsageSum = { ...NO_USAGE, ...counts, calls: 1, amount: cost?.amount ?? null };
  const by = { provider, model, currency: cost?.currency ?? '' };
  const day = USAGE_OF.day(dayOf(draft.envelope.now));
  const own = draft.conversationId;
  for (const scope of [...(turnId === undefined ? [] : [USAGE_OF.turn(turnId)]), USAGE_OF.all, day])
    add(draft, own, KEYS.usageSum(scope, by), used);
  for (const { conversationId, turnId: above, head } of ancestorsOf(draft, draft.head)) {
    if (head.erasedAt !== null) break;
    for (const scope of [USAGE_OF.turn(above), USAGE_OF.all, day])
      add(draft, conversationId, KEYS.usageSum(scope, by), used);
  }
  draft.openShelf(SHELVES.usage);
  for (const scope of [USAGE_OF.all, day]) add(draft, SHELVES.usage, KEYS.usageSum(scope, by), used);
}

function add(draft: Draft, owner: ConversationId, key: string, used: UsageSum): void {
  const before = draft.rows.get(owner, key);
  draft.putElsewhere(owner, key, packUsage(addUsage(before ? unpackUsage(before) : NO_USAGE, used)));
}
