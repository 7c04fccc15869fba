import type { Scratch, ScratchPlace } from '../core/backend.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { SqlRow, Statement } from './driver/driver.ts';
import { inSession } from './driver/session.ts';
import { deleteScratch, listScratch, putScratch, readScratch } from './sql/scratch.ts';
import { begin, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

/** Scratch values in an unlogged table: nothing of them goes to the log of the server, and a crash of it empties the table. */
export class PostgresScratch implements Scratch {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async put(place: ScratchPlace, value: string): Promise<void> {
    await this.#run(place.namespace, putScratch(this.#store.schema, place, value));
  }

  async get(place: ScratchPlace): Promise<string | undefined> {
    const [row] = await this.#run(place.namespace, readScratch(this.#store.schema, place));
    return row?.[0] as string | undefined;
  }

  async remove(place: ScratchPlace): Promise<void> {
    await this.#run(place.namespace, deleteScratch(this.#store.schema, place));
  }

  async list(namespace: NamespaceId): Promise<readonly ScratchPlace[]> {
    const rows = await this.#run(namespace, listScratch(this.#store.schema, namespace));
    return rows.map(([conversationId, key]) => ({
      namespace,
      conversationId: conversationId as string,
      key: key as string,
    }));
  }

  async #run(namespace: NamespaceId, statement: Statement): Promise<readonly SqlRow[]> {
    return inSession(this.#store, async (session) => {
      const results = await session.run([begin(), enterNamespace(namespace), statement, commit()]);
      return results[2] ?? [];
    });
  }
}
