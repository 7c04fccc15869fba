import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsOf } from '../packages/turnkeep/dist/testing/command-line.js';

const usage = `usage: npm run examples

Runs every example of the package, each a whole program that can be read and copied alone; each checks its own outcome and ends with an error where it is not as it should be.`;
argumentsOf({ usage, options: {} });

const folder = join(import.meta.dirname, '../packages/turnkeep/examples');
const examples = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
const failed = [];
for (const name of examples) {
  console.log(`\n${name}`);
  const run = spawnSync(process.execPath, [join(folder, name)], { stdio: 'inherit', timeout: 300_000 });
  if (run.status !== 0) failed.push(name);
}
console.log(`\n${examples.length - failed.length} of ${examples.length} examples are as they should be`);
if (failed.length > 0 || examples.length === 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
