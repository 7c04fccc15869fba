import { openSqlite } from '../open.ts';
import { message, NAMESPACE } from '../sqlite-backend.testkit.ts';
import { WriterClient } from './writer-client.ts';

// A process that closes a store, or its writer alone, while it is still owed answers, and has nothing else to wait for:
// `node closing-child.testkit.js PATH store|writer`. It says how many answers came, and that it is closed.

const [path = '', what] = process.argv.slice(2);

async function opened(): Promise<{ readonly owed: readonly Promise<unknown>[]; close(): Promise<void> }> {
  if (what === 'store') {
    const store = await openSqlite(path);
    await store.commit(message('talk', 'word'));
    const owed = [store.commit(message('talk', 'word')), store.search(NAMESPACE, { text: 'word', limit: 1 })];
    return { owed, close: () => store.close() };
  }
  const file = { path, journal: 'auto', busyTimeoutMs: 1_000 } as const;
  const { client } = await WriterClient.start(file, () => undefined);
  return { owed: [client.commit(message('talk', 'word'))], close: () => client.close() };
}

const store = await opened();
const settled = Promise.allSettled(store.owed);
await store.close();
process.stdout.write(`${(await settled).length} answers, closed\n`);
