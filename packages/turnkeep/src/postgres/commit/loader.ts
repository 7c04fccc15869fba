import type { Row, RowRange, RowValue } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { compareKeys } from '../../core/backend.ts';
import { KEYS, prefixEnd, TABLES } from '../../core/keys.ts';
import { SHELVES } from '../../core/shelf.ts';
import { parseStored } from '../../core/stored-json.ts';
import type { Ask } from './ask.ts';
import type { Connection, SqlRow, Statement } from '../driver/driver.ts';
import { BlockReader, isCoolPlace, logOrPlace } from '../tiers/blocks.ts';
import type { CoolPlace } from '../tiers/blocks.ts';
import { asksAfter, asksAfterHead, asksAfterListing } from '../follow.ts';
import { mergedRows, packsFor } from './range-rows.ts';
import type { LoadedRange } from './range-rows.ts';
import type { PackedRow, RowPack } from '../tiers/row-pack.ts';
import type { Schema } from '../schema/schema-name.ts';
import type { Snapshot, StoredHead } from './snapshot.ts';
import { listHeads } from '../sql/list-heads.ts';
import { loadSums } from '../sql/additions.ts';
import { loadHeads, loadLogs, loadNextTurns, loadPacks, loadRanges, loadRows, loadWords } from '../sql/load.ts';
import { loadDone } from '../sql/load-done.ts';
import type { DoneAs } from '../sql/load-done.ts';
import { loadLines } from '../sql/load-lines.ts';
import { loadMade } from '../sql/relatives.ts';
import type { TakenWords } from '../sql/relatives.ts';
import { loadSaid } from '../sql/load-said.ts';
import { loadPlaces } from '../sql/load-places.ts';
import type { RangeOf } from '../sql/load.ts';
import { isSummed, summed } from './sums.ts';

/** Rows that a range is loaded beyond its limit: commits of one group hide some by their own. */
const SLACK = 8;
/** Branches that come along with a missing one. */
const BRANCHES = 512;
/** Where the columns of a block begin, behind those of a log record. */
const BLOCK = 8;
const BLOCK_BYTES = BLOCK + 3;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** Guesses that one round trip takes along. */
const GUESSES = 4_096;

type AskOf<Kind extends Ask['kind']> = Extract<Ask, { readonly kind: Kind }>;

/** Statements, and what is to become of the rows that each answers. */
export interface Step {
  readonly statements: readonly Statement[];
  take(...rows: readonly (readonly SqlRow[])[]): void;
}

/** Statements whose answers nobody needs. */
export function justSent(statements: readonly Statement[]): Step {
  return { statements, take: () => undefined };
}

type MadeRow = readonly [
  id: string,
  memory: string | null,
  key: string | null,
  revision: string,
  owner: ConversationId | null,
  ...columns: SqlRow,
];

/** Turns what is asked for into statements: one for each kind, however many asks there are. */
export class Loader {
  readonly #schema: Schema;
  readonly #namespace: string;
  readonly #snapshot: Snapshot;
  readonly #blocks: BlockReader;
  readonly #held: Pick<ReadonlySet<ConversationId>, 'has'> | undefined;
  #cooled: (readonly [ConversationId, CoolPlace])[] = [];
  /** Ranges of which not all was known: it takes more packs. */
  #short: AskOf<'range'>[] = [];
  #guesses: Ask[] = [];
  #guessesHeads = true;

  /**
   * `held` are the conversations whose heads are locked, in a transaction whose statements each see a moment of their own;
   * absent where all of them see one.
   */
  constructor(schema: Schema, namespace: string, snapshot: Snapshot, held?: Pick<ReadonlySet<ConversationId>, 'has'>) {
    this.#held = held;
    this.#schema = schema;
    this.#namespace = namespace;
    this.#snapshot = snapshot;
    this.#blocks = new BlockReader(schema, namespace);
  }

  /** Loads what is not at hand, in one flush; `before` is sent first, in the same one. */
  async load(connection: Connection, asks: readonly Ask[], before: readonly Step[] = []): Promise<void> {
    await this.#run(connection, [...before, ...this.#steps(asks.filter((ask) => !this.#snapshot.has(ask)))]);
    for (let attempt = 1; this.#short.length > 0; attempt++) {
      const short = this.#short;
      this.#short = [];
      await this.#run(connection, this.#rangesSteps(short, attempt));
    }
    await this.#takeCooled(connection);
  }

