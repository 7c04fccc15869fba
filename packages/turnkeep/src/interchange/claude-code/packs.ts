import { LIMITS } from '../../core/limits.ts';
import { messageBytes } from '../fit.ts';
import type { BuiltMessage } from './message.ts';
import type { Row } from './row.ts';
import type { TurnTree } from './turns.ts';

/** A commit's rows: soft where a unit ends, hard anywhere. */
const SOFT_BYTES = 6_291_456;
const HARD_BYTES = 12_582_912;
const SOFT_ROWS = 300;
const HARD_ROWS = 600;

/** Where a commit's rows end. It follows from the rows before alone, so that a file that grows keeps its commits. */
export function chunkEnd(rows: readonly Row[], start: number, { unitOf }: Pick<TurnTree, 'unitOf'>): number {
  let bytes = 0;
  for (let at = start; at < rows.length; at++) {
    const row = rows[at] as Row;
    const count = at - start;
    const isNewUnit = unitOf.get(row) !== unitOf.get(rows[at - 1] as Row);
    const isFull = bytes + row.bytes > HARD_BYTES || count >= HARD_ROWS;
    const isFullEnough = isNewUnit && (bytes + row.bytes > SOFT_BYTES || count >= SOFT_ROWS);
    if (count > 0 && (isFull || isFullEnough)) return at;
    bytes += row.bytes;
  }
  return rows.length;
}

/** What a commit holds of messages, beside what else it says. */
const PACK_BYTES = LIMITS.commitBytes - 6_291_456;
const PACK_CHANGES = LIMITS.commitChanges - 10;

/** Messages in packs that each fit a commit; there is always one. */
export function packsOf(messages: readonly BuiltMessage[]): readonly (readonly BuiltMessage[])[] {
  const packs: BuiltMessage[][] = [[]];
  let bytes = 0;
  for (const built of messages) {
    const size = messageBytes(built.message);
    const pack = packs.at(-1) as BuiltMessage[];
    if (pack.length > 0 && (bytes + size > PACK_BYTES || pack.length >= PACK_CHANGES)) {
      packs.push([built]);
      bytes = size;
    } else {
      pack.push(built);
      bytes += size;
    }
  }
  return packs;
}
