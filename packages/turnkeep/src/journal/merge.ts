/** An entry of one of several sorted sources. */
interface Keyed {
  readonly key: string;
}

interface Cursor<Entry> {
  readonly next: () => Entry | undefined;
  current: Entry;
}

/**
 * Merges sorted sources into one, in ascending or descending key order. Of entries with one key the one of the earliest
 * source stands: sources are given newest first.
 */
export function* mergeSorted<Entry extends Keyed>(
  sources: readonly Iterator<Entry>[],
  reverse: boolean,
): Generator<Entry> {
  const cursors: Cursor<Entry>[] = sources.flatMap((source) => {
    const next = () => {
      const step = source.next();
      return step.done === true ? undefined : step.value;
    };
    const current = next();
    return current ? [{ next, current }] : [];
  });
  while (cursors.length > 0) {
    const best = cursors.reduce((least, cursor) =>
      (reverse ? cursor.current.key > least.current.key : cursor.current.key < least.current.key) ? cursor : least,
    ).current;
    yield best;
    for (let at = cursors.length - 1; at >= 0; at--) advance(cursors, at, best.key);
  }
}

function advance<Entry extends Keyed>(cursors: Cursor<Entry>[], at: number, key: string): void {
  const cursor = cursors[at];
  if (!cursor || cursor.current.key !== key) return;
  const next = cursor.next();
  if (next) cursor.current = next;
  else cursors.splice(at, 1);
}
