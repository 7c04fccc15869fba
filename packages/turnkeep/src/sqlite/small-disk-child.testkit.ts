import { isTurnkeepError } from '../core/errors.ts';
import { openSqlite } from './open.ts';
import { message, NAMESPACE, versionOf } from './sqlite-backend.testkit.ts';
import type { SqliteBackend } from './sqlite-backend.ts';

// A process on a disk that is full or soon will be, `node small-disk-child.testkit.js PATH`. It says, as JSON, what each call
// answers (`fine`, or the code of its error), how many commits were acknowledged, and how many are there.

const COMMITS = 40;

function codeOf(error: unknown): string {
  if (isTurnkeepError(error, 'store_unavailable')) return `store_unavailable: ${error.details.reason}`;
  return isTurnkeepError(error) ? error.code : String(error);
}

const answers: Record<string, string> = {};

async function ask(what: string, call: () => Promise<unknown>): Promise<void> {
  answers[what] = await call().then(() => 'fine', codeOf);
}

async function use(store: SqliteBackend): Promise<void> {
  let acknowledged = 0;
  const refusals = new Set<string>();
  for (let at = 0; at < COMMITS; at++) {
    try {
      await store.commit(message('talk', `fox ${at} ${'word '.repeat(200)}`));
      acknowledged += 1;
    } catch (error) {
      refusals.add(codeOf(error));
    }
  }
  const upload = { upload: 'u', index: 0, bytes: new Uint8Array(100_000), now: 1 };
  await ask('search', () => store.search(NAMESPACE, { text: 'fox', limit: 5 }));
  await ask('put', () => store.attachments.add(NAMESPACE, upload));
  await ask('catchUp', () => store.catchUp());
  await ask('verify', async () => {
    // For the index there may be no room, which is told.
    const faults = (await store.verify()).filter(({ kind }) => kind !== 'search_index');
    if (faults.length > 0) throw new Error(JSON.stringify(faults));
  });
  await ask('cool', () => store.cool(NAMESPACE, { hotMessages: 1 }));
  await ask('collect', () => store.collect(NAMESPACE));
  await ask('read', () => store.read(NAMESPACE, (rows) => rows.head('talk')));
  const there = await versionOf(store, 'talk');
  await ask('close', () => store.close());
  say(acknowledged, there, [...refusals]);
}

function say(acknowledged: number, there: number, refusals: readonly string[]): void {
  process.stdout.write(JSON.stringify({ acknowledged, there, refusals, answers }));
}

const [path = ''] = process.argv.slice(2);
let store: SqliteBackend | undefined;
await ask('open', async () => {
  store = await openSqlite(path);
});
if (store) await use(store);
else say(0, 0, []);
