// Lint: correctness and suspicion as errors, type-aware, and the arrows of layers.json. What a linter cannot say
// (packages of a layer, cycles, dead files, clocks outside platform/, documents) is in test/src/tidy/.

import { readFileSync } from 'node:fs';

const layers = JSON.parse(readFileSync(new URL('./layers.json', import.meta.url), 'utf8'));
const source = 'packages/turnkeep/src';
const layerNames = Object.keys(layers).filter((name) => !name.includes('.'));
const tests = ['**/*.test.ts', '**/*.testkit.ts'];

/** Forbids to a layer every other layer that its row does not name. */
function arrows([layer, { imports }]) {
  const forbidden = layerNames.filter((name) => name !== layer.split('/')[0] && !imports.includes(name));
  const regex = `^(?:\\.\\.?/)+(?:${forbidden.join('|')})/`;
  return {
    files: [layer.includes('.') ? `${source}/${layer}` : `${source}/${layer}/**`],
    excludeFiles: tests,
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message: `See ${layer} in layers.json.` }] }] },
  };
}

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['**/dist/**', '**/fixtures/**', '**/golden/**'],
  rules: {
    eqeqeq: 'error',
    'no-alert': 'error',
    'no-console': 'error',
    'no-else-return': 'error',
    'no-eq-null': 'error',
    'no-implicit-coercion': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'import/no-commonjs': 'error',
    'import/no-default-export': 'error',
    'import/no-mutable-exports': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-namespace': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/require-array-sort-compare': 'error',
    'typescript/restrict-plus-operands': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/prefer-node-protocol': 'error',
    'vitest/no-focused-tests': 'error',
    // Sentences of core's story.testkit.ts assert too, and so does `refused` of the promises.
    'vitest/expect-expect': [
      'error',
      {
        assertFunctionNames: ['expect', 'refused', '**.thenWrites', '**.thenRefuses', '**.thenReplays', '**.thenSees'],
      },
    ],
    'vitest/no-disabled-tests': 'error',
    // A cast carries its why in a comment, which a rule cannot read.
    'typescript/no-unsafe-type-assertion': 'off',
    // Own names shadow nothing that matters in short functions, and sorting a fresh array in place is fine.
    'no-shadow': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    // Private fields are written #name; a leading underscore marks an unused parameter.
    'no-underscore-dangle': 'off',
    // Workers and child processes are started for what their module does.
    'import/no-unassigned-import': 'off',
    // Steps that follow each other are awaited one by one.
    'no-await-in-loop': 'off',
    'promise/always-return': 'off',
  },
  overrides: [
    ...Object.entries(layers).map(arrows),
    { files: [`${source}/cli/**`, `${source}/testing/main.ts`, 'test/src/**/main.ts'], rules: { 'no-console': 'off' } },
    { files: ['packages/turnkeep/examples/**', 'scripts/run-*.mjs'], rules: { 'no-console': 'off' } },
    { files: ['**/*.testkit.ts'], rules: { 'vitest/no-standalone-expect': 'off' } },
    {
      // Plain JavaScript: tools load these by their default export, and nothing in them has a type.
      files: ['**/*.mjs'],
      rules: {
        'import/no-default-export': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
  ],
};
