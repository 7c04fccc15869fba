import { existsSync, statSync } from 'node:fs';
import { CONTENDERS } from '../contenders/index.ts';
import { makeTurn } from '../measure/turn.ts';
import { COUNTED } from './sync-count.ts';
import type { SyncCount } from './sync-count.ts';

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
for (let at = 0; at < COUNTED.alone; at++) await store.turn('alone', makeTurn(11 + at));
const between = counted();
await Promise.all(
  Array.from({ length: COUNTED.committers }, async (_, at) => {
    for (let number = 0; number < COUNTED.turns; number++) await store.turn(`talk-${at}`, makeTurn(number));
  }),
);
const after = counted();
const count: SyncCount = {
  alone: (between - before) / COUNTED.alone,
  together: (after - between) / (COUNTED.committers * COUNTED.turns),
  says: await store.sync(),
};
await store.close();
process.stdout.write(JSON.stringify(count));
process.exit(0);