  async #run(connection: Connection, steps: readonly Step[]): Promise<void> {
    const statements = steps.flatMap((step) => step.statements);
    if (statements.length === 0) return;
    const results = await connection.run(statements);
    let at = 0;
    for (const step of steps) {
      step.take(...results.slice(at, at + step.statements.length));
      at += step.statements.length;
    }
  }

  #takeLog(conversation: ConversationId, version: number, columns: SqlRow | undefined): void {
    const log = columns ? logOrPlace(columns) : null;
    if (log && isCoolPlace(log)) this.#cooled.push([conversation, log]);
    else this.#snapshot.putLog(conversation, version, log);
  }

  /** Commits that were found to have cooled, out of their blocks. */
  async #takeCooled(connection: Connection): Promise<void> {
    const cooled = this.#cooled;
    this.#cooled = [];
    const places = cooled.map(([, place]) => place);
    await this.#blocks.load(connection, places);
    for (const [conversation, place] of cooled)
      this.#snapshot.putLog(conversation, place.version, this.#blocks.log(place));
  }

  /** Gives up guesses at heads: a commit reads none that it has not locked. */
  withoutHeads(): this {
    this.#guessesHeads = false;
    return this;
  }

  /** Gives up what was guessed so far. */
  forgetGuesses(): void {
    this.#guesses = [];
  }

  /** Takes what was guessed so far. */
  takeGuesses(): readonly Ask[] {
    const guesses = this.#guesses.filter((guess) => this.#allows(guess)).slice(-GUESSES);
    this.#guesses = [];
    return guesses;
  }

  /** Loads what was missing, and with it what is most likely missed next. */
  async loadMissing(connection: Connection, missing: readonly Ask[]): Promise<void> {
    const wantsWords = missing.some(({ kind }) => kind === 'log');
    const taken = this.#guesses
      .filter((guess) => (guess.kind === 'log') === wantsWords && this.#allows(guess))
      .slice(-GUESSES);
    this.#guesses = this.#guesses.filter(({ kind }) => (kind === 'log') !== wantsWords);
    await this.load(connection, distinct([...missing.map(widened), ...taken]));
  }

  #allows({ kind }: Ask): boolean {
    return this.#guessesHeads || kind !== 'head';
  }

  #steps(asks: readonly Ask[]): readonly Step[] {
    const sums = asks.filter(asksForSums);
    const ranges = asks.filter((ask) => ask.kind === 'range' && !asksForSums(ask)).map(withSlack);
    return [
      this.#headsStep(asks.filter((ask) => ask.kind === 'head')),
      this.#rowsStep(asks.filter((ask) => ask.kind === 'row' && !asksForSums(ask))),
      this.#placesStep(asks.filter((ask) => ask.kind === 'place')),
      this.#sumsStep(sums),
      ...this.#rangesSteps(ranges, 0),
      this.#logsStep(asks.filter((ask) => ask.kind === 'log')),
      this.#wordsStep(asks.filter((ask) => ask.kind === 'words')),
      this.#saidStep(asks.filter((ask) => ask.kind === 'said')),
      this.#nextTurnsStep(asks.filter((ask) => ask.kind === 'nextTurn')),
      ...asks.filter((ask) => ask.kind === 'list').map((ask) => this.#listStep(ask)),
    ].filter((step) => step !== undefined);
  }

  #headsStep(asks: readonly AskOf<'head'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    const ids = asks.map(({ conversation }) => conversation);
    return {
      statements: [loadHeads(this.#schema, this.#namespace, ids)],
      take: (rows = []) => {
        for (const id of ids) this.#snapshot.putHead(id, null);
        for (const row of rows) this.#putHead(row[0] as ConversationId, storedHead(row));
      },
    };
  }

  #rowsStep(asks: readonly AskOf<'row'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    return {
      statements: [
        loadRows(
          this.#schema,
          this.#namespace,
          asks.map(({ conversation, key }) => ({
            ...this.#of(conversation),
            key,
            mayBePacked: this.#mayHavePacked(conversation, { from: key, to: key }),
          })),
        ),
      ],
      take: (rows = []) => {
        const found = new Map(rows.map(([which, value]) => [Number(which), value]));
        asks.forEach(({ conversation, key }, at) => {
          const text = found.get(at + 1);
          const value = text === undefined ? undefined : parseValue(conversation, key, text);
          this.#snapshot.putRow(conversation, key, value);
          if (value) this.#guesses.push(...asksAfter(conversation, key, value));
        });
      },
    };
  }

  #placesStep(asks: readonly AskOf<'place'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    return {
      statements: [loadPlaces(this.#schema, this.#namespace, asks)],
      take: (rows = []) => {
        for (const [, id, key, text] of rows as readonly (readonly [unknown, ConversationId, string, unknown])[]) {
          if (text === null) this.#snapshot.putRow(id, key, undefined);
          else this.#putFound(id, key, parseValue(id, key, text));
        }
      },
    };
  }

  /** The branches of conversations and of what they inherit; of one that is not there, none. */
  linesStep(conversations: readonly ConversationId[]): Step {
    return {
      statements: [loadLines(this.#schema, this.#namespace, conversations)],
      take: (rows = []) => {
        for (const [, id, key, text] of rows as readonly (readonly [unknown, ConversationId, string, unknown])[])
          this.#putFound(id, key, parseValue(id, key, text));
      },
    };
  }

  /** The commits that had the ids of some keys, if any had. */
  doneStep(keys: readonly DoneAs[]): Step {
    return {
      statements: [loadDone(this.#schema, this.#namespace, keys)],
      take: (rows = []) => {
        for (const [at, { conversation, key }] of keys.entries()) this.#takeDone(conversation, key, rows[at] ?? []);
      },
    };
  }

  /** The memories that go with what commits take, and their words. */
  madeStep(taken: TakenWords): Step {
    return {
      statements: [loadMade(this.#schema, this.#namespace, taken)],
      take: (rows = []) => {
        const revisions = new Map<string, Row[]>();
        for (const [id, memory, key, revision, owner, ...columns] of rows as readonly MadeRow[]) {
          this.#putShelfRow(KEYS.memory(id), memory);
          const known = revisions.get(id) ?? [];
          revisions.set(id, known);
          if (key === null) continue;
          known.push({ key, value: parseValue(SHELVES.memories, key, revision) });
          if (owner !== null) this.#takeLogAndBlock(owner, columns);
        }
        for (const [id, found] of revisions) {
          const from = KEYS.memoryRevisionsOf(id);
          this.#snapshot.putRange(SHELVES.memories, { from, to: prefixEnd(from) }, found);
        }
      },
    };
  }

  #putShelfRow(key: string, text: string | null): void {
    this.#snapshot.putRow(SHELVES.memories, key, text === null ? undefined : parseValue(SHELVES.memories, key, text));
  }

  #takeDone(conversation: ConversationId, key: string, [text = null, ...columns]: SqlRow): void {
    this.#snapshot.putRow(conversation, key, text === null ? undefined : parseValue(conversation, key, text));
    if (text !== null) this.#takeLogAndBlock(conversation, columns);
  }

  /** The columns of a log record, and behind them those of its block; `NULL` where there is none. */
  #takeLogAndBlock(conversation: ConversationId, columns: SqlRow): void {
    if (columns[0] === null) return;
    const log = logOrPlace(columns.slice(0, BLOCK));
    // Of a block that several share one has the bytes; one that is missing is looked for once more.
    if (isCoolPlace(log) && typeof columns[BLOCK_BYTES] === 'string') this.#blocks.take(log, columns.slice(BLOCK));
    this.#takeLog(conversation, Number(columns[0]), columns.slice(0, BLOCK));
  }

  #putFound(conversation: ConversationId, key: string, value: RowValue): void {
    this.#snapshot.putRow(conversation, key, value);
    this.#guesses.push(...asksAfter(conversation, key, value));
  }

  #rangesSteps(asks: readonly AskOf<'range'>[], attempt: number): readonly Step[] {
    const up = asks.filter(({ range }) => !range.reverse);
    const down = asks.filter(({ range }) => range.reverse);
    return [up, down].flatMap((some) => (some.length > 0 ? [this.#rangesStep(some, attempt)] : []));
  }

  /**
   * Rows that are not packed, and then packs: where the conversation is not locked, rows that are packed in between are found
   * twice, and never not at all.
   */
  #rangesStep(asks: readonly AskOf<'range'>[], attempt: number): Step {
    const reverse = asks[0]?.range.reverse === true;
    const wanted = asks.map(({ conversation, range }) => ({
      ...this.#of(conversation),
      ...boundsOf(range),
      packs: packsFor(range, attempt),
      isStill: this.#isStill(conversation),
    }));
    const packed = asks.flatMap(({ conversation, range }, at) =>
      this.#mayHavePacked(conversation, range) ? [at] : [],
    );
    const inPacks = packed.flatMap((at) => wanted[at] ?? []);
    return {
      statements: [
        loadRanges(this.#schema, this.#namespace, wanted, reverse),
        ...(inPacks.length > 0 ? [loadPacks(this.#schema, this.#namespace, inPacks, reverse)] : []),
      ],
      take: (rows, packs = []) => {
        const loaded = wanted.map(({ packs: mostPacks }) => ({
          rows: [] as PackedRow[],
          packs: [] as RowPack[],
          mostPacks,
        }));
        for (const [which, key, value] of rows as readonly (readonly [unknown, string, string])[])
          loaded[Number(which) - 1]?.rows.push({ key, value });
        for (const [which, first, last, body] of packs as readonly (readonly [unknown, string, string, string])[])
          loaded[packed[Number(which) - 1] ?? -1]?.packs.push({ first, last, body });
        asks.forEach((ask, at) => {
          const range = loaded[at];
          if (range) this.#takeRange(ask, range);
        });
      },
    };
  }

  #takeRange(ask: AskOf<'range'>, loaded: LoadedRange): void {
    const rows = mergedRows(ask.range, loaded);
    if (!rows) this.#short.push(ask);
    else
      this.#putRange(
        ask,
        rows.map(({ key, value }) => ({ key, value: parseValue(ask.conversation, key, value) })),
      );
  }

  /** However few are asked for: what was added to a row is known once all of it is. */
  #sumsStep(asks: readonly SumsAsk[]): Step | undefined {
    if (asks.length === 0) return undefined;
    const ranges = asks.map((ask) => (ask.kind === 'row' ? { from: ask.key, to: `${ask.key}\u0000` } : ask.range));
    return {
      statements: [loadSums(this.#schema, this.#namespace, SHELVES.usage, ranges.map(boundsOf))],
      take: (rows = []) => {
        for (const [at, { from, to }] of ranges.entries()) {
          const own = rows.filter(([which]) => Number(which) === at + 1);
          const sums = summed(
            own.map(([, key, value]) => [key as string, parseValue(SHELVES.usage, key as string, value)]),
          );
          const found = [...sums].map(([key, value]) => ({ key, value }));
          this.#snapshot.putRange(SHELVES.usage, { from, to }, sorted(found, { from, to }));
        }
      },
    };
  }

  #logsStep(asks: readonly AskOf<'log'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    return {
      statements: [
        loadLogs(
          this.#schema,
          this.#namespace,
          asks.map(({ conversation, version }) => ({ ...this.#of(conversation), version })),
          this.#mayBeCool(asks),
        ),
      ],
      take: (rows = []) => {
        const found = new Map(rows.map(([which, ...columns]) => [Number(which), columns]));
        for (const [at, { conversation, version }] of asks.entries()) {
          const columns = found.get(at + 1);
          if (columns) this.#takeLogAndBlock(conversation, columns);
          else this.#takeLog(conversation, version, undefined);
        }
      },
    };
  }

  #wordsStep(asks: readonly AskOf<'words'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    const wanted = asks.map(({ conversation, range }) => ({ ...this.#of(conversation), ...boundsOf(range) }));
    return {
      statements: [loadWords(this.#schema, this.#namespace, wanted, this.#mayBeCool(asks))],
      take: (rows = []) => {
        for (const [which, ...columns] of rows) {
          const ask = asks[Number(which) - 1];
          if (ask) this.#takeLogAndBlock(ask.conversation, columns);
        }
      },
    };
  }

  #nextTurnsStep(asks: readonly AskOf<'nextTurn'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    const wanted = asks.map(({ conversation, range }) => ({ ...this.#of(conversation), ...boundsOf(range) }));
    return {
      statements: [loadNextTurns(this.#schema, this.#namespace, wanted, this.#mayBeCool(asks))],
      take: (rows = []) => {
        for (const [which, key, text] of rows as readonly (readonly [unknown, string, unknown])[]) {
          const id = asks[Number(which) - 1]?.conversation;
          if (id !== undefined) this.#snapshot.putRow(id, key, parseValue(id, key, text));
        }
      },
    };
  }

  /** Of conversations whose numbers are known. */
  #saidStep(asks: readonly AskOf<'said'>[]): Step | undefined {
    if (asks.length === 0) return undefined;
    const keys = asks.map(({ conversation, key }) => ({ c: this.#snapshot.stored(conversation)?.c ?? '0', key }));
    return {
      statements: [loadSaid(this.#schema, this.#namespace, keys)],
      take: (rows = []) => {
        for (const [at, { conversation, key }] of asks.entries()) {
          const [text = null, place, message, ...columns] = rows[at] ?? [];
          this.#snapshot.putRow(conversation, key, text === null ? undefined : parseValue(conversation, key, text));
          if (text === null || typeof place !== 'string') continue;
          const value = message === null ? undefined : parseValue(conversation, place, message);
          this.#snapshot.putRow(conversation, place, value);
          if (value) this.#takeLogAndBlock(conversation, columns);
        }
      },
    };
  }

  #listStep({ query }: AskOf<'list'>): Step {
    return {
      statements: [listHeads(this.#schema, this.#namespace, query)],
      take: (rows = []) => {
        const heads = rows.map(
          ([head, id]) => parseStored(head as string, 'heads', `conversation ${String(id)}`) as Head,
        ); // we wrote it
        this.#snapshot.putList(query, heads);
        this.#guesses.push(...heads.flatMap(asksAfterListing));
      },
    };
  }

  /** A conversation, with its number where its head is at hand. */
  #of(conversation: ConversationId) {
    return { conversation, c: this.#snapshot.stored(conversation)?.c ?? null };
  }

  /** False where no row of a range is packed: its table has none that is, as the conversation's head says. */
  #mayHavePacked(conversation: ConversationId, { from, to }: RowRange): boolean {
    const packs = this.#isStill(conversation) ? this.#snapshot.stored(conversation)?.packs : undefined;
    return (
      packs === undefined || Array.from(packs).some((table) => table >= from.slice(0, 1) && compareKeys(table, to) <= 0)
    );
  }

  /** True for a commit that may ask for what has cooled: that comes along then. A reading goes through a block many times. */
  #mayBeCool(asks: readonly { readonly conversation: ConversationId }[]): boolean {
    return !this.#guessesHeads && asks.some(({ conversation }) => this.#snapshot.stored(conversation)?.packs !== '');
  }

  /** True where nobody changes or packs rows of a conversation meanwhile, as far as this transaction sees. */
  #isStill(conversation: ConversationId): boolean {
    return this.#held?.has(conversation) ?? true;
  }

  #putHead(id: ConversationId, stored: StoredHead): void {
    this.#snapshot.putHead(id, stored);
    this.#guesses.push(...asksAfterHead(stored));
  }

  #putRange({ conversation, range }: AskOf<'range'>, rows: readonly Row[]): void {
    this.#snapshot.putRange(conversation, range, rows);
    for (const { key, value } of rows) this.#guesses.push(...asksAfter(conversation, key, value));
  }
}

type SumsAsk = AskOf<'row'> | AskOf<'range'>;

function asksForSums(ask: Ask): ask is SumsAsk {
  return (ask.kind === 'row' || ask.kind === 'range') && isSummed(ask.conversation);
}

function distinct(asks: readonly Ask[]): readonly Ask[] {
  return [...new Map(asks.map((ask) => [JSON.stringify(ask), ask])).values()];
}

/** `row` is the columns `id, c, rank, places, head, packs`; throws `corrupt` where they are no JSON any more. */
export function storedHead(row: SqlRow): StoredHead {
  const [id, c, rank, places, head, packs] = row as [string, string | number, string | number, string, string, string];
  const parse = (text: string) => parseStored(text, 'heads', `conversation ${id}`);
  return {
    c: String(c),
    rank: Number(rank),
    places: new Map(parse(places) as Iterable<readonly [string, readonly [number, number]]>), // we wrote both
    packs,
    head: parse(head) as Head,
  };
}

/**
 * A path is walked branch by branch: with a branch come those that are older, its parents among them. What else is missing
 * is looked up as it is.
 */
function widened(ask: Ask): Ask {
  if (ask.kind !== 'row' || !ask.key.startsWith(TABLES.branches)) return ask;
  const range = { from: TABLES.branches, to: `${ask.key}\u0000`, reverse: true, limit: BRANCHES };
  return { kind: 'range', conversation: ask.conversation, range };
}

/** No key holds NUL, nor does Postgres take it: as a bound, U+0001 stands where it stood. */
export function boundOf(key: string): string {
  return key.replaceAll('\u0000', '\u0001');
}

function boundsOf({ from, to, limit }: RowRange): Pick<RangeOf, 'from' | 'to' | 'limit'> {
  return { from: boundOf(from), to: boundOf(to), limit: limit ?? NO_LIMIT };
}

function withSlack(ask: AskOf<'range'>): AskOf<'range'> {
  const { limit } = ask.range;
  return limit === undefined ? ask : { ...ask, range: { ...ask.range, limit: limit + SLACK } };
}

/** A join promises no order. */
function sorted(rows: Row[], { reverse }: RowRange): readonly Row[] {
  const direction = reverse ? -1 : 1;
  return rows.sort((left, right) => direction * compareKeys(left.key, right.key));
}

/** The value of a row, or of what was added to it. */
export function parseValue(conversation: ConversationId, key: string, text: unknown): RowValue {
  return parseStored(text as string, 'rows', `${key} of conversation ${conversation}`) as RowValue; // we wrote it
}
