import { abortedBy } from '../../core/abort.ts';
import type { ConversationId } from '../../core/ids.ts';
import { TABLES } from '../../core/keys.ts';
import type { Session, Statement } from '../driver/driver.ts';
import { storedHead } from '../commit/loader.ts';
import { mayBePacked, tableOf, withRows } from './row-pack.ts';
import type { PackedRow, RowPack } from './row-pack.ts';
import type { Schema } from '../schema/schema-name.ts';
import type { StoredHead } from '../commit/snapshot.ts';
import { inSession } from '../driver/session.ts';
import { lockHeads } from '../sql/lock-heads.ts';
import { notePacks, packsOf, putPacks, rowsToPack } from '../sql/pack.ts';
import { removeRows } from '../sql/remove-rows.ts';
import { begin, commit, enterBounded } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

const LOCK_MS = 5_000;
const IDLE_MS = 60_000;
/** Rows of one transaction, which holds the conversation's head: twice what the commits of a block mostly leave. */
const SLICE = 2_048;

/** Of a conversation's branches each commit looks at some, however old they are. */
const STAYS: readonly string[] = [TABLES.branches];

/**
 * Packs the next rows of a conversation, by key after `after`, that commits left which have cooled. Answers the key after
 * which the next ones come; `undefined` where there are none. Rows move in one transaction that holds the head: nobody sees
 * them twice, or not at all. One that is damaged stays where it is.
 */
export async function packRows(
  store: Store,
  namespace: string,
  id: ConversationId,
  after: string,
): Promise<string | undefined> {
  const { schema } = store;
  return inSession(store, async (session) => {
    const start = [begin(), enterBounded(namespace, LOCK_MS, IDLE_MS), lockHeads(schema, namespace, [id], true)];
    const head = (await session.run(start)).at(-1)?.[0];
    const stored = head && storedHead(head);
    const found = stored ? await nextRows(schema, session, namespace, { c: stored.c, after }) : [];
    const rows = found.filter(mayBePacked);
    const moves = stored && rows.length > 0 ? await movesOf(schema, session, namespace, { id, stored, rows }) : [];
    await session.run([...moves, commit()]);
    return found.length < SLICE ? undefined : found.at(-1)?.key;
  });
}

/** What moves rows into the packs that they belong into. */
async function movesOf(
  schema: Schema,
  session: Session,
  namespace: string,
  {
    id,
    stored: { c, packs },
    rows,
  }: { readonly id: ConversationId; readonly stored: StoredHead; readonly rows: readonly PackedRow[] },
): Promise<readonly Statement[]> {
  const keys = rows.map(({ key }) => key);
  const [found = []] = await session.run([packsOf(schema, namespace, c, keys)]);
  const before = found.map(([first, last, body]) => ({ first, last, body }) as RowPack); // text columns
  return [
    putPacks(schema, namespace, c, withRows(before, rows)),
    removeRows(schema, namespace, c, keys),
    notePacks(schema, namespace, id, tablesIn(packs, keys)),
  ];
}

async function nextRows(
  schema: Schema,
  session: Session,
  namespace: string,
  { c, after }: { readonly c: string; readonly after: string },
): Promise<readonly PackedRow[]> {
  const [rows = []] = await session.run([rowsToPack(schema, namespace, { c, after, but: STAYS, limit: SLICE })]);
  return rows.map(([key, value]) => ({ key: key as string, value: value as string })); // text columns
}

/** The letters of the tables of which rows are packed, with those of more keys. */
function tablesIn(packs: string, keys: readonly string[]): string {
  return [...new Set([...Array.from(packs), ...keys.map(tableOf)])].sort().join('');
}

/** Packs all rows of a conversation that commits left which have cooled. */
export async function packAllRows(
  store: Store,
  namespace: string,
  id: ConversationId,
  signal?: AbortSignal,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    if (signal?.aborted) throw abortedBy(signal);
    after = await packRows(store, namespace, id, after);
  }
}
