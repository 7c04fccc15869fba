import { openSqlite } from './open.ts';
import { message } from './sqlite-backend.testkit.ts';

// A process that writes to a store: `node sqlite-child.testkit.js PATH CONVERSATION COMMITS WAITING [JOURNAL]` commits so
// often, with so many commits on their way at a time. It says `open`, waits for a line, says the version of each commit once it
// is acknowledged, and ends.

const [path = '', conversation = '', commits = '0', waiting = '1', journal] = process.argv.slice(2);
const store = await openSqlite(path, { journal: journal === 'rollback' ? journal : 'auto' });
let left = Number(commits);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function keepCommitting(): Promise<void> {
  while (left-- > 0) {
    const { version, commitId } = await store.commit(message(conversation, `word of ${process.pid}`));
    say(`${version} ${commitId}`);
  }
}

say('open');
await new Promise((resolve) => {
  process.stdin.once('data', resolve);
});
await Promise.all(Array.from({ length: Number(waiting) }, keepCommitting));
await store.close();
process.stdin.unref();
process.exit(0);
