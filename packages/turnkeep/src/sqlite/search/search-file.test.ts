import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../driver/open-database.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { withFile } from '../driver/driver.testkit.ts';
import { openSearchIndex } from './search-index.ts';
import { addAll, bytesOfFiles, documents, scrubAll, STORE, withIndex } from './search-index.testkit.ts';

describe('several handles', () => {
  test('of two that add the same span, one does', () => {
    withIndex((mine, path) => {
      const other = openSearchIndex(path, STORE);
      const span = { after: 0, position: 5, mark: 'mark' };
      expect(mine.add(documents(['a word']), span)).toBe(true);
      expect(other.add(documents(['a word']), span)).toBe(false);
      expect(other.candidates('word', { limit: 9 })).toEqual({ docIds: [1], position: 5 });
      other.close();
    });
  });

  test('what was removed is not added by one that read it before', () => {
    withIndex((mine, path) => {
      const other = openSearchIndex(path, STORE);
      other.remove([2]);
      addAll(mine, documents(['one word', 'another word', 'a third word']));
      expect(mine.candidates('word', { limit: 9 }).docIds).toEqual([3, 1]);
      scrubAll(mine);
      expect(bytesOfFiles(path).includes('another')).toBe(false);
      other.close();
    });
  });

  test('when one clears the index, the others go on with the new one', () => {
    withIndex((mine, path) => {
      addAll(mine, documents(['a word']));
      const other = openSearchIndex(path, STORE);
      mine.clear();
      expect(other.position()).toBe(0);
      addAll(other, documents(['a new word']));
      expect(mine.candidates('new', { limit: 9 })).toEqual({ docIds: [1], position: 1 });
      other.close();
    });
  });

  test('scrub has more to do while a reader holds the old words', () => {
    withIndex((index, path) => {
      addAll(index, documents(['secret']));
      const reader = openDatabase(path);
      reader.exec('BEGIN');
      reader.prepare('SELECT * FROM tail').all();
      index.remove([1]);
      expect(index.scrub()).toBe(true);
      reader.exec('COMMIT');
      reader.close();
      expect(index.scrub()).toBe(false);
      expect(bytesOfFiles(path).includes('secret')).toBe(false);
    });
  });
});

describe('the file', () => {
  const positionAt = (path: string, storeId = STORE.storeId) => {
    const index = openSearchIndex(path, { storeId });
    const position = index.position();
    index.close();
    return position;
  };
  const withFilled = (use: (path: string) => void) =>
    withFile((path) => {
      const index = openSearchIndex(path, STORE);
      addAll(index, documents(Array<string>(200).fill('words')));
      index.close();
      use(path);
    });

  test('is kept for its own store', () => {
    withFilled((path) => expect(positionAt(path)).toBe(200));
  });

  test('is built anew for another store', () => {
    withFilled((path) => {
      expect(positionAt(path, 'store-2')).toBe(0);
      expect(bytesOfFiles(path).includes('words')).toBe(false);
    });
  });

  test('is built anew when it is of another format, no index, or no database', () => {
    for (const spoil of ['PRAGMA user_version = 99', 'PRAGMA application_id = 7', "UPDATE state SET unicode = '1'"]) {
      withFilled((path) => {
        const database = openDatabase(path);
        database.exec(spoil);
        database.close();
        expect(positionAt(path)).toBe(0);
      });
    }
    withFilled((path) => {
      writeFileSync(path, 'garbage'.repeat(5_000));
      expect(positionAt(path)).toBe(0);
    });
    withFilled((path) => {
      writeFileSync(path, readFileSync(path).fill(0xff, 100, 20_000));
      expect(positionAt(path)).toBe(0);
    });
  });

  test('a flipped bit is found, and clear begins anew', () => {
    withFilled((path) => {
      const database = openDatabase(path);
      const [rowid, data] = database.prepare('SELECT rowid, data FROM block').get() ?? [];
      const flipped = Uint8Array.from(data as Uint8Array, (byte, i) => (i === 6 ? byte ^ 1 : byte)); // a blob column
      database.prepare('UPDATE block SET data = ? WHERE rowid = ?').run(flipped, rowid as number);
      database.close();
      const index = openSearchIndex(path, STORE);
      const faults = [() => index.candidates('words', { limit: 999 }), () => index.clear()].map((act) => {
        try {
          return act();
        } catch (error) {
          return driverFault(error).kind;
        }
      });
      expect(faults).toEqual(['corrupt', undefined]);
      expect(index.position()).toBe(0);
      index.close();
    });
  });

  test('an error that is no damage is thrown, and nothing deleted', () => {
    withFilled((path) => {
      const writer = openDatabase(path);
      writer.exec('BEGIN IMMEDIATE');
      expect(() => openSearchIndex(path, { ...STORE, busyTimeoutMs: 0 })).toThrow('locked');
      writer.close();
      expect(positionAt(path)).toBe(200);
    });
  });

  test('its WAL does not stay large', () => {
    withIndex((index, path) => {
      addAll(index, documents(Array.from({ length: 3_000 }, (_, i) => `${i} and ${i * i}`)));
      expect(readFileSync(`${path}-wal`).length).toBe(0);
    });
  });
});
