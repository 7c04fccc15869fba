import { BoundedMap } from '../../core/bounded-map.ts';
import { nextToCool } from '../../core/cool.ts';
import type { CoolingPolicy } from '../../core/cool.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { LogRecord } from '../../core/log.ts';
import { blockOf } from './cool-blocks.ts';
import type { Database, SqlRow, SqlValue, Statement } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { isWal } from './store-file.ts';
import { RECORDS } from './store-schema.ts';
import { StoreReader } from './store-reader.ts';

/** Commits of the log that one step of upkeep looks at. */
const LOOK_COMMITS = 256;
/** Positions after which it is noted how far upkeep has looked, where nothing cooled meanwhile. */
const NOTE_POSITIONS = 4_096;
/** A conversation whose next block is not full yet is looked at again so many commits later. */
const LOOK_AGAIN_COMMITS = 16;
const REMEMBERED = 4_096;

/** What one step did: `raced` where another connection was in the way. */
export type CoolStep = 'cooled' | 'looked' | 'raced' | 'ended';

/**
 * Moves old commits from the log into archive blocks, a block a step. What is to cool is read and compressed first; then the
 * swap is a short transaction that begins by reading the same records again, and does nothing where they are others.
 *
 * Upkeep follows the log: a conversation can only have become due by a commit, so it is looked at when that is passed.
 */
export class Cooler {
  readonly #reader: StoreReader;
  readonly #besideReader: StoreReader;
  readonly #beside: Database;
  readonly #hotMessages: number;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #swaps: ReturnType<typeof prepareSwap>;
  /** By conversation, the version from which on a whole block may have come together. */
  readonly #notBefore = new BoundedMap<number, number>(REMEMBERED);
  #due: number[] = [];
  #position: number | undefined;
  #noted = 0;

  /** `beside` may write. */
  constructor(database: Database, beside: Database, reader: StoreReader, hotMessages: number) {
    this.#reader = reader;
    this.#beside = beside;
    this.#besideReader = new StoreReader(beside);
    this.#hotMessages = hotMessages;
    this.#statements = prepare(database);
    this.#swaps = prepareSwap(beside);
    // Nobody is told of a swap: it may become durable with the next commit, and holds the lock 10 ms less for it.
    if (isWal(beside)) beside.pragma('synchronous = NORMAL');
  }

  /** A step of upkeep: one block of a conversation that is due, or a look at the next commits of the log. */
  step(): CoolStep {
    try {
      return this.#step();
    } catch (error) {
      // No room, or a file that is damaged: it stays as it is, and a later commit has it tried again.
      if (driverFault(error).kind === 'other') throw error;
      this.#due = [];
      return 'ended';
    }
  }

