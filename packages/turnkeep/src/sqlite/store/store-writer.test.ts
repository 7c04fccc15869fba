import { expect, test } from 'vitest';
import type { RowReader } from '../../core/backend.ts';
import { GroupWriter } from '../threads/group-writer.ts';
import { envelope, message, NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';
import { openForReading, openStoreFile } from './store-file.ts';
import type { StoreFile } from './store-file.ts';
import { StoreReader } from './store-reader.ts';
import { TAIL_COMMITS, TAIL_LENGTH } from './store-schema.ts';
import { checksOfStore } from './store-verify.ts';

const ALL = { from: '', to: '\u{10ffff}' };

function faultsOf(file: StoreFile): unknown {
  const database = openForReading(file, 1_000);
  const faults = checksOfStore(database).flatMap((check) => check());
  database.close();
  return faults;
}

function rowsOf(file: StoreFile, id: string): number {
  const database = openForReading(file, 1_000);
  const reader = new StoreReader(database);
  const rows: RowReader = reader.rows(reader.namespace(NAMESPACE));
  const count = rows.scan(id, ALL).length;
  database.close();
  return count;
}

test('a long tail is swept, and the rows of conversations that rest go to their places', () =>
  withStoreFile(async (path) => {
    const file: StoreFile = { path, journal: 'auto', busyTimeoutMs: 1_000 };
    const database = openStoreFile(file);
    const writer = new GroupWriter(database, path, 1_000);
    const count = (sql: string) => database.prepare(sql).get()?.[0] as number;
    const write = (ids: readonly string[]) => {
      writer.begin();
      for (const answer of writer.write(ids.map((id) => message(id, 'word')))) expect(answer).not.toBeInstanceOf(Error);
    };
    write(['resting', 'resting', 'resting']);
    for (let n = 0; n < TAIL_LENGTH / 128 + 4; n++) write(Array.from({ length: 128 }, (_, at) => `talk ${at}`));
    expect(count('SELECT count(*) FROM tail')).toBeLessThanOrEqual(TAIL_LENGTH);
    expect(count(`SELECT folded FROM heads WHERE id = 'resting'`)).toBe(3);
    expect(count('SELECT max(version - folded) FROM heads')).toBeLessThan(TAIL_COMMITS);
    expect(rowsOf(file, 'resting')).toBe(3 * 3 + 1);
    database.close();
    expect(faultsOf(file)).toEqual([]);
  }));

test('a commit of many rows does not wait in the tail', () =>
  withStoreFile(async (path) => {
    const file: StoreFile = { path, journal: 'auto', busyTimeoutMs: 1_000 };
    const database = openStoreFile(file);
    const writer = new GroupWriter(database, path, 1_000);
    const append = (text: string) => ({
      kind: 'message.append',
      turnId: null,
      message: { role: 'user', parts: [{ type: 'text', text }] },
    });
    const many = envelope(
      'talk',
      Array.from({ length: 500 }, (_, at) => append(`word ${at}`)),
    );
    writer.begin();
    for (const answer of writer.write([message('talk', 'one'), many, message('talk', 'two')]))
      expect(answer).not.toBeInstanceOf(Error);
    expect(database.prepare('SELECT folded, version FROM heads').get()).toEqual([2, 3]);
    expect(rowsOf(file, 'talk')).toBe(502 * 2 + 3 + 1);
    database.close();
    expect(faultsOf(file)).toEqual([]);
  }));
