import type { LogRecord } from '../../core/log.ts';
import { BlockReader } from '../tiers/blocks.ts';
import type { Connection, SqlRow, Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { indexedWords } from './search-words.ts';
import { addFolded, lockEnds, readToFold, setIndexed } from '../sql/search.ts';
import type { FoldedCommit } from '../sql/search.ts';
import { begin, commit, enterNamespace } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

/** Commits of one transaction, and transactions of one call: what is left is looked through. */
const SLICE = 500;
const SLICES = 20;

/** Adds the words of commits that have their place in the feed to the index, up to a bound. */
export async function foldCommits(store: Store, session: Connection, namespace: string): Promise<void> {
  for (let slice = 0; slice < SLICES; slice++) if (!(await foldSlice(store, session, namespace))) return;
}

/** False when nothing is left. */
async function foldSlice({ schema }: Store, session: Connection, namespace: string): Promise<boolean> {
  const results = await session.run([begin(), enterNamespace(namespace), lockEnds(schema, namespace)]);
  const [last = 0, indexed = 0] = (results[2]?.[0] ?? []).map(Number);
  if (indexed >= last) {
    await session.run([commit()]);
    return false;
  }
  const [page = []] = await session.run([readToFold(schema, namespace, indexed, SLICE)]);
  const rows = page.filter(([, , version]) => version !== null);
  const logs = await new BlockReader(schema, namespace).logsOf(
    session,
    rows.map(([, , ...columns]) => columns),
  );
  const end = Number(page.at(-1)?.[0] ?? indexed);
  await session.run([...foldedRows(schema, namespace, rows, logs), setIndexed(schema, namespace, end), commit()]);
  return page.length === SLICE;
}

function foldedRows(
  schema: Schema,
  namespace: string,
  rows: readonly SqlRow[],
  logs: readonly (LogRecord | undefined)[],
): readonly Statement[] {
  const commits = rows.flatMap(([position, c], at): readonly FoldedCommit[] => {
    const words = indexedWords(logs[at]);
    return words === null ? [] : [{ position: Number(position), c: String(c), version: Number(rows[at]?.[2]), words }];
  });
  return commits.length > 0 ? [addFolded(schema, namespace, commits)] : [];
}
