import { abortedBy } from '../core/abort.ts';
import type { StoreFault } from '../core/backend.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Session, SqlRow } from './driver/driver.ts';
import { storedHead } from './commit/loader.ts';
import { inSession } from './driver/session.ts';
import type { StoredHead } from './commit/snapshot.ts';
import { checksOf, readHeads } from './sql/check.ts';
import { listNamespaces } from './sql/namespaces.ts';
import { begin, beginSnapshot, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

/** Heads that are read together. */
const HEADS = 500;
/** Faults of one kind of check that are told of a namespace. */
const MOST_FAULTS = 100;

/** The namespaces that hold something, in UTF-8 order. */
export async function namespacesOf(store: Store): Promise<readonly NamespaceId[]> {
  return inSession(store, async (session) => {
    const results = await session.run([begin(), enterNamespace('*'), listNamespaces(store.schema), commit()]);
    return (results[2] ?? []).map(([namespace]) => namespace as NamespaceId); // a text column
  });
}

/** Checks what only this backend can check, one namespace after the other, each on one snapshot. */
export async function checkStore(store: Store, signal?: AbortSignal): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for (const namespace of await namespacesOf(store)) {
    if (signal?.aborted) throw abortedBy(signal);
    faults.push(...(await checkNamespace(store, namespace)));
  }
  return faults;
}

async function checkNamespace(store: Store, namespace: string): Promise<readonly StoreFault[]> {
  return inSession(store, async (session) => {
    const checks = checksOf(store.schema, namespace);
    const statements = checks.map(({ statement }) => statement);
    const results = await session.run([beginSnapshot(), enterNamespace(namespace), ...statements]);
    const faults = checks.flatMap(({ kind, reason }, at) =>
      (results[at + 2] ?? []).map(([place]) => ({ kind, place: String(place), reason })),
    );
    faults.unshift(...(await checkHeads(store, session, namespace)));
    await session.run([commit()]);
    return faults.map((fault) => ({ ...fault, place: `namespace ${namespace}, ${fault.place}` }));
  });
}

/** Heads that are no JSON any more, or not what is beside them. */
async function checkHeads({ schema }: Store, session: Session, namespace: string): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for (let after = ''; faults.length < MOST_FAULTS;) {
    const [rows = []] = await session.run([readHeads(schema, namespace, after, HEADS)]);
    faults.push(...rows.flatMap(checkHead));
    if (rows.length < HEADS) break;
    after = rows.at(-1)?.[0] as string; // a text column
  }
  return faults.slice(0, MOST_FAULTS);
}

/** `row` is the columns of `readHeads`. */
function checkHead([id, version, created, owner, activity, listedOwner, places, text]: SqlRow): readonly StoreFault[] {
  const place = `conversation ${String(id)}`;
  const stored = headOrNot([id, '', 0, places, text]);
  if (!stored) return [{ kind: 'head_damaged', place, reason: 'what stands in the table heads is not JSON' }];
  const { head } = stored;
  const isItself =
    head.conversationId === id &&
    head.version === Number(version) &&
    head.createdAt === Number(created) &&
    head.owner === owner;
  const isListed = activity !== null && head.lastActivityAt === Number(activity) && listedOwner === owner;
  return [
    ...(isItself ? [] : [{ kind: 'head_mismatch', place, reason: 'the columns of a head are not those of its text' }]),
    ...(isListed ? [] : [{ kind: 'recency_mismatch', place, reason: 'the listing by activity differs from the head' }]),
  ];
}

function headOrNot(row: SqlRow): StoredHead | undefined {
  try {
    return storedHead(row);
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return undefined;
    throw error;
  }
}
