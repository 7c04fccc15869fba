import { compareKeys } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { ROW_SEPARATOR, VALUE_SEPARATOR } from '../sql/rows-of.ts';

/**
 * UTF-16 units of a pack's body, at most, unless one row alone has more. Postgres compresses it to a third, and so keeps it in
 * its page; to look up a row in it takes some microseconds.
 */
const PACK_LENGTH = 5_120;

/** A row as text. */
export interface PackedRow {
  readonly key: string;
  readonly value: string;
}

/** Rows of one conversation in one text, in the order of their keys, all of which are from `first` to `last`. */
export interface RowPack {
  readonly first: string;
  readonly last: string;
  readonly body: string;
}

/**
 * Packs with rows added, each key once: what is added stands for what was packed. `packs` are those that keys of `rows` belong
 * into, and like these in the order of keys. A key belongs into the last pack of its table that starts before it; where there is
 * none, into a new one: no pack holds rows of two tables, so that who looks for one in another unpacks nothing. A pack keeps its
 * `first`; one that grows too long becomes several.
 */
export function withRows(packs: readonly RowPack[], rows: readonly PackedRow[]): readonly RowPack[] {
  const added = new Map<RowPack | string, PackedRow[]>();
  for (const row of rows) {
    const into = packs.findLast((pack) => mayHold(pack, row.key)) ?? tableOf(row.key);
    const group = added.get(into);
    if (group) group.push(row);
    else added.set(into, [row]);
  }
  return [...added].flatMap(([into, group]) =>
    typeof into === 'string' ? packsOf(group, 'filled') : withRowsIn(into, group),
  );
}

function mayHold({ first }: RowPack, key: string): boolean {
  return tableOf(first) === tableOf(key) && compareKeys(first, key) <= 0;
}

/** The letter that the keys of a table begin with. */
export function tableOf(key: string): string {
  return key.slice(0, 1);
}

function withRowsIn(pack: RowPack, added: readonly PackedRow[]): readonly RowPack[] {
  const rows = new Map(rowsOf(pack).map((row) => [row.key, row]));
  for (const row of added) rows.set(row.key, row);
  const sorted = [...rows.values()].toSorted((left, right) => compareKeys(left.key, right.key));
  const isAppended = added.every(({ key }) => compareKeys(pack.last, key) < 0);
  const [grown, ...others] = packsOf(sorted, isAppended ? 'filled' : 'even');
  return grown ? [{ ...grown, first: pack.first }, ...others] : [];
}

/** Splits rows: `filled` fills one pack after the other, `even` leaves the same room in each. */
function packsOf(rows: readonly PackedRow[], how: 'filled' | 'even'): readonly RowPack[] {
  const total = rows.reduce((sum, row) => sum + lineOf(row).length, 0);
  const packs: PackedRow[][] = [];
  const most = how === 'filled' ? PACK_LENGTH : total / Math.ceil(total / PACK_LENGTH);
  let start = 0;
  let next = 0;
  for (const row of rows) {
    const end = start + lineOf(row).length;
    const isOver = how === 'filled' ? end > next : start >= next;
    if (packs.length === 0 || isOver) {
      packs.push([]);
      next = how === 'filled' ? start + most : packs.length * most;
    }
    packs.at(-1)?.push(row);
    start = end;
  }
  return packs.map((pack) => ({
    first: pack[0]?.key ?? '',
    last: pack.at(-1)?.key ?? '',
    body: pack.map(lineOf).join(''),
  }));
}

/** True where a row can be told from others in a pack; one that is damaged is left to be told of where it stands. */
export function mayBePacked({ key, value }: PackedRow): boolean {
  return !isSeparated(key) && !isSeparated(value) && isArray(value);
}

function isSeparated(text: string): boolean {
  return text.includes(ROW_SEPARATOR) || text.includes(VALUE_SEPARATOR);
}

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function lineOf({ key, value }: PackedRow): string {
  return `${ROW_SEPARATOR}${key}${VALUE_SEPARATOR}${value}`;
}

/** The rows of a pack; throws `corrupt` where it is none. */
export function rowsOf({ first, body }: RowPack): readonly PackedRow[] {
  const [start, ...lines] = body.split(ROW_SEPARATOR);
  const isPack = start === '' && lines.length > 0;
  return (isPack ? lines : ['']).map((line) => {
    const at = line.indexOf(VALUE_SEPARATOR);
    if (at < 1) throw new TurnkeepError('corrupt', { place: placeOf(first), reason: 'it is no pack' });
    return { key: line.slice(0, at), value: line.slice(at + 1) };
  });
}

function placeOf(first: string): string {
  return `table packed, from ${first}`;
}
