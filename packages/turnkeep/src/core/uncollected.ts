import type { RowReader } from './backend.ts';
import { isTurnkeepError } from './errors.ts';
import type { TurnkeepError } from './errors.ts';
import type { Finding } from './finding.ts';
import type { ConversationId, NamespaceId } from './ids.ts';
import { prefixEnd } from './keys.ts';

/** An erased conversation that still holds something. */
export interface Uncollected {
  readonly conversationId: ConversationId;
  readonly version: number;
}

/** What cannot be read of a conversation (its head, its rows or its commits), in words; `undefined` if everything can. */
export function unreadIn(rows: RowReader, { conversationId, version }: Uncollected): readonly string[] {
  const conversation = `conversation ${conversationId}`;
  const inRows = damageOf(() => [
    rows.head(conversationId),
    rows.scan(conversationId, { from: '', to: prefixEnd('') }),
  ]);
  let count = 0;
  let first = '';
  for (let at = 1; at <= version; at++) {
    const damage = damageOf(() => rows.log(conversationId, at));
    if (!damage) continue;
    count += 1;
    first ||= damage.details.place;
  }
  return [
    ...(inRows ? [`${conversation}, at ${inRows.details.place}`] : []),
    ...(count > 0 ? [`${count} commits of ${conversation}, the first at ${first}`] : []),
  ];
}

function damageOf(read: () => unknown): TurnkeepError<'corrupt'> | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return error;
    throw error;
  }
}

/** The finding for a namespace in which something erased cannot be read, so that a collection cannot remove it. */
export function uncollectedFindings(
  namespace: NamespaceId,
  places: readonly string[],
  restore: string,
): readonly Finding[] {
  if (places.length === 0) return [];
  const says = `namespace ${namespace}: of what was erased there stays what cannot be read: ${places.join('; ')}`;
  const advice = `${restore}, then run turnkeep maintain: it takes the rest out`;
  return [{ check: 'uncollected', status: 'problem', says, advice }];
}
