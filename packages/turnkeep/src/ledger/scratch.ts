import type { NamespaceId } from '../core/ids.ts';
import type { Access } from './access.ts';

/** Removes what is left beside the log of conversations that were erased. */
export async function sweepScratch(access: Access, namespace: NamespaceId): Promise<void> {
  const { scratch } = access.backend;
  const places = await scratch.list(namespace);
  const gone = await access.read(namespace, (rows) =>
    places.filter(({ conversationId }) => (rows.head(conversationId)?.erasedAt ?? null) !== null),
  );
  for (const place of gone) await scratch.remove(place);
}
