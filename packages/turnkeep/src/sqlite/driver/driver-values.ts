import type { SqlRow, SqlValue } from './driver.ts';

/** What a driver is handed: whole numbers as `bigint`, since both drivers bind every `number` as REAL. */
export type BoundValue = SqlValue | bigint;

/** Parameters as a driver takes them; throws what `Statement` says. */
export function boundValues(params: SqlValue[], keepsNul: boolean): BoundValue[] {
  const bound: BoundValue[] = params; // the rest array of one call, ours to change
  for (let i = 0; i < params.length; i++) {
    const value = params[i];
    if (typeof value === 'number') bound[i] = boundNumber(value);
    else if (typeof value === 'string') assertText(value, keepsNul);
  }
  return bound;
}

/** The row itself; throws where it holds a number that the driver may have rounded. */
export function checkedRow(row: SqlRow): SqlRow {
  for (const value of row) {
    if (typeof value === 'number' && (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER)) {
      throw unsafeNumber('read', value);
    }
  }
  return row;
}

/** `checkedRow` over an iterator that is started by the first step, and left when this one is. */
export function* checkedRows(start: () => Iterable<SqlRow>): Generator<SqlRow, void, undefined> {
  for (const row of start()) yield checkedRow(row);
}

function boundNumber(value: number): BoundValue {
  if (Number.isSafeInteger(value)) return BigInt(value);
  if (Number.isFinite(value) && !Number.isInteger(value)) return value;
  throw unsafeNumber('bind', value);
}

function unsafeNumber(verb: 'read' | 'bind', value: number): RangeError {
  const error = new RangeError(`cannot ${verb} ${value}: numbers go to ±${Number.MAX_SAFE_INTEGER}`);
  return Object.assign(error, { code: 'ERR_OUT_OF_RANGE' });
}

function assertText(text: string, keepsNul: boolean): void {
  if (!text.isWellFormed()) throw badText('it has a lone surrogate');
  if (!keepsNul && text.includes('\0')) throw badText('it has a NUL, which this SQLite driver would cut it at');
}

function badText(reason: string): TypeError {
  return Object.assign(new TypeError(`cannot bind this text: ${reason}`), { code: 'ERR_INVALID_ARG_VALUE' });
}
