import { expect } from 'vitest';
import type { Backend, RowReader } from '../core/backend.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { KEYS, numbersIn, prefixEnd, TABLES } from '../core/keys.ts';
import { graphTurns } from '../core/read/graph.ts';
import { conversationsIn } from './export.ts';
import { assertChains } from './verify.ts';

/** What holds of every store at every moment: I3, I5, I8, and I9's digests. */
export async function assertInvariants(backend: Backend, namespace: NamespaceId): Promise<void> {
  await assertChains(backend, namespace);
  await backend.read(namespace, (rows) => {
    for (const conversation of conversationsIn(rows)) {
      if (rows.head(conversation)?.erasedAt !== null) continue;
      assertSequences(rows, conversation);
      assertTree(rows, conversation);
    }
  });
  await assertFeed(backend, namespace);
}

/** I3: a conversation’s own sequences have no gap and no repeat, and end where its head says. */
function assertSequences(rows: RowReader, conversation: ConversationId): void {
  const head = rows.head(conversation);
  const own = rowsOf(rows, conversation, TABLES.messages)
    .map((key) => numbersIn(key, 1)[2] as number)
    .sort((left, right) => left - right);
  expect(own.length, 'own messages').toBe(head?.messages);
  if (own.length === 0) return;
  const first = (head?.lastSequence ?? 0) - own.length + 1;
  expect(own).toEqual(own.map((_, at) => first + at));
}

/** I5: a turn’s parent is seen and older; ordinals under a parent have no gap and no repeat. */
function assertTree(rows: RowReader, conversation: ConversationId): void {
  const head = rows.head(conversation);
  if (!head) return;
  const seen = new Set<string | null>([null]);
  for (const turn of graphTurns({ rows, head })) {
    expect(seen.has(turn.parentTurnId), `the parent of ${turn.turnId} comes before it`).toBe(true);
    expect(seen.has(turn.turnId), `turn ${turn.turnId} is there once`).toBe(false);
    seen.add(turn.turnId);
  }
  for (const parent of seen) {
    const ordinals = rowsOf(rows, conversation, KEYS.children(parent)).map(
      (key) => numbersIn(key, key.lastIndexOf('\u0001') + 1)[0] as number,
    );
    expect(ordinals).toEqual(ordinals.map((_, at) => (ordinals[0] ?? 1) + at));
  }
}

/** I8: within a conversation the feed has no gap and no repeat. */
async function assertFeed(backend: Backend, namespace: NamespaceId): Promise<void> {
  const last = new Map<ConversationId, number>();
  for (const { conversationId, version } of await backend.feed(namespace, 0, 10_000)) {
    expect(version, `the feed of ${conversationId}`).toBe((last.get(conversationId) ?? 0) + 1);
    last.set(conversationId, version);
  }
  await backend.read(namespace, (rows) => {
    for (const id of conversationsIn(rows))
      expect(last.get(id) ?? 0, `the end of the feed of ${id}`).toBe(rows.head(id)?.version);
  });
}

function rowsOf(rows: RowReader, conversation: ConversationId, prefix: string): readonly string[] {
  return rows.scan(conversation, { from: prefix, to: prefixEnd(prefix) }).map((row) => row.key);
}
