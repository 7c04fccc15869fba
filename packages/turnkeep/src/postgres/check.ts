import type { StoreFault } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import { inSession } from './session.ts';
import { checksOf } from './sql/check.ts';
import { listNamespaces } from './sql/namespaces.ts';
import { begin, beginSnapshot, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

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
    if (signal?.aborted) throw new TurnkeepError('aborted', { reason: String(signal.reason) });
    faults.push(...(await checkNamespace(store, namespace)));
  }
  return faults;
}

async function checkNamespace(store: Store, namespace: string): Promise<readonly StoreFault[]> {
  return inSession(store, async (session) => {
    const checks = checksOf(store.schema, namespace);
    const statements = checks.map(({ statement }) => statement);
    const results = await session.run([beginSnapshot(), enterNamespace(namespace), ...statements, commit()]);
    return checks.flatMap(({ kind, reason }, at) =>
      (results[at + 2] ?? []).map(([place]) => ({ kind, place: `namespace ${namespace}, ${String(place)}`, reason })),
    );
  });
}
