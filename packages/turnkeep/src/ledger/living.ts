import type { HeadQuery } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import type { NamespaceId } from '../core/ids.ts';
import { isShelf } from '../core/shelf.ts';
import type { Access } from './access.ts';

const HEADS = 500;

/** A head of a conversation that was not erased. */
export type LivingHead = Head & { readonly erasedAt: null };

/** Every conversation of a namespace that was not erased, newest first, in snapshots of some hundred. */
export async function* livingHeads(access: Access, namespace: NamespaceId): AsyncGenerator<LivingHead> {
  let query: HeadQuery = { order: 'created', limit: HEADS };
  for (;;) {
    const heads = await access.read(namespace, (rows) => rows.heads(query));
    for (const head of heads) if (head.erasedAt === null && !isShelf(head.conversationId)) yield head as LivingHead;
    const last = heads.at(-1);
    if (!last || heads.length < HEADS) return;
    query = { ...query, after: { at: last.createdAt, conversationId: last.conversationId } };
  }
}
