import { TurnkeepError } from '../../core/errors.ts';
import { newHead } from '../../core/head.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { parseStored } from '../../core/stored-json.ts';

/** What each field of a head is like: where it is `null` here, it may be anything but absent. */
const SHAPE = Object.entries({ ...newHead('', 0, ''), rowSum: null });
const OPTIONAL = 'rowSum';

/** The head in a row of a conversation; `corrupt` where a byte of it is another, so that it is none, or another one's. */
export function parseHead(text: string, id: ConversationId): Head {
  const head = parseStored(text, 'heads', id) as Readonly<Record<string, unknown>> | null;
  const problem = typeof head === 'object' && head ? problemOf(head, id) : 'it is no head';
  if (problem !== undefined) throw new TurnkeepError('corrupt', { place: `table heads, ${id}`, reason: problem });
  return head as unknown as Head; // it has its shape
}

function problemOf(head: Readonly<Record<string, unknown>>, id: ConversationId): string | undefined {
  if (head['conversationId'] !== id) return 'it is the head of another conversation';
  const field = SHAPE.find(([name, like]) => name !== OPTIONAL && !isLike(head[name], like));
  return field && `its ${field[0]} is not as it can be`;
}

function isLike(value: unknown, like: unknown): boolean {
  if (typeof like === 'number') return Number.isSafeInteger(value);
  if (like === null) return value !== undefined;
  return typeof value === typeof like && Array.isArray(value) === Array.isArray(like);
}
