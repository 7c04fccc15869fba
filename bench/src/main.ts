import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { machineOf } from './measure/machine.ts';
import { barLine, machineLines } from './report/table.ts';
import { runWorkloads } from './run.ts';
import { WORKLOADS } from './workloads/index.ts';

/**
 * Measures Turnkeep beside its peers and beside what the disk can do:
 *
 *     npm run bench                         every workload
 *     npm run bench -- NAME…                those that are named
 *     npm run bench -- --quick              less of each; under a minute
 *     npm run bench -- --json FILE          the figures for a program, and for `npm run bench:docs`
 *
 * A shared machine is noisy: what is compared takes turns within the run, and ratios are what counts. It ends with 1 where a
 * bar fails, in a full run.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const unknown = positionals.filter((name) => !WORKLOADS.some((workload) => workload.name === name));
if (unknown.length > 0) {
  say(`no workload is called ${unknown.join(', ')}; there are:`);
  for (const { name, measures } of WORKLOADS) say(`  ${name.padEnd(20)} ${measures}`);
  process.exit(2);
}

const machine = machineOf(process.env['TURNKEEP_BENCH_FOLDER'] ?? tmpdir());
say(machineLines(machine));
const workloads = WORKLOADS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const findings = await runWorkloads({ scale: values.quick ? 'quick' : 'full', workloads, say });

if (findings.bars.length > 0) say('\nbars');
for (const bar of findings.bars) say(barLine(bar));
if (values.quick) say('  a quick run measures too little to judge a bar by');
if (values.json !== undefined) {
  const { rows, bars, plots, notes } = findings;
  writeFileSync(
    values.json,
    `${JSON.stringify({ machine, quick: values.quick, rows, bars, notes, plots }, null, 2)}\n`,
  );
}
// A server that was started for the run would keep the process.
process.exit(!values.quick && findings.bars.some(({ holds }) => !holds) ? 1 : 0);
