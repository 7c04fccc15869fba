import { expect, test } from 'vitest';
import { driverFault, isWithoutWal } from './driver-errors.ts';

const coded = (fields: object) => Object.assign(new Error('no'), fields);

test('both drivers are told by the same names', () => {
  expect(driverFault(coded({ code: 'ERR_SQLITE_ERROR', errcode: 517 })).code).toBe('SQLITE_BUSY_SNAPSHOT');
  expect(driverFault(coded({ code: 'SQLITE_BUSY_SNAPSHOT' })).code).toBe('SQLITE_BUSY_SNAPSHOT');
  expect(driverFault(coded({ code: 'ERR_SQLITE_ERROR', errcode: 5 })).code).toBe('SQLITE_BUSY');
  expect(driverFault(coded({ code: 'UNKNOWN_SQLITE_ERROR_8202' })).code).toBe('SQLITE_IOERR_DATA');
  expect(driverFault(coded({ errcode: 10 | (99 << 8) })).code).toBe('SQLITE_IOERR_99');
  expect(driverFault(coded({ errcode: 101 })).code).toBe('SQLITE_101');
});

test.each([
  [5, 'busy'],
  [6, 'other'],
  [262, 'busy'],
  [13, 'full'],
  [8, 'readonly'],
  [1032, 'readonly'],
  [11, 'corrupt'],
  [267, 'corrupt'],
  [8202, 'corrupt'],
  [26, 'not_a_database'],
  [10, 'io'],
  [522, 'io'],
  [15, 'io'],
  [14, 'cant_open'],
  [526, 'cant_open'],
  [19, 'constraint'],
  [1, 'other'],
  [257, 'other'],
])('result code %i is %s', (errcode, kind) => {
  expect(driverFault(coded({ errcode })).kind).toBe(kind);
});

test('errors of the file system and of the runtime', () => {
  expect(driverFault(coded({ code: 'ENOSPC' })).kind).toBe('full');
  expect(driverFault(coded({ code: 'ENOENT' })).kind).toBe('cant_open');
  expect(driverFault(new RangeError('too few'))).toEqual({ kind: 'other', code: 'UNKNOWN', message: 'too few' });
  expect(driverFault('thrown text')).toEqual({ kind: 'other', code: 'UNKNOWN', message: 'thrown text' });
});

test('the index of a WAL that finds no room is a full disk, and no file system without shared memory', () => {
  expect(driverFault(coded({ code: 'SQLITE_IOERR_SHMSIZE' })).kind).toBe('full');
  expect(driverFault(coded({ errcode: 4_874 }))).toMatchObject({ code: 'SQLITE_IOERR_SHMSIZE', kind: 'full' });
  expect(isWithoutWal(coded({ code: 'SQLITE_IOERR_SHMSIZE' }))).toBe(false);
  for (const code of ['SQLITE_IOERR_SHMMAP', 'SQLITE_IOERR_SHMOPEN', 'SQLITE_IOERR_SHMLOCK'])
    expect(isWithoutWal(coded({ code }))).toBe(true);
});
