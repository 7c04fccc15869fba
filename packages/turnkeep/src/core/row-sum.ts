import type { RowValue } from './backend.ts';
import { checksum } from './checksum.ts';
import type { Checksum } from './checksum.ts';
import type { Head } from './head.ts';
import type { NamespaceId } from './ids.ts';
import { TABLES } from './keys.ts';

/**
 * Every commit says what it left: a head adds up the rows of its conversation (`rowSum`), and the log's header has the
 * checksum of the head (`headSum`). So `verify` finds any row that is lost, changed, doubled or another's, whatever its
 * table, and needs to know nothing of the kinds of changes for it.
 */
export function rowChecksum(key: string, value: RowValue): Checksum {
  return checksum(key, value);
}

/**
 * True for the rows that a head adds up: those that none but its own commits write. Others note in a conversation what
 * hangs on it, take what redacted words refer to, and add to its sums.
 */
export function isAddedUp(key: string): boolean {
  return !OTHERS.has(key[0] as string);
}

const OTHERS: ReadonlySet<string> = new Set([TABLES.forks, TABLES.spawned, TABLES.references, TABLES.usageSums]);

/** The checksum of a head as a commit leaves it, but for its chain; it holds for that namespace alone. */
export function headChecksum(namespace: NamespaceId, head: Head): Checksum {
  return checksum(namespace, { ...head, chain: undefined });
}
