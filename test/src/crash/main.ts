import { argumentsOf, wholeNumber, wrongArguments } from '../../../packages/turnkeep/dist/testing/command-line.js';
import type { CrashHarness } from './harness.ts';

/** Stops a store in the middle of its work, again and again, and checks what is left. */
const HARNESSES: { readonly [backend: string]: () => Promise<CrashHarness> } = {
  sqlite: async () => (await import('./sqlite/kills.ts')).killRuns,
  journal: async () => (await import('./journal/runs.ts')).journalRuns,
  postgres: async () => (await import('./postgres/kills.ts')).killRuns,
};

const USAGE = `usage: npm run crash -- [--backend NAME] [--runs N] [--seed S]

Stops a store in the middle of its work, again and again, and checks what is left. The same seed makes the same runs.
The last line is "N passed, N failed".

  --backend NAME  ${Object.keys(HARNESSES).join(', ')}; sqlite when absent
  --runs N        how often; 50 when absent
  --seed S        a whole number; another one each time when absent`;

const { values } = argumentsOf({
  usage: USAGE,
  options: {
    backend: { type: 'string', default: 'sqlite' },
    runs: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(process.pid) },
  },
});

const harness = HARNESSES[values.backend] ?? wrongArguments(`no backend is called '${values.backend}'`);
const runs = wholeNumber('runs', values.runs);
const seed = wholeNumber('seed', values.seed);
console.log(`crash: backend ${values.backend}, runs ${runs}, seed ${seed}`);
const run = await harness();
const report = await run({ runs, seed, say: (line) => console.log(line) });
for (const fault of report.faults) console.log(`FAILED ${fault}`);
console.log(`${report.passed} passed, ${report.faults.length} failed`);
process.exit(report.faults.length === 0 ? 0 : 1);
