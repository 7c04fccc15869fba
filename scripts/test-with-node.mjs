import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { argumentsOf, wrongArguments } from '../packages/turnkeep/dist/testing/command-line.js';

const usage = `usage: npm run test:node -- VERSION [vitest arguments]

Runs the compiled tests with another Node.js, which the npm package "node" brings for the occasion. The native
better-sqlite3 is built for the Node.js that installed it, so a run on another one also shows that the SQLite backend falls
back to node:sqlite. Child processes of the tests use the same Node.js (process.execPath).

  npm run test:node -- 22                    the whole suite on the newest Node.js 22
  npm run test:node -- 24 packages/turnkeep  what follows the version goes to vitest`;

const [version, ...forwarded] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  argumentsOf({ usage, options: {}, allowPositionals: true });
  wrongArguments(version === undefined ? 'no version is named' : `'${version}' is no version of Node.js`);
}

const root = join(import.meta.dirname, '..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const npx = ['--yes', `--package=node@${version}`, '--', 'node', vitest, 'run', ...forwarded];
const run = spawnSync('npx', npx, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
process.exit(run.status ?? 1);
