import type { HeadQuery, Row, RowRange, RowValue } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import { BoundedMap } from '../../core/bounded-map.ts';
import { KeptReads } from '../../core/kept-reads.ts';
import { hashesOf } from './bloom.ts';
import { conversationPrefix, fromByteKey, toByteKey } from './byte-key.ts';
import { INDEX, NO_CONVERSATION } from './index-keys.ts';
import { compareListed, fits, listedIn, listingRange, placeOf } from './listing.ts';
import { Merge, sourceOf } from './merge.ts';
import type { Source } from './merge.ts';
import { headRow, Recent } from './recent.ts';
import type { RecentRows } from './recent.ts';
import type { RunReader } from './run-reader.ts';
import type { IndexDamage } from '../store-error.ts';

/** Conversations of which is kept what was read. */
const KEPT_CONVERSATIONS = 1_024;

interface Kept {
  readonly namespace: NamespaceId;
  readonly conversation: ConversationId;
  readonly kept: KeptReads;
}

interface IndexEntry {
  readonly key: string;
  readonly value: Buffer | RowValue | null;
}

/** What an index is made of. */
export interface IndexParts {
  readonly recent: Recent;
  readonly folding: Recent | undefined;
  readonly runs: readonly RunReader[];
}

/**
 * The index over the log: what came since the last fold, what is just being folded, and the runs, newest first. Every
 * row of the store by (namespace, conversation, key), and each conversation's head.
 */
export class IndexState {
  recent: Recent = new Recent();
  folding: Recent | undefined;
  runs: readonly RunReader[] = [];
  /** Set while it lacks what the log has: it was found damaged, and has not been built anew. Nothing may rely on it then. */
  unbuilt: IndexDamage | undefined;
  /**
   * What was read of a conversation, whichever of these it was in: a fold changes nothing that is read. But of a
   * namespace's own rows, where the listing of heads is written with the fold, nothing is kept.
   */
  readonly #kept = new BoundedMap<string, KeptReads>(KEPT_CONVERSATIONS);
  /** The conversation that was asked for last: the rows of a commit are of one. */
  #last: Kept | undefined;

  get(namespace: NamespaceId, conversation: ConversationId, key: string): RowValue | undefined {
    for (const recent of [this.recent, this.folding]) {
      const put = recent?.get(namespace, conversation, key);
      if (put !== undefined) return put ?? undefined;
    }
    if (this.runs.length === 0) return undefined;
    const look = () => this.#folded(namespace, conversation, key);
    return conversation === NO_CONVERSATION ? look() : this.#keptOf(namespace, conversation).value(key, look);
  }

