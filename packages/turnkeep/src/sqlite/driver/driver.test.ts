import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Database, OpenDatabaseOptions, SqlValue } from './driver.ts';
import { openDatabase } from './open-database.ts';
import { driverFault } from './driver-errors.ts';
import { DRIVERS, withFile } from './driver.testkit.ts';

const MAX = Number.MAX_SAFE_INTEGER;

const keepsNul = (database: Database) => database.prepare("SELECT 'a' || char(0)").get()?.[0] === 'a\0';

test('this runtime has a driver, and by itself takes one that keeps NUL where there is one', () => {
  expect(DRIVERS).not.toEqual([]);
  const whole = DRIVERS.filter((driver) => keepsNul(openDatabase(':memory:', { driver })));
  expect(whole.length > 0 ? whole : DRIVERS).toContain(openDatabase(':memory:').driver);
});

describe.each(DRIVERS)('%s', (driver) => {
  const open = (path = ':memory:', options: OpenDatabaseOptions = {}) => openDatabase(path, { driver, ...options });
  const echo = (database: Database, value: SqlValue) => database.prepare('SELECT ?, typeof(?)').get(value, value);
  const faultOf = (act: () => unknown) => {
    try {
      act();
    } catch (error) {
      return driverFault(error);
    }
    throw new Error('nothing was thrown');
  };

  test('rows are arrays in the order of the columns, whatever their names', () => {
    const database = open();
    expect(database.prepare('SELECT 1 AS a, 2 AS a, 3 AS "1"').all()).toEqual([[1, 2, 3]]);
    expect(database.prepare('SELECT 1 WHERE 0').get()).toBeUndefined();
    expect(database.prepare('SELECT 1 WHERE 0').all()).toEqual([]);
    database.close();
  });

  test('run answers the number of changed rows', () => {
    const database = open();
    database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)');
    expect(database.prepare('UPDATE t SET a = a + ?').run(1)).toBe(2);
    expect(database.prepare('DELETE FROM t WHERE a > 9').run()).toBe(0);
    database.close();
  });

  test('numbers go through to the last safe one and no further', () => {
    const database = open();
    for (const whole of [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, MAX, -MAX]) {
      expect(echo(database, whole)).toEqual([whole, 'integer']);
    }
    expect(echo(database, 0.5)).toEqual([0.5, 'real']);
    for (const bad of [MAX + 1, -MAX - 1, 1e300, Infinity, NaN]) {
      expect(faultOf(() => echo(database, bad)).code).toBe('ERR_OUT_OF_RANGE');
    }
    for (const bad of ['9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775807']) {
      expect(faultOf(() => database.prepare(`SELECT ${bad}`).get()).code).toBe('ERR_OUT_OF_RANGE');
      expect(faultOf(() => database.prepare(`SELECT ${bad}`).all()).code).toBe('ERR_OUT_OF_RANGE');
      expect(faultOf(() => [...database.prepare(`SELECT ${bad}`).iterate()]).code).toBe('ERR_OUT_OF_RANGE');
    }
    database.close();
  });

  test('text and blobs come back as they were', () => {
    const database = open();
    for (const text of ['', 'naïve', 'การประชุม', '👨‍👩‍👧', '\u2028\u2029\u0085', '\ufeffbom', '\uffff', '"\'%_']) {
      expect(echo(database, text)).toEqual([text, 'text']);
    }
    for (const bytes of [[], [0], [0, 255, 0]]) {
      const [blob, type] = echo(database, Uint8Array.from(bytes)) ?? [];
      expect([...(blob as Uint8Array)]).toEqual(bytes);
      expect(type).toBe('blob');
    }
    expect(echo(database, null)).toEqual([null, 'null']);
    database.close();
  });

  test('text with NUL comes back whole or is refused, never cut', () => {
    const database = open();
    const answer = keepsNul(database) ? echo(database, 'a\0b')?.[0] : faultOf(() => echo(database, 'a\0b')).code;
    expect(answer).toBe(keepsNul(database) ? 'a\0b' : 'ERR_INVALID_ARG_VALUE');
    database.close();
  });

  test('text with half a surrogate pair is refused', () => {
    const database = open();
    for (const text of ['\ud83d', 'a\udd25', '\udd25\ud83d']) {
      expect(faultOf(() => echo(database, text))).toMatchObject({ kind: 'other', code: 'ERR_INVALID_ARG_VALUE' });
    }
    database.close();
  });

  test('an iterator that is left early, or never begun, holds nothing', () => {
    const database = open();
    database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)');
    const statement = database.prepare('SELECT a FROM t ORDER BY a');
    statement.iterate();
    for (const [a] of statement.iterate()) if (a === 2) break;
    database.exec('INSERT INTO t VALUES (4)');
    expect([...statement.iterate()]).toEqual([[1], [2], [3], [4]]);
    database.close();
  });

  test('a transaction shows, and closing takes it back', () => {
    withFile((path) => {
      const database = open(path);
      database.exec('CREATE TABLE t (a)');
      expect(database.inTransaction()).toBe(false);
      database.exec('BEGIN; INSERT INTO t VALUES (1)');
      expect(database.inTransaction()).toBe(true);
      database.close();
      database.close();
      const again = open(path);
      expect(again.prepare('SELECT count(*) FROM t').get()).toEqual([0]);
      again.close();
    });
  });

  test('the data version moves with the commits of others alone', () => {
    withFile((path) => {
      const [mine, other] = [open(path), open(path)];
      mine.exec('CREATE TABLE t (a)');
      const before = mine.dataVersion();
      mine.exec('INSERT INTO t VALUES (1)');
      expect(mine.dataVersion()).toBe(before);
      other.exec('INSERT INTO t VALUES (2)');
      expect(mine.dataVersion()).not.toBe(before);
      mine.close();
      other.close();
    });
  });

  test('durable is WAL and FULL, after writes too, and leaves the file as it was', () => {
    withFile((path) => {
      const database = open(path, { durable: true });
      expect(database.pragma('user_version')).toBe(0);
      database.exec('CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT');
      expect([database.pragma('journal_mode'), database.pragma('synchronous')]).toEqual(['wal', 2]);
      database.pragma('user_version = 7');
      database.close();
      const bytes = readFileSync(path);
      const again = open(path, { durable: true });
      expect(again.pragma('user_version')).toBe(7);
      again.close();
      expect(readFileSync(path).equals(bytes)).toBe(true);
    });
  });

  test('durable is refused where WAL cannot be had', () => {
    expect(faultOf(() => open(':memory:', { durable: true }))).toMatchObject({ kind: 'io', code: 'ERR_NOT_DURABLE' });
  });

  test('deleted words are gone with secureDelete', () => {
    const leftover = (secureDelete: boolean) => {
      let found = false;
      withFile((path) => {
        const database = open(path, { secureDelete });
        database.exec(
          "CREATE TABLE t (a); INSERT INTO t VALUES ('xyzzyplugh'), ('other'); DELETE FROM t WHERE rowid = 1",
        );
        database.close();
        found = readFileSync(path).includes('xyzzyplugh');
      });
      return found;
    };
    expect([leftover(true), leftover(false)]).toEqual([false, true]);
  });

  test('files are private, side files too', () => {
    withFile((path) => {
      const database = open(path, { durable: true });
      database.exec('CREATE TABLE t (a)');
      const modes = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777);
      expect(modes).toEqual([0o600, 0o600, 0o600]);
      database.close();
      chmodSync(path, 0o640);
      open(path).close();
      expect(statSync(path).mode & 0o777).toBe(0o640);
    });
  });

  test('the busy timeout is the one asked for', () => {
    const database = open(':memory:', { busyTimeoutMs: 1_234 });
    expect(database.pragma('busy_timeout')).toBe(1_234);
    database.close();
  });

  describe('faults', () => {
    test('busy: another connection holds the lock', () => {
      withFile((path) => {
        const [mine, other] = [open(path, { busyTimeoutMs: 0 }), open(path)];
        other.exec('CREATE TABLE t (a); BEGIN IMMEDIATE');
        expect(faultOf(() => mine.exec('BEGIN IMMEDIATE'))).toMatchObject({ kind: 'busy', code: 'SQLITE_BUSY' });
        mine.close();
        other.close();
      });
    });

    test('busy: a snapshot that is no longer the newest cannot be written from', () => {
      withFile((path) => {
        const [mine, other] = [open(path, { durable: true }), open(path)];
        mine.exec('CREATE TABLE t (a); BEGIN; SELECT * FROM t');
        mine.prepare('SELECT * FROM t').all();
        other.exec('INSERT INTO t VALUES (1)');
        const fault = faultOf(() => mine.exec('INSERT INTO t VALUES (2)'));
        expect(fault).toMatchObject({ kind: 'busy', code: 'SQLITE_BUSY_SNAPSHOT' });
        mine.close();
        other.close();
      });
    });

    test('readonly: a connection that only reads', () => {
      withFile((path) => {
        open(path).close();
        const database = open(path, { readOnly: true });
        expect(faultOf(() => database.exec('CREATE TABLE t (a)'))).toMatchObject({ kind: 'readonly' });
        database.close();
      });
    });

    test('full: no page is left', () => {
      const database = open();
      database.exec('CREATE TABLE t (a); PRAGMA max_page_count = 3');
      const insert = database.prepare('INSERT INTO t VALUES (?)');
      expect(faultOf(() => insert.run('x'.repeat(100_000)))).toMatchObject({ kind: 'full', code: 'SQLITE_FULL' });
      database.close();
    });

    test('not_a_database: the file is something else', () => {
      withFile((path) => {
        writeFileSync(path, 'these are not the bytes that you are looking for'.repeat(100));
        const fault = faultOf(() => open(path).prepare('SELECT * FROM t'));
        expect(fault).toMatchObject({ kind: 'not_a_database', code: 'SQLITE_NOTADB' });
      });
    });

    test('corrupt: a page was overwritten', () => {
      withFile((path) => {
        const database = open(path);
        database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
        database.close();
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0xaa, 4_096));
        const damaged = open(path);
        expect(faultOf(() => damaged.prepare('SELECT * FROM t').all())).toMatchObject({ kind: 'corrupt' });
        damaged.close();
      });
    });

    test('cant_open: no such file, no such folder', () => {
      withFile((path) => {
        expect(faultOf(() => open(path, { readOnly: true }))).toMatchObject({ kind: 'cant_open' });
        expect(faultOf(() => open(`${path}/deeper`))).toMatchObject({ kind: 'cant_open', code: 'SQLITE_CANTOPEN' });
      });
    });

    test('constraint, with its extended name', () => {
      const database = open();
      database.exec('CREATE TABLE t (a PRIMARY KEY NOT NULL); INSERT INTO t VALUES (1)');
      const insert = database.prepare('INSERT INTO t VALUES (?)');
      expect(faultOf(() => insert.run(1))).toMatchObject({ kind: 'constraint', code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
      expect(faultOf(() => insert.run(null))).toMatchObject({ kind: 'constraint', code: 'SQLITE_CONSTRAINT_NOTNULL' });
      expect(insert.run(2)).toBe(1);
      database.close();
    });

    test('other: a mistake in the statement', () => {
      const database = open();
      const fault = faultOf(() => database.prepare('SELECT * FROM nowhere'));
      expect(fault).toMatchObject({ kind: 'other', code: 'SQLITE_ERROR' });
      expect(fault.message).toContain('nowhere');
      database.close();
    });
  });
});

test.runIf(DRIVERS.includes('better-sqlite3'))('the trap is real: better-sqlite3 lowers the sync by itself', () => {
  withFile((path) => {
    const Raw = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
    const database = new Raw(path);
    database.pragma('journal_mode = WAL');
    expect(database.pragma('synchronous', { simple: true })).toBe(2);
    database.exec('CREATE TABLE t (a)');
    expect(database.pragma('synchronous', { simple: true })).toBe(1);
    database.close();
  });
});
