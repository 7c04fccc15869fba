import { expect, test } from 'vitest';
import type { Row, RowRange, RowReader, RowValue } from '../backend.ts';
import type { Head } from '../head.ts';
import type { Json, JsonObject } from '../json.ts';
import { prefixEnd } from '../keys.ts';
import type { LogRecord } from '../log.ts';
import { SortedRows } from '../sorted-rows.ts';
import { everything, faultsIn, faultsOf, OWNERS } from './verify.testkit.ts';

/**
 * Every row, head and log record of a store with rows in every table is lost, changed in each of its fields, put in each
 * other's place and doubled, one fault at a time, and `verify` tells of each; what it cannot tell of is listed here and in
 * decision 39.
 */

/** A store whose rows, heads and log records are to hand, each to be changed. */
class Damaged implements RowReader {
  readonly headOf = new Map<string, Head>();
  readonly rowsOf = new Map<string, SortedRows<RowValue | null>>();
  readonly logAt = new Map<string, LogRecord>();

  constructor(from: RowReader) {
    for (const owner of OWNERS) {
      const head = from.head(owner) as Head;
      const rows = new SortedRows<RowValue | null>();
      for (const { key, value } of from.scan(owner, { from: '', to: prefixEnd('') })) rows.set(key, value);
      this.headOf.set(owner, head);
      this.rowsOf.set(owner, rows);
      for (let version = 1; version <= head.version; version++)
        this.logAt.set(`${owner} ${version}`, from.log(owner, version) as LogRecord);
    }
  }

  /** `null` is a row that is lost. */
  put(owner: string, key: string, value: RowValue | null): void {
    this.rowsOf.get(owner)?.set(key, value);
  }

  head(owner: string): Head | undefined {
    return this.headOf.get(owner);
  }

  get(owner: string, key: string): RowValue | undefined {
    return this.rowsOf.get(owner)?.get(key) ?? undefined;
  }

  scan(owner: string, { limit, ...range }: RowRange): readonly Row[] {
    const rows: Row[] = [];
    for (const [key, value] of this.rowsOf.get(owner)?.range(range) ?? []) {
      if (value) rows.push({ key, value });
      if (rows.length === limit) break;
    }
    return rows;
  }

  log(owner: string, version: number): LogRecord | undefined {
    return this.logAt.get(`${owner} ${version}`);
  }

  heads(): readonly Head[] {
    return [...this.headOf.values()];
  }
}

/** Values that stand for another, each with what was done to it. */
function others(value: Json | undefined): readonly (readonly [string, Json])[] {
  return typeof value === 'object' && value !== null ? [...alike(value), ['null', null]] : alike(value);
}

function alike(value: Json | undefined): readonly (readonly [string, Json])[] {
  if (value === null || value === undefined) return [['1', 1]];
  if (typeof value === 'boolean') return [['not', !value]];
  if (typeof value === 'number')
    return [
      ['+1', value + 1],
      ['-1', value - 1],
      ['null', null],
    ];
  if (typeof value === 'string')
    return [
      ['longer', `${value}x`],
      ['null', null],
    ];
  if (Array.isArray(value)) return othersOfList(value as readonly Json[]);
  return Object.entries(value).flatMap(([key, member]) =>
    others(member).map(([what, other]) => [`${key} ${what}`, { ...(value as JsonObject), [key]: other }] as const),
  );
}

function othersOfList(items: readonly Json[]): readonly (readonly [string, Json])[] {
  return [
    ...items.flatMap((item, at) =>
      others(item).map(([what, other]) => [`[${at}] ${what}`, items.with(at, other)] as const),
    ),
    ...(items.length > 0 ? [['shorter', items.slice(0, -1)] as const] : []),
    ['one more', [...items, 'x']],
  ];
}

interface OneFault {
  readonly what: string;
  readonly owner: string;
  readonly undo: () => void;
}

function* rowFaults(store: Damaged): Generator<OneFault> {
  for (const owner of store.rowsOf.keys()) {
    const all = store.scan(owner, { from: '', to: prefixEnd('') });
    for (const row of all) {
      for (const fault of faultsOfRow(store, owner, row, all))
        yield { ...fault, owner, what: `${owner} ${row.key}: ${fault.what}`.replaceAll('\u0001', ' ') };
    }
  }
}

