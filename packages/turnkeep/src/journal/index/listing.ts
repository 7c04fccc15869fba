import { compareKeys } from '../../core/backend.ts';
import type { HeadQuery } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { numberKey } from '../../core/keys.ts';
import { sha256 } from '../../platform/hash.ts';

// `a` and `c` list by activity and by creation, `A` and `C` the same within an owner, whose name can be any text and is
// kept as a digest: newest first, ties by id.
const LETTERS = { activity: 'a', created: 'c' } as const;
const TIME_LENGTH = 12;

/** Later times are smaller text. */
function timeKey(at: number): string {
  return numberKey(Number.MAX_SAFE_INTEGER - at);
}

function listPrefix(order: HeadQuery['order'], owner: string | null | undefined): string {
  const letter = LETTERS[order];
  return owner === undefined || owner === null ? letter : letter.toUpperCase() + sha256(JSON.stringify(owner));
}

export function timeOf(head: Head, order: HeadQuery['order']): number {
  return order === 'activity' ? head.lastActivityAt : head.createdAt;
}

/** The keys under which a head is listed. */
export function listingRows(head: Head): readonly string[] {
  const key = (order: HeadQuery['order'], owner: string | null) =>
    `${listPrefix(order, owner)}${timeKey(timeOf(head, order))}${head.conversationId}`;
  const all = [key('activity', null), key('created', null)];
  return head.owner === null ? all : [...all, key('activity', head.owner), key('created', head.owner)];
}

/** The listing's keys after the place that a query begins at. */
export function listingRange(query: HeadQuery): { readonly from: string; readonly to: string } {
  const prefix = listPrefix(query.order, query.owner);
  const from = query.after ? `${prefix}${timeKey(query.after.at)}${query.after.conversationId}\u0000` : prefix;
  return { from, to: `${prefix}\u{10ffff}` };
}

/** The conversation that a listing's key names. */
export function listedIn(key: string, query: HeadQuery): ConversationId {
  return key.slice(listPrefix(query.order, query.owner).length + TIME_LENGTH);
}

/** True where a head belongs to a query's page or to a later one. */
export function fits(head: Head, query: HeadQuery): boolean {
  if (query.owner !== undefined && head.owner !== query.owner) return false;
  return !query.after || compareListed(query.after, placeOf(head, query.order)) < 0;
}

interface Listed {
  readonly at: number;
  readonly conversationId: ConversationId;
}

export function placeOf(head: Head, order: HeadQuery['order']): Listed {
  return { at: timeOf(head, order), conversationId: head.conversationId };
}

/** The order of a listing. */
export function compareListed(left: Listed, right: Listed): number {
  return right.at - left.at || compareKeys(left.conversationId, right.conversationId);
}
