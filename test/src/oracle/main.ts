import { argumentsOf, wholeNumber, wrongArguments } from '../../../packages/turnkeep/dist/testing/command-line.js';
import { BACKENDS } from './backends.ts';
import { tableOf } from './coverage.ts';
import type { Coverage } from './coverage.ts';
import { drive } from './drive.ts';
import type { Driven } from './drive.ts';
import { shrink } from './shrink.ts';
import { lineOf } from './trace.ts';
import type { Difference, Subject } from './world.ts';

const LAST = 12;
const SAID_EVERY = 50;

const USAGE = `usage: npm run oracle -- [--backend NAME] [--seed S] [--seeds N] [--ops N] [--coverage] [--without KIND]…

Compares a backend with the oracle on random histories. Where the two differ it prints the seed, both answers, the last
commits, and the shortest history that it could find which still ends in that difference. The long run is
--seeds 1000 --ops 350: 350,000 commits.

  --backend NAME  ${Object.keys(BACKENDS).join(', ')}; memory when absent
  --seed S        the first seed; 1 when absent
  --seeds N       so many seeds, each a history; 100 when absent
  --ops N         commits of a history; 350 when absent
  --coverage      prints how often each kind of change was made and refused
  --without KIND  leaves a question out, such as search; may be repeated`;

/** Compares a backend with the oracle on random histories. */
async function main(): Promise<number> {
  const { values } = argumentsOf({
    usage: USAGE,
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '100' },
      ops: { type: 'string', default: '350' },
      backend: { type: 'string', default: 'memory' },
      without: { type: 'string', multiple: true },
      coverage: { type: 'boolean', default: false },
    },
  });
  const open = BACKENDS[values.backend] ?? wrongArguments(`no backend is called '${values.backend}'`);
  const subject = { open, without: values.without };
  const first = wholeNumber('seed', values.seed);
  const last = first + wholeNumber('seeds', values.seeds) - 1;
  const ops = wholeNumber('ops', values.ops);
  const coverage: Coverage = new Map();
  let operations = 0;
  let comparisons = 0;
  for (let seed = first; seed <= last; seed++) {
    const driven = await drive(seed, ops, subject, coverage);
    operations += driven.operations;
    comparisons += driven.comparisons;
    if ((seed - first + 1) % SAID_EVERY === 0) console.error(`seed ${seed}: ${operations} commits so far`);
    if (driven.difference) {
      await report(seed, driven, driven.difference, subject);
      return 1;
    }
  }
  if (values.coverage) console.log(tableOf(coverage));
  console.log(
    `${values.backend}: seeds ${first} to ${last}: ${operations} commits, ${comparisons} comparisons, no difference`,
  );
  return 0;
}

async function report(seed: number, driven: Driven, difference: Difference, subject: Subject): Promise<void> {
  console.log(`seed ${seed}, commit ${driven.operations}: ${told(difference)}`);
  console.log(`the last ${LAST} commits:`);
  for (const item of driven.trace.slice(-LAST)) console.log(`  ${lineOf(item)}`);
  const shrunk = await shrink(driven.trace, difference, subject);
  console.log(`\nat its shortest (${shrunk.trace.length} commits): ${told(shrunk.difference)}`);
  for (const item of shrunk.trace) console.log(`  ${lineOf(item)}`);
}

function told({ about, oracle, store }: Difference): string {
  return `${about}\n  oracle: ${oracle}\n  store:  ${store}`;
}

process.exitCode = await main();
