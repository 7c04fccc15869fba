import { expect, test } from 'vitest';
import { text } from '../../core/changes.testkit.ts';
import { everyTable } from '../../core/verify/verify.testkit.ts';
import { openLedger } from '../../ledger/open.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { Database, SqlValue } from '../driver/driver.ts';
import { openDatabase } from '../driver/open-database.ts';
import { envelope, NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';

/**
 * Each row of each table of a file is lost, changed by a little in each of its columns, and put in the place of the one
 * before it, one fault at a time behind an open store. `verify` tells of each; what it cannot tell of is listed here.
 */

/** All kinds of changes, some cooled, some folded, some in the tail. */
async function write(ledger: Ledger): Promise<void> {
  const { digest } = await ledger.namespace(NAMESPACE).attachments.put(Buffer.from('some bytes'));
  for (const { step } of everyTable(digest)) {
    const { conversationId, changes, commitId: _, now: __, ...more } = step;
    await ledger.backend.commit(envelope(conversationId, changes, more));
  }
  for (let at = 0; at < 4; at++) {
    const parts = text(`other ${at} ${'long '.repeat(at * 400)}`);
    await ledger.namespace(NAMESPACE).conversation('other').append({ role: 'user', parts });
  }
  await ledger.backend.cool(NAMESPACE, { hotMessages: 2 });
  await ledger.backend.rebuild();
  await ledger
    .namespace(NAMESPACE)
    .conversation('other')
    .append({ role: 'user', parts: text('the last') });
}

interface OneFault {
  readonly what: string;
  readonly undo: () => void;
}

function* faults(database: Database): Generator<OneFault> {
  const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`).all();
  for (const [name] of tables) yield* faultsOfTable(database, String(name));
}

function* faultsOfTable(database: Database, table: string): Generator<OneFault> {
  const columns = database.prepare(`SELECT name, pk FROM pragma_table_info('${table}')`).all() as [string, number][];
  const names = columns.map(([name]) => name);
  const keys = columns.some(([, pk]) => pk > 0) ? columns.flatMap(([name, pk]) => (pk > 0 ? [name] : [])) : names;
  const where = keys.map((key) => `${key} IS ?`).join(' AND ');
  const remove = database.prepare(`DELETE FROM ${table} WHERE ${where}`);
  const insert = database.prepare(`INSERT INTO ${table} VALUES (${names.map(() => '?').join(', ')})`);
  const keyOf = (row: readonly SqlValue[]) => keys.map((key) => row[names.indexOf(key)] as SqlValue);
  const put = (row: readonly SqlValue[], other: readonly SqlValue[]) => {
    remove.run(...keyOf(row));
    insert.run(...other);
  };
  let before: readonly SqlValue[] | undefined;
  for (const row of database.prepare(`SELECT * FROM ${table}`).all()) {
    remove.run(...keyOf(row));
    yield { what: `${table}: lost`, undo: () => insert.run(...row) };
    for (const [at, name] of names.entries()) {
      for (const other of changed(row[at] as SqlValue)) {
        const now = row.with(at, other);
        if (!attempt(database, () => put(row, now))) continue;
        yield { what: `${table}.${name}`, undo: () => put(now, row) };
      }
    }
    const other =
      before && row.map((value, at) => (keys.includes(names[at] as string) ? value : (before?.[at] ?? null)));
    before = row;
    if (!other || JSON.stringify(other) === JSON.stringify(row) || !attempt(database, () => put(row, other))) continue;
    yield { what: `${table}: another's`, undo: () => put(other, row) };
  }
}

/** False where the file itself does not take it. */
function attempt(database: Database, change: () => void): boolean {
  database.exec('SAVEPOINT one');
  try {
    change();
    database.exec('RELEASE one');
    return true;
  } catch {
    database.exec('ROLLBACK TO one; RELEASE one');
    return false;
  }
}

function changed(value: SqlValue): readonly SqlValue[] {
  if (value === null) return [1];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') {
    const middle = value.length >> 1;
    const one = String.fromCharCode(value.charCodeAt(middle) ^ 1);
    return [`${value}x`, ...(value === '' ? [] : [value.slice(0, middle) + one + value.slice(middle + 1)])];
  }
  const bytes = Uint8Array.from(value);
  if (bytes.length > 0) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  return [bytes];
}

async function isTold(ledger: Ledger): Promise<boolean> {
  try {
    return (await ledger.verify()).faults.length > 0;
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return true;
    throw error;
  }
}

/** A reader keeps rows of a conversation until they went to their places once more. */
function forget(database: Database, folds: number): void {
  database.exec(`UPDATE heads SET folds = ${folds}`);
}

/** A few of each kind, taken at random from one seed. */
function* sample(all: Iterable<OneFault>): Generator<OneFault> {
  const taken = new Map<string, number>();
  let state = SEED;
  for (const fault of all) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const count = taken.get(fault.what) ?? 0;
    const isTaken = count < OF_EACH && (count < ALWAYS || state % 4 === 0);
    if (isTaken) taken.set(fault.what, count + 1);
    if (isTaken) yield fault;
    else fault.undo();
  }
}

const SEED = 20_261_130;
const OF_EACH = 4;
const ALWAYS = 2;

test('every fault of a row of the file is told but for these', () =>
  withStoreFile(async (path) => {
    let ledger = await openLedger(`sqlite:${path}`);
    await write(ledger);
    expect((await ledger.verify()).faults).toEqual([]);
    const database = openDatabase(path);
    const quiet = new Set<string>();
    let made = 0;
    for (const { what, undo } of sample(faults(database))) {
      made += 1;
      forget(database, made);
      if (!(await isTold(ledger))) quiet.add(what);
      undo();
      forget(database, -made);
      if (!(await isTold(ledger))) continue;
      // It keeps what it read of the archive, damage and all.
      await ledger.close();
      ledger = await openLedger(`sqlite:${path}`);
      expect([what, (await ledger.verify()).faults]).toEqual([what, []]);
    }
    database.close();
    await ledger.close();
    expect(made).toBeGreaterThan(150);
    expect([...quiet].sort()).toEqual([
      // When an upload was last at work: it may be given up after a day.
      'blobs.touched',
      // How far a cooling has come, and how often rows went to their places: what a reader keeps is made by them anew.
      'cooling.position',
      'cooling: lost',
      'heads.folds',
      // Of a commit that has cooled: it is read from its block.
      'log.at',
      'log.header',
      'log.redactions',
      'log.words',
      // Which store it is: it is another one then, and what was watched has to be watched anew.
      'store.id',
    ]);
  }));
