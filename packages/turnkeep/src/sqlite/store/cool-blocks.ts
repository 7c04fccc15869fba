import { BoundedMap } from '../../core/bounded-map.ts';
import { Block, packBlock } from '../../archive/block.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { LogRecord } from '../../core/log.ts';
import type { Database, SqlValue, Statement } from '../driver/driver.ts';

/** A path of cooled messages is read block after block; a few are kept, 300 KB each. */
const KEPT_BLOCKS = 8;

/** Reads commits that have cooled, over one connection. The log row of such a commit has its block's number in place of its seals. */
export class CoolBlocks {
  readonly #find: Statement;
  readonly #kept = new BoundedMap<number, Block>(KEPT_BLOCKS);

  constructor(database: Database) {
    this.#find = database.prepare('SELECT c, first, last, bytes FROM blocks WHERE b = ?');
  }

  /** From here on blocks may have changed. */
  forget(): void {
    this.#kept.clear();
  }

  /** The record of a version; throws `corrupt`, with the place and the versions that are affected. */
  log(b: number, version: number): LogRecord {
    const log = this.block(b).log(version);
    if (log) return log;
    throw new TurnkeepError('corrupt', { place: placeOf(b), reason: `it does not hold version ${version}` });
  }

  block(b: number): Block {
    const kept = this.#kept.get(b);
    if (kept) return kept;
    const row = this.#find.get(b);
    if (!row) throw new TurnkeepError('corrupt', { place: placeOf(b), reason: 'the archive block is missing' });
    const [c, first, last, bytes] = row as [number, number, number, SqlValue];
    const place = `${placeOf(b)}, versions ${first} to ${last}`;
    if (!(bytes instanceof Uint8Array)) throw new TurnkeepError('corrupt', { place, reason: 'it is no archive block' });
    const block = Block.read(bytes, ownerOf(c), place);
    this.#kept.set(b, block);
    return block;
  }
}

/** The number of the block that holds a commit, where the commit has cooled; `seals` is that column of its log row. */
export function blockIn(seals: SqlValue | undefined): number | undefined {
  return typeof seals === 'number' ? seals : undefined;
}

/** The bytes of a block of a conversation. */
export function blockOf(c: number, logs: readonly LogRecord[]): Uint8Array {
  return packBlock(ownerOf(c), logs);
}

/** Takes words out of blocks, within the caller's transaction. */
export class BlockEditor {
  readonly #blocks: CoolBlocks;
  readonly #owner: Statement;
  readonly #put: Statement;

  constructor(database: Database, blocks: CoolBlocks) {
    this.#blocks = blocks;
    this.#owner = database.prepare('SELECT c FROM blocks WHERE b = ?');
    this.#put = database.prepare('UPDATE blocks SET bytes = ? WHERE b = ?');
  }

  /** Writes a block anew with other records in the place of some: no byte of the words that went is left in it. */
  rewrite(b: number, edited: readonly LogRecord[]): void {
    const byVersion = new Map(edited.map((log) => [log.version, log]));
    const logs = this.#blocks.block(b).logs();
    const c = this.#owner.get(b)?.[0] as number; // it was read just now
    const replaced = logs.map((log) => byVersion.get(log.version) ?? log);
    this.#put.run(blockOf(c, replaced), b);
    this.#blocks.forget();
  }
}

/** Numbers are the file's own: a block at the place of another is told apart. */
function ownerOf(c: number): string {
  return `conversation number ${c}`;
}

function placeOf(b: number): string {
  return `archive block ${b}`;
}
