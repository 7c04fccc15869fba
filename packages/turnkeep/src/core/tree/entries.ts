import type { RowValue } from '../backend.ts';
import type { ConversationId } from '../ids.ts';
import { beforeSeparator, KEYS, numberKey, numbersIn, prefixEnd } from '../keys.ts';
import type { Stamp } from '../rows.ts';
import { seesEntry } from './path.ts';
import type { Segment, Tree } from './path.ts';

/** An entry as it holds on a path. */
export interface Entry {
  readonly owner: ConversationId;
  readonly stamp: Stamp;
  readonly value: RowValue;
}

/** Own entries of later versions are not seen: a conversation as it was. */
export interface AtVersion {
  readonly version?: number | undefined;
}

const SCAN_STEP = 8;

/** The entry that holds for `name` on a path: the last one that the path sees. One seek for each branch. */
export function entryOn(tree: Tree, path: Iterable<Segment>, name: string, at: AtVersion = {}): Entry | undefined {
  for (const segment of path) {
    const entry = lastOf(tree, segment, name, at);
    if (entry) return entry;
  }
  return undefined;
}

function lastOf(tree: Tree, segment: Segment, name: string, at: AtVersion): Entry | undefined {
  const prefix = KEYS.entriesOf(segment.branch, name);
  let to = prefixEnd(prefix + numberKey(segment.position));
  for (;;) {
    const rows = tree.rows.scan(segment.owner, { from: prefix, to, reverse: true, limit: SCAN_STEP });
    for (const row of rows) {
      const [position, version, index] = numbersIn(row.key, prefix.length) as [number, number, number];
      const stamp = { version, index };
      if (sees(tree, segment, position, stamp, at)) return { owner: segment.owner, stamp, value: row.value };
      to = row.key;
    }
    if (rows.length < SCAN_STEP) return undefined;
  }
}

function sees(tree: Tree, segment: Segment, position: number, stamp: Stamp, at: AtVersion): boolean {
  if (segment.own && at.version !== undefined && stamp.version > at.version) return false;
  return seesEntry(tree, segment, position, stamp);
}

/** Every entry that holds on a path and whose name starts with `start`, by name, in the order they were first written. */
export function entriesOn(
  tree: Tree,
  path: Iterable<Segment>,
  start: string,
  at: AtVersion = {},
): ReadonlyMap<string, Entry> {
  const segments = [...path].reverse();
  const found = new Map<string, Entry>();
  for (const segment of segments) {
    const prefix = KEYS.entriesLike(segment.branch, start);
    const tablePrefix = KEYS.entriesLike(segment.branch, '').length;
    const rows = tree.rows.scan(segment.owner, { from: prefix, to: prefixEnd(prefix) });
    const seen = rows
      .map((row) => ({ row, at: placeOf(row.key) }))
      .filter(
        (item) => item.at.position <= segment.position && sees(tree, segment, item.at.position, item.at.stamp, at),
      )
      .sort(byPlace);
    for (const item of seen) {
      const name = beforeSeparator(item.row.key, tablePrefix);
      found.set(name, { owner: segment.owner, stamp: item.at.stamp, value: item.row.value });
    }
  }
  return found;
}

interface EntryPlace {
  readonly position: number;
  readonly stamp: Stamp;
}

function placeOf(key: string): EntryPlace {
  const numbers = numbersIn(key, key.lastIndexOf('\u0001') + 1);
  const [position, version, index] = numbers as [number, number, number];
  return { position, stamp: { version, index } };
}

function byPlace(left: { readonly at: EntryPlace }, right: { readonly at: EntryPlace }): number {
  return (
    left.at.position - right.at.position ||
    left.at.stamp.version - right.at.stamp.version ||
    left.at.stamp.index - right.at.stamp.index
  );
}
