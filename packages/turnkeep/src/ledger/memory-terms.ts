import type { MemoryId, NamespaceId } from '../core/ids.ts';
import type { Bodies } from '../core/read/bodies.ts';
import { heldMemories, memoryAt } from '../core/read/memories.ts';
import type { HeldMemory } from '../core/read/memories.ts';
import { countTerms } from '../core/read/memory-rank.ts';
import type { TermCounts } from '../core/read/memory-rank.ts';

/** The most terms kept for all namespaces together: some 50 MB. */
const KEPT_TERMS = 500_000;

/** A memory as a search ranks it. */
export interface KnownMemory extends TermCounts {
  readonly held: HeldMemory;
  readonly type: string | undefined;
  readonly subject: string | undefined;
}

interface Kept {
  readonly byId: ReadonlyMap<MemoryId, KnownMemory>;
  readonly terms: number;
}

/**
 * The terms of memories, kept in this process between searches. Every search reads which memories there are and which
 * record each one's words are in, and a record never changes. So what is kept is never out of date; the terms of forgotten
 * memories go with the next search.
 */
export class MemoryTerms {
  readonly #byNamespace = new Map<NamespaceId, Kept>();

  /** Every memory that a namespace holds in this snapshot. */
  of(namespace: NamespaceId, bodies: Bodies): readonly KnownMemory[] {
    const before = this.#byNamespace.get(namespace)?.byId;
    const byId = new Map<MemoryId, KnownMemory>();
    let terms = 0;
    const all = heldMemories(bodies.rows).flatMap((held) => {
      const kept = before?.get(held.memoryId);
      const known = kept && isSameRecord(kept.held, held) ? kept : count(bodies, held);
      if (!known) return [];
      terms += known.counts.size;
      if (terms <= KEPT_TERMS) byId.set(held.memoryId, known);
      return [known];
    });
    this.#keep(namespace, { byId, terms: Math.min(terms, KEPT_TERMS) });
    return all;
  }

  /** The namespace whose last search is the longest ago is dropped first. */
  #keep(namespace: NamespaceId, kept: Kept): void {
    this.#byNamespace.delete(namespace);
    this.#byNamespace.set(namespace, kept);
    let terms = 0;
    for (const one of this.#byNamespace.values()) terms += one.terms;
    for (const [oldest, one] of this.#byNamespace) {
      if (terms <= KEPT_TERMS) return;
      this.#byNamespace.delete(oldest);
      terms -= one.terms;
    }
  }
}

function isSameRecord({ row: { ref: left } }: HeldMemory, { row: { ref: right } }: HeldMemory): boolean {
  return left.version === right.version && left.index === right.index && left.owner === right.owner;
}

function count(bodies: Bodies, held: HeldMemory): KnownMemory | undefined {
  const memory = memoryAt(bodies, held);
  return memory && { ...countTerms(memory.text), held, type: memory.type, subject: memory.subject };
}
