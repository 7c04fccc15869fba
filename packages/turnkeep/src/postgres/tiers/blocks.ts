import { Block } from '../../archive/block.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import type { LogRecord } from '../../core/log.ts';
import type { Connection, SqlRow } from '../driver/driver.ts';
import { unpackLog } from '../log-codec.ts';
import type { Schema } from '../schema/schema-name.ts';
import { loadBlocks } from '../sql/blocks.ts';
import type { BlockPlace } from '../sql/blocks.ts';

/** A commit that has cooled, as its log row says it. */
export interface CoolPlace extends BlockPlace {
  readonly version: number;
}

/** A log record, its place where it has cooled, or why it cannot be read. */
type FoundLog = LogRecord | CoolPlace | TurnkeepError<'corrupt'>;

/** What a log row holds: `row` is the columns `version, at, header, seals, words, redactions, c, block`. */
export function logOrPlace(row: SqlRow): FoundLog {
  const [version, c, block] = [Number(row[0]), String(row[6]), row[7]];
  if (block !== null && block !== undefined) return { c, first: Number(block), version };
  return unpackLog(row) ?? damagedLog(c, version);
}

export function damagedLog(c: string, version: number): TurnkeepError<'corrupt'> {
  const place = `log row of conversation number ${c}, version ${version}`;
  return new TurnkeepError('corrupt', { place, reason: 'it is not as it was written' });
}

export function isCoolPlace(log: FoundLog): log is CoolPlace {
  return 'first' in log;
}

/** Reads commits that have cooled; each block once. Damage is kept as the error of the commits that it affects. */
export class BlockReader {
  readonly #schema: Schema;
  readonly #namespace: string;
  readonly #blocks = new Map<string, Block | TurnkeepError<'corrupt'>>();

  constructor(schema: Schema, namespace: string) {
    this.#schema = schema;
    this.#namespace = namespace;
  }

  /** Loads the blocks of some places that are not at hand. */
  async load(connection: Connection, places: readonly BlockPlace[]): Promise<void> {
    const missing = new Map(places.map((place) => [keyOf(place), place]));
    for (const key of missing.keys()) if (this.#blocks.has(key)) missing.delete(key);
    if (missing.size === 0) return;
    const [rows = []] = await connection.run([loadBlocks(this.#schema, this.#namespace, [...missing.values()])]);
    const found = new Map(rows.map((row) => [`${String(row[0])} ${String(row[1])}`, row]));
    for (const [key, place] of missing) this.take(place, found.get(key));
  }

  /** A block that came along: `row` is the columns `c, first, last, bytes`, absent where there is none. */
  take(place: BlockPlace, row: SqlRow | undefined): void {
    this.#blocks.set(
      keyOf(place),
      orDamage(() => readBlock(this.#namespace, place, row)),
    );
  }

  /** A commit of a block that was loaded, or why it cannot be had. */
  log(place: CoolPlace): LogRecord | TurnkeepError<'corrupt'> {
    const block = this.#blocks.get(keyOf(place));
    if (!block) return damaged(place, 'the archive block is missing');
    if (block instanceof TurnkeepError) return block;
    return block.log(place.version) ?? damaged(place, `it does not hold version ${place.version}`);
  }

  /** The log records of some rows, in their order; `undefined` where they are damaged: that is for verify to tell. */
  async logsOf(connection: Connection, rows: readonly SqlRow[]): Promise<readonly (LogRecord | undefined)[]> {
    const found = rows.map(logOrPlace);
    await this.load(connection, found.filter(isCoolPlace));
    return found.map((log) => {
      const record = isCoolPlace(log) ? this.log(log) : log;
      return record instanceof TurnkeepError ? undefined : record;
    });
  }
}

/** `row` is the columns `c, first, last, bytes`, absent where there is no such block. Throws `corrupt`. */
export function readBlock(namespace: string, place: BlockPlace, row: SqlRow | undefined): Block {
  if (!row) throw damaged(place, 'the archive block is missing');
  const where = `${placeOf(place)} to ${Number(row[2])}`;
  return Block.read(Buffer.from(row[3] as string, 'base64'), ownerOf(namespace, place.c), where);
}

/** Whose a block is: one at the place of another is told apart. */
export function ownerOf(namespace: string, c: string): string {
  return `namespace ${namespace}, conversation number ${c}`;
}

function placeOf({ c, first }: BlockPlace): string {
  return `archive block of conversation number ${c}, versions ${first}`;
}

function damaged(place: BlockPlace, reason: string): TurnkeepError<'corrupt'> {
  return new TurnkeepError('corrupt', { place: placeOf(place), reason });
}

function orDamage(read: () => Block): Block | TurnkeepError<'corrupt'> {
  try {
    return read();
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return error;
    throw error;
  }
}

function keyOf({ c, first }: BlockPlace): string {
  return `${c} ${first}`;
}
