// Tests run on the compiled output, because worker threads and child processes load real files and Node.js 20 cannot
// strip types. Only the test files pass through vitest; what they import is loaded by Node.js itself.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/dist/**/*.test.js', 'test/dist/**/*.test.js', 'bench/dist/**/*.test.js'],
    pool: 'forks',
    execArgv: ['--enable-source-maps'],
    server: { deps: { external: [/\/dist\/(?!.*\.test\.js$)/] } },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 30_000,
    retry: 0,
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
});
