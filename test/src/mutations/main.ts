import { argumentsOf, wholeNumber } from '../../../packages/turnkeep/dist/testing/command-line.js';
import { CATALOGUE } from './catalogue/index.ts';
import { Laboratory, shortName, testFilesOf } from './laboratory.ts';
import type { Verdict } from './laboratory.ts';
import type { Mutation } from './mutation.ts';

const USAGE = `usage: npm run mutations -- [--sample N] [--seed S] [--only TEXT] [--jobs N]

Breaks each rule of the compiled core once, and what the ledger promises beyond them, and expects tests to turn red. Ends with 1 where a mutation survives, is
not found, or breaks the loading instead of a rule.

  --sample N   only N of them, chosen by the seed
  --seed S     1 when absent
  --only TEXT  only those whose file or description contains the text
  --jobs N     so many side by side; 2 when absent`;

const { values } = argumentsOf({
  usage: USAGE,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
  },
});

/** Numbers from 0 to 1 that follow from a seed: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function chosen(): readonly Mutation[] {
  const fitting = CATALOGUE.filter(({ file, breaks }) => `${file} ${breaks}`.includes(values.only));
  if (values.sample === undefined) return fitting;
  const next = random(wholeNumber('seed', values.seed));
  const ranked = fitting.map((mutation) => ({ mutation, rank: next() }));
  return ranked
    .toSorted((left, right) => left.rank - right.rank)
    .slice(0, wholeNumber('sample', values.sample))
    .map(({ mutation }) => mutation);
}

async function main(): Promise<number> {
  const mutations = chosen();
  const started = performance.now();
  const laboratories = Array.from({ length: Math.max(1, wholeNumber('jobs', values.jobs)) }, () => new Laboratory());
  const failures: string[] = [];
  try {
    const [first] = laboratories;
    const tests = [...new Set(mutations.flatMap(testFilesOf))];
    if (tests.length > 0 && (await first?.run(tests)) !== 'survived') {
      console.error('the tests are red before anything is broken');
      return 1;
    }
    const waiting = [...mutations];
    await Promise.all(
      laboratories.map(async (laboratory) => {
        for (let mutation = waiting.shift(); mutation; mutation = waiting.shift()) {
          const verdict = await laboratory.try(mutation);
          const line = describe(mutation, verdict);
          console.log(line);
          if (verdict !== 'killed' && verdict !== 'endless') failures.push(line);
        }
      }),
    );
  } finally {
    for (const laboratory of laboratories) laboratory.close();
  }
  for (const failure of failures) console.error(failure);
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`\n${mutations.length - failures.length} killed, ${failures.length} not, in ${seconds} s`);
  return failures.length > 0 || mutations.length === 0 ? 1 : 0;
}

function describe({ file, breaks }: Mutation, verdict: Verdict): string {
  return `${verdict.padEnd(13)} ${shortName(file).padEnd(20)} ${breaks}`;
}

process.exitCode = await main();