  #step(): CoolStep {
    const c = this.#due.at(-1);
    if (c === undefined) return this.#look();
    const outcome = this.#orAsItIs(() => this.#coolDue(c));
    if (outcome !== 'ended') return outcome;
    this.#due.pop();
    return 'looked';
  }

  /** What is damaged stays where it is, for verify to tell. */
  #orAsItIs<Outcome>(cool: () => Outcome): Outcome | 'raced' | 'ended' {
    try {
      return orRaced(cool);
    } catch (error) {
      if (isTurnkeepError(error, 'corrupt')) return 'ended';
      throw error;
    }
  }

  /** Cools all that may cool of a namespace, by hand. Each step answers how many commits it has moved. */
  *run(namespace: string, hotMessages: number = this.#hotMessages): Generator<number | 'raced', void> {
    for (let after: SqlValue = ''; ;) {
      const rows = yield* unlessRaced(() => orRaced(() => this.#conversations(namespace, after, hotMessages)));
      for (const [id = '', c] of rows) {
        after = id;
        for (;;) {
          const policy = { hotMessages, rest: 'cools' } as const;
          const outcome = yield* unlessRaced(() => this.#orAsItIs(() => this.#coolNext(c as number, policy))); // an integer column
          if (outcome === 'ended') break;
          yield outcome.moved;
        }
      }
      yield 0;
      if (rows.length === 0) return;
    }
  }

  /** The next conversations after an id that are longer than what stays hot. */
  #conversations(namespace: string, after: SqlValue, hotMessages: number): readonly SqlRow[] {
    const n = this.#reader.namespace(namespace);
    return n === undefined ? [] : this.#statements.conversations.all(n, after, hotMessages);
  }

  #look(): CoolStep {
    this.#position ??= this.#noted = (this.#statements.position.get()?.[0] as number | undefined) ?? 0;
    const rows = this.#statements.next.all(this.#position) as readonly (readonly number[])[];
    const last = rows.at(-1)?.[0];
    if (this.#position - this.#noted >= NOTE_POSITIONS) this.#note(this.#position);
    if (last === undefined) return 'ended';
    this.#position = last;
    this.#due = [...new Set(rows.map(([, c]) => c as number))];
    return 'looked';
  }

  /** Up to here all is done that was due. */
  #note(position: number): void {
    this.#swaps.setPosition.run(position, position);
    this.#noted = position;
  }

  #coolDue(c: number): CoolStep {
    const { head } = this.#reader.conversationAt(c) ?? {};
    // Cheap for all but the few conversations that are long enough.
    if (!head || head.messages <= this.#hotMessages || head.version < (this.#notBefore.get(c) ?? 0)) return 'ended';
    const outcome = this.#coolNext(c, { hotMessages: this.#hotMessages, rest: 'waits' });
    if (outcome === 'ended') this.#notBefore.set(c, head.version + LOOK_AGAIN_COMMITS);
    return typeof outcome === 'string' ? outcome : 'cooled';
  }

  /** Cools one block: `ended` where there is none. */
  #coolNext(c: number, policy: CoolingPolicy): { readonly moved: number } | 'raced' | 'ended' {
    const conversation = this.#reader.conversationAt(c);
    if (!conversation) return 'ended';
    const { n, head } = conversation;
    const cooled = (this.#statements.cooled.get(c)?.[0] as number | null) ?? 0;
    const logs = nextToCool(this.#reader.rows(n), head.conversationId, cooled, policy);
    if (logs.length === 0) return 'ended';
    const block = blockOf(c, logs);
    const positions = logs.map(({ version }) => this.#reader.position(conversation, version));
    if (positions.includes(undefined)) return 'ended';
    return this.#swap(c, positions as readonly number[], logs, block) ? { moved: logs.length } : 'raced';
  }

  #swap(c: number, positions: readonly number[], logs: readonly LogRecord[], block: Uint8Array): boolean {
    try {
      this.#beside.exec('BEGIN IMMEDIATE');
      this.#besideReader.renew();
      const areSame = logs.every((log, at) => isSame(log, this.#besideReader.logAt(positions[at] as number)));
      if (areSame) this.#write(c, positions, logs, block);
      this.#beside.exec(areSame ? 'COMMIT' : 'ROLLBACK');
      return areSame;
    } finally {
      if (this.#beside.inTransaction()) this.#beside.exec('ROLLBACK');
    }
  }

  #write(c: number, positions: readonly number[], logs: readonly LogRecord[], block: Uint8Array): void {
    const [first, last] = [logs[0]?.version ?? 0, logs.at(-1)?.version ?? 0];
    const b = this.#swaps.addBlock.get(c, first, last, block)?.[0] as number; // RETURNING b
    // Rows that shrink in their place would leave their pages nearly empty: taken out and put in again they fill them.
    for (const pos of positions) {
      this.#swaps.removeBodies.run(pos * RECORDS, (pos + 1) * RECORDS);
      this.#swaps.removeTail.run(pos, c);
    }
    const rows = positions.map((pos) => this.#swaps.takeLog.get(pos) as SqlRow); // it was read just now
    for (const row of rows) this.#swaps.addLog.run(...row, b);
  }
}

/** `raced` where another connection is in the way. */
function orRaced<Outcome>(work: () => Outcome): Outcome | 'raced' {
  try {
    return work();
  } catch (error) {
    if (driverFault(error).kind === 'busy') return 'raced';
    throw error;
  }
}

/** What `work` answers when nobody is in the way any more; each time that somebody is, the caller is told. */
function* unlessRaced<Outcome>(work: () => Outcome | 'raced'): Generator<'raced', Outcome> {
  for (;;) {
    const outcome = work();
    if (outcome !== 'raced') return outcome;
    yield 'raced';
  }
}

/** Both were made by the same code: the same text if they say the same. */
function isSame(log: LogRecord, found: LogRecord | undefined): boolean {
  return found !== undefined && JSON.stringify(log) === JSON.stringify(found);
}

function prepare(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    position: sql('SELECT position FROM cooling'),
    next: sql(`SELECT pos, c FROM log WHERE pos > ? ORDER BY pos LIMIT ${LOOK_COMMITS}`),
    conversations: sql(
      `SELECT id, c FROM heads WHERE n = ? AND id > ? AND json_extract(head, '$.messages') > ? ORDER BY id LIMIT 64`,
    ),
    cooled: sql('SELECT max(last) FROM blocks WHERE c = ?'),
  };
}

function prepareSwap(beside: Database) {
  const sql = (text: string): Statement => beside.prepare(text);
  return {
    setPosition: sql('UPDATE cooling SET position = ? WHERE position < ?'),
    addBlock: sql('INSERT INTO blocks (c, first, last, bytes) VALUES (?, ?, ?, ?) RETURNING b'),
    takeLog: sql('DELETE FROM log WHERE pos = ? RETURNING pos, n, c, version, at'),
    addLog: sql(`INSERT INTO log (pos, n, c, version, at, seals, words) VALUES (?, ?, ?, ?, ?, ?, '')`),
    // What has gone to its place is kept in the tail for nobody.
    removeTail: sql('DELETE FROM tail WHERE pos = ? AND version <= (SELECT folded FROM heads WHERE c = ?)'),
    removeBodies: sql('DELETE FROM bodies WHERE id >= ? AND id < ?'),
  };
}
