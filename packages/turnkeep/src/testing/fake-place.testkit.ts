import { compareKeys } from '../core/backend.ts';
import type { Envelope, WriteSet } from '../core/backend.ts';
import { decide } from '../core/decide.ts';
import type { NamespaceId } from '../core/ids.ts';
import { MemoryAttachments } from '../memory/memory-attachments.ts';
import type { MemoryRows } from '../memory/memory-attachments.ts';
import { MemoryNamespace } from '../memory/memory-namespace.ts';
import { MemoryScratch } from '../memory/memory-scratch.ts';
import { sha256 } from '../platform/hash.ts';

/** What a store's disk holds: what was synced, in order. A reopening plays it again. */
export type Synced =
  | { readonly envelope: Envelope }
  | { readonly collected: NamespaceId }
  | { readonly cooled: NamespaceId; readonly hotMessages: number }
  | { readonly shelved: NamespaceId; readonly writes: WriteSet };

function namespaceOf(entry: Synced): NamespaceId {
  if ('envelope' in entry) return entry.envelope.commit.namespace;
  if ('shelved' in entry) return entry.shelved;
  return 'collected' in entry ? entry.collected : entry.cooled;
}

/** A store of the fake: its disk, by namespace, and the memory that its open handles share. */
export class Place {
  readonly disk: Map<NamespaceId, Synced[]> = new Map();
  readonly #live: Map<NamespaceId, MemoryNamespace> = new Map();
  readonly listeners: Map<NamespaceId, Set<() => void>> = new Map();
  readonly scratch: MemoryScratch = new MemoryScratch();
  readonly shelves: MemoryRows = {
    rows: (namespace) => this.live(namespace) ?? new MemoryNamespace(),
    write: (namespace, writes) => {
      this.sync({ shelved: namespace, writes });
      this.rows(namespace).apply(writes);
    },
    sha256,
  };
  readonly attachments: MemoryAttachments = new MemoryAttachments(this.shelves);
  handles = 0;

  /** The first handle after a time without any finds what was synced, and nothing else. */
  attach(): void {
    this.handles += 1;
    if (this.handles === 1) this.#live.clear();
  }

  /** What the open handles see of a namespace; played from the disk when it is first asked for. */
  live(namespace: NamespaceId): MemoryNamespace | undefined {
    return this.#live.get(namespace) ?? (this.disk.has(namespace) ? this.rows(namespace) : undefined);
  }

  rows(namespace: NamespaceId): MemoryNamespace {
    let rows = this.#live.get(namespace);
    if (rows) return rows;
    this.#live.set(namespace, (rows = new MemoryNamespace()));
    for (const entry of this.disk.get(namespace) ?? []) replay(rows, entry);
    return rows;
  }

  names(): readonly NamespaceId[] {
    return [...new Set([...this.disk.keys(), ...this.#live.keys()])].sort(compareKeys);
  }

  sync(entry: Synced): void {
    const namespace = namespaceOf(entry);
    const entries = this.disk.get(namespace);
    // What is not on the disk yet must not be played from it twice.
    this.rows(namespace);
    if (entries) entries.push(entry);
    else this.disk.set(namespace, [entry]);
  }
}

function replay(rows: MemoryNamespace, entry: Synced): void {
  const apply = (writes: WriteSet) => rows.apply(writes);
  if ('collected' in entry) rows.collect(apply);
  else if ('cooled' in entry) rows.cool(entry.hotMessages);
  else if ('shelved' in entry) apply(entry.writes);
  else {
    const decision = decide(rows, entry.envelope, sha256);
    if (decision.outcome === 'write') apply(decision.writes);
  }
}