  #folded(namespace: NamespaceId, conversation: ConversationId, key: string): RowValue | undefined {
    const byteKey = conversationPrefix(namespace, conversation) + toByteKey(key);
    const hashes = hashesOf(byteKey);
    for (const run of this.runs) {
      const value = run.get(byteKey, hashes);
      if (value !== undefined) return value === null ? undefined : parse(value);
    }
    return undefined;
  }

  scan(namespace: NamespaceId, conversation: ConversationId, range: RowRange): readonly Row[] {
    const look = (asked: RowRange) => this.#scan(namespace, conversation, asked);
    return conversation === NO_CONVERSATION ? look(range) : this.#keptOf(namespace, conversation).rows(range, look);
  }

  #keptOf(namespace: NamespaceId, conversation: ConversationId): KeptReads {
    const known = this.#keptNow(namespace, conversation);
    if (known) return known;
    const kept = new KeptReads({ isNew: !this.#mayHaveRows(namespace, conversation) });
    this.#kept.set(nameOf(namespace, conversation), kept);
    return kept;
  }

  /** False where a conversation surely has no row; its head may be gone from lines that are scrubbed, and places be there. */
  #mayHaveRows(namespace: NamespaceId, conversation: ConversationId): boolean {
    if (this.recent.rowsOf(namespace, conversation) ?? this.folding?.rowsOf(namespace, conversation)) return true;
    const hashes = hashesOf(conversationPrefix(namespace, conversation));
    return this.runs.some((run) => run.mayHave(hashes));
  }

  /** What is kept of a conversation now. */
  #keptNow(namespace: NamespaceId, conversation: ConversationId): KeptReads | undefined {
    const last = this.#last;
    if (last?.conversation === conversation && last.namespace === namespace) return last.kept;
    const kept = this.#kept.get(nameOf(namespace, conversation));
    if (kept) this.#last = { namespace, conversation, kept };
    return kept;
  }

  #scan(namespace: NamespaceId, conversation: ConversationId, range: RowRange): readonly Row[] {
    const rows: Row[] = [];
    const limit = range.limit ?? Infinity;
    const source = this.#sources(namespace, conversation, range);
    while (rows.length < limit) {
      const row = nextRow(source);
      if (!row) break;
      rows.push(row);
    }
    return rows;
  }

  /** The rows of a range, one after the other, as long as nothing is written. */
  *entries(namespace: NamespaceId, conversation: ConversationId, range: RowRange): Generator<Row> {
    const source = this.#sources(namespace, conversation, range);
    for (let row = nextRow(source); row; row = nextRow(source)) yield row;
  }

  #sources(namespace: NamespaceId, conversation: ConversationId, range: RowRange): Source<IndexEntry> {
    const sources: Source<IndexEntry>[] = [];
    for (const recent of [this.recent, this.folding]) {
      const rows = recent?.rowsOf(namespace, conversation);
      if (rows) sources.push(recentEntries(rows, range));
    }
    if (this.runs.length > 0) {
      const prefix = conversationPrefix(namespace, conversation);
      const hashes = hashesOf(prefix);
      for (const run of this.runs) if (run.mayHave(hashes)) sources.push(runEntries(run, prefix, range));
    }
    return new Merge(sources, range.reverse === true);
  }

  put(namespace: NamespaceId, conversation: ConversationId, key: string, value: RowValue | null): void {
    this.recent.put(namespace, conversation, key, value);
    this.#keep(namespace, conversation, key, value);
  }

  #keep(namespace: NamespaceId, conversation: ConversationId, key: string, value: RowValue | null): void {
    this.#keptNow(namespace, conversation)?.put(key, value);
  }

  putHead(namespace: NamespaceId, head: Head): void {
    this.recent.putHead(namespace, head, () => this.head(namespace, head.conversationId));
    this.#keep(namespace, head.conversationId, INDEX.head, headRow(head));
  }

  head(namespace: NamespaceId, conversation: ConversationId): Head | undefined {
    return this.get(namespace, conversation, INDEX.head)?.[0] as Head | undefined;
  }

  /** A page of heads: those that changed since the fold are in memory, the others are listed by the runs. */
  heads(namespace: NamespaceId, query: HeadQuery): readonly Head[] {
    const changed = this.#changedHeads(namespace);
    const waiting = [...changed.values()]
      .filter((head) => fits(head, query))
      .sort((left, right) => compareListed(placeOf(left, query.order), placeOf(right, query.order)));
    const page: Head[] = [];
    let next = 0;
    for (const head of this.#listed(namespace, query, changed)) {
      const place = placeOf(head, query.order);
      for (let first = waiting[next]; first && page.length < query.limit; first = waiting[next]) {
        if (compareListed(placeOf(first, query.order), place) > 0) break;
        page.push(first);
        next += 1;
      }
      if (page.length >= query.limit) return page;
      page.push(head);
    }
    return [...page, ...waiting.slice(next)].slice(0, query.limit);
  }

  #changedHeads(namespace: NamespaceId): ReadonlyMap<ConversationId, Head> {
    const changed = new Map<ConversationId, Head>();
    for (const recent of [this.folding, this.recent]) {
      for (const [conversation, { head }] of recent?.headsOf(namespace) ?? []) changed.set(conversation, head);
    }
    return changed;
  }

  *#listed(namespace: NamespaceId, query: HeadQuery, changed: ReadonlyMap<ConversationId, Head>): Generator<Head> {
    if (query.limit <= 0) return;
    for (const { key } of this.entries(namespace, NO_CONVERSATION, listingRange(query))) {
      const conversation = listedIn(key, query);
      const head = changed.has(conversation) ? undefined : this.head(namespace, conversation);
      if (head) yield head;
    }
  }

  /** Another state of the store takes the place of this one. */
  close(): void {
    for (const run of this.runs) run.close();
    this.begin({ recent: new Recent(), folding: undefined, runs: [] });
  }

  /** Takes the place of what it was; answers that, its runs open. */
  begin({ recent, folding, runs }: IndexParts): IndexParts {
    const before = { recent: this.recent, folding: this.folding, runs: this.runs };
    this.#kept.clear();
    this.#last = undefined;
    this.recent = recent;
    this.folding = folding;
    this.runs = runs;
    return before;
  }
}

function nameOf(namespace: NamespaceId, conversation: ConversationId): string {
  return `${namespace}\u0001${conversation}`;
}

function parse(value: Buffer): RowValue {
  return JSON.parse(value.toString('utf8', 0, value.length)) as RowValue; // its block's checksum was right: we wrote it
}

/** The next row that is not removed. */
function nextRow(source: Source<IndexEntry>): Row | undefined {
  for (let entry = source.next(); entry; entry = source.next()) {
    const { key, value } = entry;
    if (value !== null) return { key: fromByteKey(key), value: Buffer.isBuffer(value) ? parse(value) : value };
  }
  return undefined;
}

function recentEntries(rows: RecentRows, range: RowRange): Source<IndexEntry> {
  const source = sourceOf(rows.range(range));
  return {
    next() {
      const row = source.next();
      return row && { key: toByteKey(row[0]), value: row[1] };
    },
  };
}

function runEntries(run: RunReader, prefix: string, range: RowRange): Source<IndexEntry> {
  const source = run.scan(prefix + toByteKey(range.from), prefix + toByteKey(range.to), range.reverse === true);
  return {
    next() {
      const entry = source.next();
      return entry && { key: entry.key.slice(prefix.length), value: entry.value };
    },
  };
}
