import type { Row, RowRange, RowReader, RowValue } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { TABLES } from '../../core/keys.ts';
import { KnownRows } from './known-rows.ts';
import { boundOf } from './loader.ts';
import type { RecentConversation, RecentConversations } from './recent-conversations.ts';

export interface KeyRange {
  readonly c: string;
  readonly from: string;
  readonly to: string;
}

/** Keys, and whole ranges of keys, that no row has. */
export interface Absent {
  readonly keys: readonly { readonly c: string; readonly key: string }[];
  readonly ranges: readonly KeyRange[];
}

const OTHERS_TABLES = [TABLES.forks, TABLES.references, TABLES.spawned];

/** A commit asks for something that is not kept, and that cannot be taken for absent. */
class NotKept extends Error {}

/**
 * Rows as this process keeps them. What it does not know it takes for absent, and notes: an id that a commit brings, and
 * what would hang on it, hardly ever is there already. Before anything is written the server checks the notes; what is kept
 * of a conversation is to be forgotten where it has not.
 */
export class KeptRows implements RowReader {
  readonly #recent: RecentConversations;
  readonly #namespace: string;
  /** What is kept of the conversations that were asked for: nobody else changes that until they are written. */
  readonly #found = new Map<ConversationId, RecentConversation | undefined>();
  /** The conversations that were asked about since the last {@link takeRead}. */
  #read = new Set<ConversationId>();
  #keys: { c: string; key: string }[] = [];
  #ranges: KeyRange[] = [];

  constructor(recent: RecentConversations, namespace: string) {
    this.#recent = recent;
    this.#namespace = namespace;
  }

  /** What was taken for absent so far. */
  get absent(): Absent {
    return { keys: this.#keys, ranges: this.#ranges };
  }

  /** What is kept of a conversation. */
  of(conversation: ConversationId): RecentConversation | undefined {
    const found = this.#found.get(conversation);
    if (found !== undefined || this.#found.has(conversation)) return found;
    const kept = this.#recent.get(this.#namespace, conversation);
    this.#found.set(conversation, kept);
    return kept;
  }

  head(conversation: ConversationId): Head | undefined {
    return this.#kept(conversation).stored.head;
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    const { rows, stored } = this.#kept(conversation);
    if (isOthersTable(key)) throw new NotKept();
    const value = rows.get(key);
    if (value !== KnownRows.unknown) return value;
    rows.put(key, undefined);
    this.#keys.push({ c: stored.c, key });
    return undefined;
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    const { rows, stored } = this.#kept(conversation);
    if (isOthersTable(range.from)) throw new NotKept();
    for (;;) {
      const known = rows.scan(range);
      if (known !== KnownRows.unknown) return known;
      const gap = rows.gap(range);
      if (!gap) throw new NotKept();
      rows.putRange(gap, []);
      this.#ranges.push({ c: stored.c, from: boundOf(gap.from), to: boundOf(gap.to) });
    }
  }

  log(): never {
    throw new NotKept();
  }

  heads(): never {
    throw new NotKept();
  }

  /** A row, where it is known. */
  peek(conversation: ConversationId, key: string): RowValue | undefined {
    const value = this.of(conversation)?.rows.get(key);
    return value === KnownRows.unknown ? undefined : value;
  }

  isAbsent(conversation: ConversationId, key: string): boolean {
    const kept = isOthersTable(key) ? undefined : this.of(conversation);
    return kept !== undefined && kept.rows.get(key) === undefined;
  }

  /** The conversations that were read since the last call. */
  takeRead(): ReadonlySet<ConversationId> {
    const read = this.#read;
    this.#read = new Set();
    return read;
  }

  #kept(conversation: ConversationId): RecentConversation {
    this.#read.add(conversation);
    const kept = this.of(conversation);
    if (!kept) throw new NotKept();
    return kept;
  }
}

/**
 * A fork notes itself in its source, and takes what words that it redacts refer to; a sub-agent notes itself in its parent. All
 * leave the other's head as it is: such rows are never taken from what is kept.
 */
function isOthersTable(key: string): boolean {
  return key === '' || OTHERS_TABLES.some((table) => key.startsWith(table));
}
