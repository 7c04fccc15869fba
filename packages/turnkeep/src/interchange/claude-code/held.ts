import type { JsonObject } from '../../core/json.ts';
import type { Role } from '../../core/message.ts';
import type { StoredMessage } from '../target.ts';
import type { ConversationSource } from './conversation.ts';
import { messageIdOf, rowDigests, TOOL } from './message.ts';
import { digestKey, isObject, textOf } from './row.ts';
import type { Row } from './row.ts';
import { contentDigest, loadRow } from './session-file.ts';
import { rowsOfTurn } from './turns.ts';

/** The message in which the store has a row. */
export interface HeldRow {
  readonly messageId: string;
  readonly turnId: string | null;
  readonly sequence: number;
  readonly role: Role;
}

/** Rows that the store has as its own commits of them, and all messages of these. */
export interface RecognisedRows {
  readonly rows: ReadonlySet<Row>;
  readonly messageIds: ReadonlySet<string>;
}

/** What of a session's other rows the store has, wherever they stand there. */
export interface HeldRows {
  readonly messageOf: ReadonlyMap<Row, HeldRow>;
  /** Rows whose id the store knows with other words, by what names them beside: they were edited since. */
  readonly edited: ReadonlyMap<Row, string>;
  /** True where the store has rows that the file has not: it is an older copy, or was cut. */
  readonly hasMore: boolean;
}

/** A row in the store, until one of the file is found to be it. */
interface StoredRow {
  readonly held: HeldRow;
  /** Nothing where it cannot be compared: it goes on in other messages, or its words are gone. */
  readonly digest: string | undefined;
  isFound: boolean;
}

/**
 * Finds a session's rows among the messages of its conversation: by what names them, and by what they say. What is recognised
 * is neither looked at nor looked for.
 */
export async function heldRows(
  source: ConversationSource,
  messages: AsyncIterable<StoredMessage>,
  recognised: RecognisedRows,
): Promise<HeldRows> {
  const stored = new StoredRows();
  for await (const message of messages) if (!recognised.messageIds.has(message.messageId)) stored.add(message);
  const { conversationId, file, tree } = source;
  const rows = [...tree.atRoot, ...tree.turns.flatMap(rowsOfTurn)]
    .filter((row) => !recognised.rows.has(row))
    .sort((left, right) => left.index - right.index);
  const messageOf = new Map<Row, HeldRow>();
  const edited = new Map<Row, string>();
  const rest: { readonly row: Row; readonly digest: string; readonly key: string }[] = [];
  for (const row of rows) {
    const loaded = await loadRow(file.source, row);
    const digest = contentDigest(loaded);
    const named = stored.named(messageIdOf(conversationId, row.key), digest);
    if (named === 'other') edited.set(row, digestKey(loaded.text, 1));
    const key = edited.get(row);
    const found = key === undefined ? named : stored.named(messageIdOf(conversationId, key), digest);
    if (typeof found === 'object') messageOf.set(row, found);
    else rest.push({ row, digest, key: digestKey(loaded.text, 1) });
  }
  for (const { row, digest, key } of rest) {
    const found = stored.saying(digest) ?? stored.ofId(row.uuid);
    if (found) messageOf.set(row, found);
    else if (stored.knows(row.uuid)) edited.set(row, key);
  }
  return { messageOf, edited, hasMore: stored.hasMore() };
}

class StoredRows {
  /** The rows of each message, by its id. */
  readonly #ofMessage = new Map<string, readonly StoredRow[]>();
  readonly #saying = new Map<string, StoredRow[]>();
  /** Rows that cannot be compared, by the ids that their messages name. */
  readonly #ofId = new Map<string, StoredRow>();
  readonly #ids = new Set<string>();

  add(message: StoredMessage): void {
    const { messageId, turnId, sequence, role, metadata } = message;
    const isGone = message.redaction !== undefined || message.damage !== undefined;
    const isOwn = textOf(metadata, 'tool') === TOOL && isObject(metadata) && metadata['rows'] !== undefined;
    if (!isOwn && !isGone) return;
    const held = { messageId, turnId, sequence, role };
    const digests = isGone ? undefined : rowDigests(message);
    const rows = (digests ?? [undefined]).map((digest): StoredRow => ({ held, digest, isFound: false }));
    this.#ofMessage.set(messageId, rows);
    for (const row of rows) {
      if (row.digest === undefined) continue;
      const same = this.#saying.get(row.digest);
      if (same) same.push(row);
      else this.#saying.set(row.digest, [row]);
    }
    for (const id of idsIn(metadata)) {
      this.#ids.add(id);
      if (digests === undefined) this.#ofId.set(id, rows[0] as StoredRow);
    }
  }

  /** The row that a message begins with; `other` where it says something else. */
  named(messageId: string, digest: string): HeldRow | 'other' | undefined {
    const first = this.#ofMessage.get(messageId)?.[0];
    if (first?.digest !== undefined && first.digest !== digest) return 'other';
    return first && found(first);
  }

  /** A row that says the same and is no other row's. */
  saying(digest: string): HeldRow | undefined {
    const row = this.#saying.get(digest)?.find(({ isFound }) => !isFound);
    return row && found(row);
  }

  ofId(uuid: string | undefined): HeldRow | undefined {
    const row = uuid === undefined ? undefined : this.#ofId.get(uuid);
    return row && found(row);
  }

  knows(uuid: string | undefined): boolean {
    return uuid !== undefined && this.#ids.has(uuid);
  }

  hasMore(): boolean {
    return [...this.#ofMessage.values()].some((rows) => rows.some(({ isFound }) => !isFound));
  }
}

function found(row: StoredRow): HeldRow {
  row.isFound = true;
  return row.held;
}

/** The ids that a message of an import keeps of its rows. */
function idsIn(metadata: StoredMessage['metadata']): readonly string[] {
  const ids = isObject(metadata) && Array.isArray(metadata['ids']) ? (metadata['ids'] as readonly JsonObject[]) : [];
  return ids.flatMap((named) => textOf(named, 'id') ?? []);
}
