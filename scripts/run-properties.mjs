import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { argumentsOf, wholeNumber, wrongArguments } from '../packages/turnkeep/dist/testing/command-line.js';

const usage = `usage: npm run properties -- [--seeds N] [--seed S] [files]

Runs the property tests once for each of N seeds (1), from S on or from a seed drawn by chance. It stops at the first seed
that turns a test red and prints it. Names of files, or parts of them, choose among the tests.

  npm run properties -- --seeds 20
  npm run properties -- --seed 7 claude-code/import`;

const { values, positionals } = argumentsOf({
  usage,
  options: { seeds: { type: 'string', default: '1' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const seeds = wholeNumber('seeds', values.seeds);
if (seeds === 0) wrongArguments('--seeds takes a number from 1 on');
const first = values.seed === undefined ? randomInt(2 ** 30) : wholeNumber('seed', values.seed);

const root = join(import.meta.dirname, '..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const files = positionals.length > 0 ? positionals : ['.prop.test.js'];
for (let seed = first; seed < first + seeds; seed++) {
  console.log(`\nseed ${seed}`);
  const env = { ...process.env, TURNKEEP_PROPERTY_SEED: String(seed) };
  const run = spawnSync(process.execPath, [vitest, 'run', ...files], { cwd: root, stdio: 'inherit', env });
  if (run.status !== 0) {
    console.error(`\nseed ${seed} turned a test red: npm run properties -- --seed ${seed} ${positionals.join(' ')}`);
    process.exit(1);
  }
}
console.log(`\n${seeds} runs from seed ${first} on: every property held`);
