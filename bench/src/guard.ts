import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsOf } from '../../packages/turnkeep/dist/testing/command-line.js';
import { compare, confirmed, renewed } from './baseline.ts';
import type { Baseline, Comparison } from './baseline.ts';
import type { MeasuredBar } from './findings.ts';
import { numberOf } from './report/table.ts';
import { runWorkloads } from './run.ts';
import { committers } from './workloads/committers.ts';
import { constantPart } from './workloads/constant-part.ts';
import { history } from './workloads/history.ts';
import { load } from './workloads/load.ts';
import { longConversation } from './workloads/long-conversation.ts';
import { rules } from './workloads/rules.ts';

const USAGE = `usage: npm run bench:guard -- [--renew]

Compares ratios, the medians of three quick runs of Turnkeep alone, with those of bench/baseline.json, which says how much
worse each may be. Ratios move with the machine far less than times, and still they move: what is worse than its tolerance
is measured anew, and counts only if the median of three more runs, by themselves, is worse as well.

  --renew  writes the ratios of this machine into the baseline; tolerances stay`;

const { values } = argumentsOf({ usage: USAGE, options: { renew: { type: 'boolean', default: false } } });
const FILE = join(import.meta.dirname, '../baseline.json');
const RUNS = 3;
const WATCHED = [rules, committers, load, history, longConversation, constantPart];

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const baseline = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline; // our own file

type Runs = readonly (readonly MeasuredBar[])[];

/** Runs workloads three times; those whose ratios are named. */
async function measure(names: readonly string[]): Promise<Runs> {
  const workloads = WATCHED.filter(({ name }) => names.includes(name));
  const runs: (readonly MeasuredBar[])[] = [];
  for (let run = 1; run <= RUNS; run++) {
    const { bars } = await runWorkloads({ scale: 'quick', only: 'turnkeep', workloads, say: () => undefined });
    runs.push(bars);
    say(`run ${run} of ${workloads.map(({ name }) => name).join(', ')}`);
  }
  return runs;
}

/** What the runs say, and what a second measurement says of that which was worse. */
async function judged(runs: Runs): Promise<readonly Comparison[]> {
  const first = compare(baseline, runs);
  const suspects = new Set(first.filter(({ passes }) => !passes).map(({ name }) => name));
  if (suspects.size === 0) return first;
  const again = runs.flat().flatMap(({ name, workload }) => (suspects.has(name) ? [workload] : []));
  return confirmed(first, compare(baseline, await measure(again)));
}

function lineOf({ name, ratio, was, worse: factor, tolerance, passes }: Comparison): string {
  const verdict = passes ? 'same ' : 'WORSE';
  const change = `${factor.toFixed(2)} times worse, ${tolerance} allowed`;
  return `  ${verdict}  ${name.padEnd(26)} ${numberOf(ratio)}, was ${numberOf(was)}: ${change}`;
}

const runs = await measure(WATCHED.map(({ name }) => name));
if (values.renew) writeFileSync(FILE, `${JSON.stringify(renewed(baseline, runs), null, 2)}\n`);
const comparisons = values.renew ? compare(baseline, runs) : await judged(runs);
for (const comparison of comparisons) say(lineOf(comparison));
process.exit(!values.renew && comparisons.some(({ passes }) => !passes) ? 1 : 0);
