import { isTurnkeepError } from '../core/errors.ts';
import { pause } from '../platform/timers.ts';
import { openSqlite } from './open.ts';
import { message, NAMESPACE } from './sqlite-backend.testkit.ts';

// A process that writes to a store until the system refuses, `node fill-child.testkit.js PATH`, and says then, as JSON, how
// many commits were acknowledged, and what each call answers: `fine`, or the code of its error.

const REFUSALS = 20;
const STEP_MS = 2;

const [path = ''] = process.argv.slice(2);
const store = await openSqlite(path);
const long = 'word '.repeat(20_000);
let acknowledged = 0;
let refused = 0;
// Between them the WAL is moved into the file, as far as that may grow.
while (refused < REFUSALS) {
  try {
    await store.commit(message('talk', `fox ${acknowledged} ${long}`));
    acknowledged += 1;
  } catch {
    refused += 1;
  }
  await pause(STEP_MS);
}

function codeOf(error: unknown): string {
  return isTurnkeepError(error) ? error.code : String(error);
}

const answers: Record<string, string> = {};
for (const [what, call] of Object.entries({
  search: () => store.search(NAMESPACE, { text: 'fox', limit: 5 }),
  verify: () => store.verify(),
  read: () => store.read(NAMESPACE, (rows) => rows.head('talk')),
  catchUp: () => store.catchUp(),
}))
  answers[what] = await call().then(() => 'fine', codeOf);
await store.close();
process.stdout.write(JSON.stringify({ acknowledged, answers }));
