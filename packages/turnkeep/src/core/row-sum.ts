import type { RowValue } from './backend.ts';
import { checksum } from './checksum.ts';
import type { Checksum } from './checksum.ts';
import type { Head } from './head.ts';
import type { NamespaceId } from './ids.ts';
import { TABLES } from './keys.ts';

/**
 * Every commit states what it left: a head holds the sum of its conversation's rows (`rowSum`), and the log's header has
 * the checksum of the head (`headSum`). So `verify` finds any row that is lost, changed, doubled or another's, in whatever
 * table, without knowing the kinds of changes.
 */
export function rowChecksum(key: string, value: RowValue): Checksum {
  return checksum(key, value);
}

/**
 * True for the rows that a head adds up: those that only its own commits write. Other conversations' commits note in it
 * what hangs on it, remove references of redacted words, and add to its sums.
 */
export function isAddedUp(key: string): boolean {
  return !OTHERS.has(key[0] as string);
}

const OTHERS: ReadonlySet<string> = new Set([TABLES.forks, TABLES.spawned, TABLES.references, TABLES.usageSums]);

/** The checksum of a head as a commit leaves it, without its chain; it is valid for that namespace only. */
export function headChecksum(namespace: NamespaceId, head: Head): Checksum {
  return checksum(namespace, { ...head, chain: undefined });
}
