import { existsSync, statSync } from 'node:fs';
import { CONTENDERS } from '../contenders/index.ts';
import { makeTurn } from '../measure/turn.ts';

/** What one contender did: syncs of this process for each turn, and what it says of its settings after writing. */
export interface SyncCount {
  readonly alone: number;
  readonly together: number;
  readonly says: string;
}

const ALONE = 100;
const TOGETHER = { committers: 64, turns: 4 };

/** Commits turns of one contender where syncs are counted: `durability-child NAME FOLDER`. */
const [name = '', folder = ''] = process.argv.slice(2);
const counter = process.env['TURNKEEP_SYNCS'] ?? '';
const counted = () => (existsSync(counter) ? statSync(counter).size : 0);

const contender = CONTENDERS.find((one) => one.name === name);
if (!contender) throw new Error(`nobody is called ${name}`);
const store = await contender.open(folder);
await store.grow('alone', 10);
await store.turn('alone', makeTurn(10));
const before = counted();
for (let at = 0; at < ALONE; at++) await store.turn('alone', makeTurn(11 + at));
const between = counted();
await Promise.all(
  Array.from({ length: TOGETHER.committers }, async (_, at) => {
    for (let number = 0; number < TOGETHER.turns; number++) await store.turn(`talk-${at}`, makeTurn(number));
  }),
);
const after = counted();
const count: SyncCount = {
  alone: (between - before) / ALONE,
  together: (after - between) / (TOGETHER.committers * TOGETHER.turns),
  says: await store.sync(),
};
await store.close();
process.stdout.write(JSON.stringify(count));
process.exit(0);
