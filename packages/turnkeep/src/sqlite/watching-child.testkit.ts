import { openSqlite } from './open.ts';
import { message, NAMESPACE } from './sqlite-backend.testkit.ts';

// A process that writes and watches: `node watching-child.testkit.js PATH CONVERSATION COMMITS ALL` commits so often, and says
// as JSON which commits of all processes it saw, in their order, once those are `ALL`.

const [path = '', conversation = '', commits = '0', all = '0'] = process.argv.slice(2);
const store = await openSqlite(path);
const seen: string[] = [];
let position = 0;
let ring = (): void => undefined;
store.onCommit(NAMESPACE, () => ring());

async function watch(): Promise<void> {
  while (seen.length < Number(all)) {
    const rung = new Promise<void>((resolve) => {
      ring = resolve;
    });
    const entries = await store.feed(NAMESPACE, position, 10);
    for (const entry of entries) {
      position = entry.position;
      seen.push(`${entry.conversationId} ${entry.version}`);
    }
    if (entries.length === 0) await rung;
  }
}

async function write(): Promise<void> {
  for (let at = 0; at < Number(commits); at++) await store.commit(message(conversation, `word ${at}`));
}

await Promise.all([watch(), write()]);
process.stdout.write(JSON.stringify(seen));
await store.close();
