import { parseArgs } from 'node:util';
import type { CrashHarness } from './harness.ts';

/**
 * `npm run crash -- --backend NAME --runs N --seed S`: stops a store in the middle of its work, N times, and checks what is
 * left. The same seed makes the same runs. The last line is `N passed, N failed`.
 */
const HARNESSES: { readonly [backend: string]: () => Promise<CrashHarness> } = {
  sqlite: async () => (await import('./sqlite/kills.ts')).killRuns,
  journal: async () => (await import('./journal/runs.ts')).journalRuns,
  postgres: async () => (await import('./postgres/kills.ts')).killRuns,
};

const { values } = parseArgs({
  options: {
    backend: { type: 'string', default: 'sqlite' },
    runs: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(process.pid) },
  },
});

const harness = HARNESSES[values.backend];
if (!harness) {
  console.error(`no crash runs for ${values.backend}: one of ${Object.keys(HARNESSES).join(', ')}`);
  process.exit(2);
}
console.log(`crash: backend ${values.backend}, runs ${values.runs}, seed ${values.seed}`);
const run = await harness();
const report = await run({ runs: Number(values.runs), seed: Number(values.seed), say: (line) => console.log(line) });
for (const fault of report.faults) console.log(`FAILED ${fault}`);
console.log(`${report.passed} passed, ${report.faults.length} failed`);
process.exit(report.faults.length === 0 ? 0 : 1);
