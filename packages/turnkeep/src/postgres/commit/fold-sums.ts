import type { RowValue } from '../../core/backend.ts';
import { newShelf, SHELVES } from '../../core/shelf.ts';
import { systemNow } from '../../platform/clock.ts';
import type { SqlRow } from '../driver/driver.ts';
import { parseValue } from './loader.ts';
import { inSession } from '../driver/session.ts';
import { ShelfTransaction } from './shelf-transaction.ts';
import { takeAdditions } from '../sql/additions.ts';
import { loadRows } from '../sql/load.ts';
import type { Store } from '../store.ts';
import { summed } from './sums.ts';

/** Additions of one transaction. */
const SLICE = 1_024;

/**
 * Moves what was added to a namespace's sums into the rows of its shelf, in slices. Who folds holds the shelf's head, which
 * no commit needs; a reader sees a slice on one side or on the other.
 */
export async function foldSums(store: Store, namespace: string): Promise<void> {
  while (await foldSlice(store, namespace));
}

/** False when nothing is left. */
async function foldSlice(store: Store, namespace: string): Promise<boolean> {
  const { schema } = store;
  return inSession(store, async (session) => {
    const shelf = await ShelfTransaction.begin(store, session, namespace, { id: SHELVES.usage, lock: 'alone' });
    const [taken = []] = await shelf.run([takeAdditions(schema, namespace, SLICE)]);
    const added = summed(taken.map(([key, value]) => sumOf(key as string, value)));
    const keys = [...added.keys()].map((key) => ({ conversation: SHELVES.usage, c: null, mayBePacked: false, key }));
    const [found = []] = keys.length > 0 ? await shelf.run([loadRows(schema, namespace, keys)]) : [];
    const before = found.map(([which, value]: SqlRow) => sumOf(keys[Number(which) - 1]?.key ?? '', value));
    const rows = [...summed([...added, ...before])].map(([key, value]) => ({
      conversation: SHELVES.usage,
      key,
      value,
    }));
    const heads = shelf.isNew && rows.length > 0 ? [newShelf(SHELVES.usage, systemNow(), store.sha256)] : [];
    await shelf.end({ heads, rows, edits: [] }, []);
    return taken.length === SLICE;
  });
}

function sumOf(key: string, text: unknown): readonly [string, RowValue] {
  return [key, parseValue(SHELVES.usage, key, text)];
}
