import type { RowValue, WriteSet } from '../core/backend.ts';
import { assert } from '../core/errors.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId } from '../core/ids.ts';
import { KEYS } from '../core/keys.ts';
import type { Statement } from './driver.ts';
import { packLog } from './log-codec.ts';
import type { Schema } from './schema-name.ts';
import type { Places, Snapshot } from './snapshot.ts';
import { markBlocks } from './sql/blocks.ts';
import { dropHeads } from './sql/add-heads.ts';
import { queueForFeed } from './sql/feed.ts';
import { putHeads, putRecency } from './sql/put-heads.ts';
import { addLogs, editLogs } from './sql/put-logs.ts';
import type { LogToPut } from './sql/put-logs.ts';
import { putRows, removeRows } from './sql/put-rows.ts';
import { unfoldWords } from './sql/search.ts';

/** A conversation whose head this transaction holds. */
export interface Held {
  readonly c: string;
  /** True where it has no commit yet. */
  readonly isNew: boolean;
  rank: number;
  places: Places;
}

/** The write sets of a group, as few statements: one for each kind of row, however many commits there are. */
export class WriteBatch {
  readonly #held: ReadonlyMap<ConversationId, Held>;
  readonly #snapshot: Snapshot;
  readonly #heads = new Map<ConversationId, Head>();
  readonly #rows = new Map<ConversationId, Map<string, RowValue | null>>();
  readonly #logs = new Map<string, LogToPut>();
  readonly #edits = new Map<string, LogToPut>();
  readonly #placed: { c: string; version: number; rank: number }[] = [];

  #rank = 0;

  /** `snapshot` is what the commits were decided on. */
  constructor(held: ReadonlyMap<ConversationId, Held>, snapshot: Snapshot) {
    this.#held = held;
    this.#snapshot = snapshot;
  }

  get isEmpty(): boolean {
    return this.#heads.size + this.#rows.size + this.#edits.size === 0;
  }

  /** The conversations that a write set touches and whose head is not held. */
  notHeld(writes: WriteSet): readonly ConversationId[] {
    return [...touchedBy(writes)].filter((id) => !this.#held.has(id));
  }

  /** Ranks begin at the server's clock, in microseconds: a commit that ended before this one began has a lower one. */
  beginAt(clock: number): void {
    this.#rank = clock;
  }

  /** True where a commit of this batch writes the conversation's head. */
  hasHead(conversation: ConversationId): boolean {
    return this.#heads.has(conversation);
  }

  add(writes: WriteSet): void {
    // The clock may go back: what a commit follows has a lower rank whatever it says.
    const rank = 1 + Math.max(this.#rank, ...[...touchedBy(writes)].map((id) => this.#heldOf(id).rank));
    this.#rank = rank;
    if (writes.log) this.#addLog(writes.log.conversation, writes.log.record.version, rank, writes.log.record);
    for (const { conversation, key, value } of writes.rows) this.#addRow(conversation, key, value);
    for (const edit of writes.edits) this.#addEdit(edit);
    for (const head of writes.heads) this.#addHead(head, writes);
  }

  statements(schema: Schema, namespace: string): readonly Statement[] {
    const { put, removed } = this.#sortedRows();
    const heads = [...this.#heads.values()];
    const logs = [...this.#logs.values()];
    const edits = [...this.#edits.values()];
    const unused = this.#unused();
    return [
      heads.length > 0 &&
        putHeads(
          schema,
          namespace,
          heads.map((head) => this.#headToPut(head)),
        ),
      heads.length > 0 && putRecency(schema, namespace, heads),
      removed.length > 0 && removeRows(schema, namespace, removed),
      put.length > 0 && putRows(schema, namespace, put),
      logs.length > 0 && addLogs(schema, namespace, logs),
      edits.length > 0 && markBlocks(schema, namespace, edits),
      edits.length > 0 && editLogs(schema, namespace, edits),
      edits.length > 0 && unfoldWords(schema, namespace, edits),
      this.#placed.length > 0 && queueForFeed(schema, namespace, this.#placed),
      unused.length > 0 && dropHeads(schema, namespace, unused),
    ].filter((statement) => statement !== false);
  }

  #addLog(conversation: ConversationId, version: number, rank: number, log: Parameters<typeof packLog>[0]): void {
    const held = this.#heldOf(conversation);
    held.rank = rank;
    this.#logs.set(`${held.c} ${version}`, { c: held.c, log: packLog(log) });
    this.#placed.push({ c: held.c, version, rank });
  }

  #addRow(conversation: ConversationId, key: string, value: RowValue | null): void {
    let rows = this.#rows.get(conversation);
    if (!rows) this.#rows.set(conversation, (rows = new Map<string, RowValue | null>()));
    rows.set(key, value);
  }

  /** The log record may be of a commit of this very group. */
  #addEdit({ conversation, version, log }: WriteSet['edits'][number]): void {
    const { c } = this.#heldOf(conversation);
    const key = `${c} ${version}`;
    (this.#logs.has(key) ? this.#logs : this.#edits).set(key, { c, log: packLog(log) });
  }

  #addHead(head: Head, writes: WriteSet): void {
    const held = this.#heldOf(head.conversationId);
    const places = new Map<string, readonly [number, number]>();
    for (const turnId of head.leaf === null ? head.busy : [head.leaf, ...head.busy]) {
      const place = held.places.get(turnId) ?? this.#placeOf(head.conversationId, turnId, writes);
      if (place) places.set(turnId, place as readonly [number, number]);
    }
    held.places = places;
    this.#heads.set(head.conversationId, head);
  }

  #placeOf(conversation: ConversationId, turnId: string, writes: WriteSet): RowValue | undefined {
    const key = KEYS.turnId(turnId);
    const written = writes.rows.find((row) => row.key === key && row.conversation === conversation)?.value;
    return written ?? this.#rows.get(conversation)?.get(key) ?? this.#snapshot.peek(conversation, key);
  }

  #headToPut(head: Head) {
    const { rank, places } = this.#heldOf(head.conversationId);
    return { head, rank, places: JSON.stringify([...places]) };
  }

  /** By conversation and key: transactions that meet, meet in one order. */
  #sortedRows() {
    const put: { c: string; key: string; value: string }[] = [];
    const removed: { c: string; key: string }[] = [];
    for (const [conversation, rows] of this.#rows) {
      const { c } = this.#heldOf(conversation);
      for (const [key, value] of rows) {
        if (value === null) removed.push({ c, key });
        else put.push({ c, key, value: JSON.stringify(value) });
      }
    }
    return { put, removed };
  }

  /** Conversations that were made room for and got no commit. */
  #unused(): readonly ConversationId[] {
    return [...this.#held].flatMap(([id, { isNew }]) => (isNew && !this.#heads.has(id) ? [id] : []));
  }

  #heldOf(conversation: ConversationId): Held {
    const held = this.#held.get(conversation);
    assert(held, 'a conversation that is written is held');
    return held;
  }
}

function touchedBy(writes: WriteSet): ReadonlySet<ConversationId> {
  return new Set([
    ...writes.heads.map((head) => head.conversationId),
    ...writes.rows.map((row) => row.conversation),
    ...writes.edits.map((edit) => edit.conversation),
  ]);
}