function* faultsOfRow(
  store: Damaged,
  owner: string,
  { key, value }: Row,
  all: readonly Row[],
): Generator<Omit<OneFault, 'owner'>> {
  const undo = () => store.put(owner, key, value);
  store.put(owner, key, null);
  yield { what: 'lost', undo };
  for (const [what, other] of others(value)) {
    store.put(owner, key, other as RowValue);
    yield { what, undo };
  }
  for (const doubled of [`${key}x`, key.slice(0, -1)]) {
    if (doubled === '' || store.get(owner, doubled)) continue;
    store.put(owner, doubled, value);
    yield { what: `doubled as ${doubled}`, undo: () => store.put(owner, doubled, null) };
  }
  for (const other of all.filter((row) => row.key > key && row.key[0] === key[0])) {
    if (JSON.stringify(other.value) === JSON.stringify(value)) continue;
    store.put(owner, key, other.value);
    store.put(owner, other.key, value);
    const back = () => store.put(owner, other.key, other.value);
    yield { what: `swapped with ${other.key}`, undo: () => (undo(), back()) };
  }
}

function* faultsOfEach<Value>(values: Map<string, Value>, what: string): Generator<OneFault> {
  // What is undone goes to the end of the map: it is gone through as it was at first.
  const all = [...values];
  for (const [place, value] of all) {
    const undo = () => values.set(place, value);
    const at = { owner: place.split(' ')[0] as string, undo };
    values.delete(place);
    yield { ...at, what: `${what} ${place}: lost` };
    for (const [how, other] of others(value as Json)) {
      values.set(place, other as Value);
      yield { ...at, what: `${what} ${place}: ${how}` };
    }
  }
}

/** The faults that nothing tells of. */
function unseen(store: Damaged, faults: Iterable<OneFault>): readonly string[] {
  const quiet: string[] = [];
  let made = 0;
  for (const { what, owner, undo } of faults) {
    made += 1;
    try {
      if (faultsIn(store, owner).next().done) quiet.push(what);
    } catch (error) {
      quiet.push(`${what} THROWS ${(error as Error).stack?.split('\n').slice(0, 6).join(' | ')}`);
    }
    undo();
  }
  expect(made).toBeGreaterThan(300);
  return quiet;
}

// oxlint-disable-next-line no-control-regex -- the id of a shelf begins so
const SHELF_MARK = /(?<=^|^head )[\u0001 ]/g;

/** What a fault is known by, without its place. */
function kindOf(what: string): string {
  return what
    .replaceAll(/[ab]{64}/g, '…')
    .replaceAll(SHELF_MARK, '')
    .replace(/^log \w+ \d+/, 'log')
    .replace(/(records) \[\d+\]/, '$1');
}

const kinds = (faults: readonly string[]) => [...new Set(faults.map(kindOf))].sort();

test('every fault of a row is told but for these', () => {
  const store = new Damaged(everything());
  expect(faultsOf(store)).toEqual([]);
  expect(kinds(unseen(store, rowFaults(store)))).toEqual([
    // Since when an attachment is held that no words refer to: whoever put it knows, and no commit does.
    'attachments H…: [2] +1',
    'attachments H…: [2] -1',
    'attachments H…: [2] 1',
    'attachments H…: [2] null',
    'attachments H…: swapped with H…',
    // The digests of parts: `Ledger.verify` reads the bytes.
    'attachments P…10: [0] longer',
    'attachments P…10: [0] null',
    // When a memory was forgotten: any conversation of the namespace may have done it.
    'memories vv3: [4] +1',
    'memories vv3: [4] -1',
    // Which of two days of a namespace a sum is of: all its conversations together would tell.
    'usage zd3fs6 some small USD: swapped with zd3fs7 some small USD',
  ]);
});

test('every fault of a head is told but for shelves that are lost: their rows are orphans, which a backend tells', () => {
  const store = new Damaged(everything());
  const lost = (shelf: string) => [`head ${shelf}: lost`, `head ${shelf}: null`];
  expect(kinds(unseen(store, faultsOfEach(store.headOf, 'head')))).toEqual(
    ['attachments', 'memories', 'usage'].flatMap(lost),
  );
});

test('every fault of the log is told but for these', () => {
  const store = new Damaged(everything());
  expect(kinds(unseen(store, faultsOfEach(store.logAt, 'log')))).toEqual([
    // A nonce that is another one: whoever sends the commit again is told that its key is taken.
    'log: nonce longer',
    // Why and when words went.
    'log: records redaction at +1',
    'log: records redaction at -1',
    'log: records redaction reason longer',
  ]);
});
