import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { argumentsOf, wrongArguments } from '../../packages/turnkeep/dist/testing/command-line.js';
import { machineOf } from './measure/machine.ts';
import { barLine, machineLines } from './report/table.ts';
import { runWorkloads } from './run.ts';
import { WORKLOADS } from './workloads/index.ts';

const USAGE = `usage: npm run bench -- [NAME…] [--quick] [--json FILE]

Measures Turnkeep beside its peers and beside what the disk can do. What is compared takes turns within the run, for a
machine is noisy: ratios are what counts. A full run ends with 1 where a bar fails.

  NAME         only these workloads:
${WORKLOADS.map(({ name, measures }) => `                 ${name.padEnd(20)} ${measures}`).join('\n')}
  --quick      less of each, beside those alone that are as durable, and without durability, opening and cooling;
               under a minute on a machine with nothing else to do
  --json FILE  the figures for a program, and for npm run bench:docs`;

const { values, positionals } = argumentsOf({
  usage: USAGE,
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const unknown = positionals.filter((name) => !WORKLOADS.some((workload) => workload.name === name));
if (unknown.length > 0) wrongArguments(`no workload is called ${unknown.join(', ')}`);

const machine = machineOf(process.env['TURNKEEP_BENCH_FOLDER'] ?? tmpdir());
say(machineLines(machine));
const workloads = WORKLOADS.filter(({ name, onlyWhole }) =>
  positionals.length > 0 ? positionals.includes(name) : !(values.quick && onlyWhole),
);
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
