// Tests run on the compiled output, because worker threads and child processes load real files and Node.js 20 cannot
// strip types. Only the test files pass through vitest; what they import is loaded by Node.js itself.

import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** The files that take longest, the longest first: begun last, one of them would keep a single worker busy at the end. */
const LONGEST = [
  'journal/conformance',
  'testing/sqlite-conformance',
  'oracle/oracle.prop',
  'postgres/kills.crash.pg',
  'agents/agents.pg',
  'agents/crash.proc',
  'cli/hostile.proc',
  'sqlite/kills.crash',
  'promises/tiers',
  'promises/faults',
  'cli/commands.proc',
  'formats/round-trip',
  'cli/import.proc',
  'context/prefix.prop',
  'documents/command-lines.proc',
  'cli/errors.proc',
  'cli/doctor.proc',
  'testing/export.prop',
  'journal/faults.crash',
];

class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rankOf = ({ moduleId }) => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.js`));
      return rank < 0 ? LONGEST.length : rank;
    };
    return (await super.sort(files)).toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}

/** Ends a test that hangs, and no other: what a machine with much else to do takes is no fault. */
const HANGS_MS = 180_000;

export default defineConfig({
  test: {
    include: ['packages/*/dist/**/*.test.js', 'test/dist/**/*.test.js', 'bench/dist/**/*.test.js'],
    setupFiles: ['./scripts/property-seed.mjs'],
    pool: 'forks',
    // On two cores vitest would leave one of them idle.
    maxWorkers: '100%',
    execArgv: ['--enable-source-maps'],
    server: { deps: { external: [/\/dist\/(?!.*\.test\.js$)/] } },
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    teardownTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
});
