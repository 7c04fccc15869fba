import type { Scratch, ScratchPlace } from '../core/backend.ts';
import type { NamespaceId } from '../core/ids.ts';

/** Scratch values of one process. */
export class MemoryScratch implements Scratch {
  readonly #values = new Map<string, { readonly place: ScratchPlace; readonly value: string }>();

  async put(place: ScratchPlace, value: string): Promise<void> {
    this.#values.set(keyOf(place), { place, value });
  }

  async get(place: ScratchPlace): Promise<string | undefined> {
    return this.#values.get(keyOf(place))?.value;
  }

  async remove(place: ScratchPlace): Promise<void> {
    this.#values.delete(keyOf(place));
  }

  async list(namespace: NamespaceId): Promise<readonly ScratchPlace[]> {
    const places = [...this.#values.values()].map(({ place }) => place);
    return places.filter((place) => place.namespace === namespace);
  }
}

function keyOf({ namespace, conversationId, key }: ScratchPlace): string {
  return JSON.stringify([namespace, conversationId, key]);
}
