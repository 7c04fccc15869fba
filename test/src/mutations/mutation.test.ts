import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOGUE } from './catalogue/index.ts';
import { mutated } from './mutation.ts';
import type { Mutation } from './mutation.ts';
import { DIST, Laboratory, testFilesOf } from './laboratory.ts';

test('every mutation finds its code, once, in the compiled library', () => {
  const lost = CATALOGUE.filter(
    (mutation) => mutated(readFileSync(join(DIST, mutation.file), 'utf8'), mutation) === undefined,
  );
  expect(lost.map(({ file, breaks }) => `${file}: ${breaks}`)).toEqual([]);
});

test('every mutation has tests that can turn red', () => {
  const files = CATALOGUE.flatMap((mutation) => testFilesOf(mutation).map((file) => join(DIST, file)));
  expect([...new Set(files)].filter((file) => !existsSync(file))).toEqual([]);
});

test('every rules file and every file of the tree is broken somewhere', () => {
  const broken = new Set(CATALOGUE.map(({ file }) => file));
  const files = ['core/rules', 'core/tree'].flatMap((folder) =>
    readdirSync(join(DIST, folder))
      .filter((name) => name.endsWith('.js') && !/\.(test|testkit)\.js$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  // These two hold no rule: a table of them, and their types.
  const whole = ['core/rules/index.js', 'core/rules/rule.js'];
  expect(files.filter((file) => !broken.has(file) && !whole.includes(file))).toEqual([]);
});

test('no mutation is listed twice', () => {
  const names = CATALOGUE.map(({ file, find, replace, after }) => [file, find, replace, after].join(' | '));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('a mutation is made where it says, whatever the white space', () => {
  const code = 'if (a)\n    return 1;\nif (b)\n    return 1;\n';
  const mutation = { file: 'x.js', breaks: 'x', find: 'return 1', replace: 'return 2' };
  expect(mutated(code, mutation)).toBeUndefined();
  expect(mutated(code, { ...mutation, after: 'if (b)' })).toBe('if (a)\n    return 1;\nif (b)\n    return 2;\n');
  expect(mutated(code, { ...mutation, find: 'if (a) return 1', replace: '' })).toBe(';\nif (b)\n    return 1;\n');
  expect(mutated(code, { ...mutation, find: 'return 3' })).toBeUndefined();
  expect(mutated(code, { ...mutation, after: 'if (c)' })).toBeUndefined();
});

test('in a laboratory the tests are green until something is broken, and green again after', async () => {
  const mutation = CATALOGUE.find(({ file }) => file === 'core/read/graph.js') as Mutation; // there are some
  const laboratory = new Laboratory();
  try {
    expect(await laboratory.run(testFilesOf(mutation))).toBe('survived');
    expect(await laboratory.try(mutation)).toBe('killed');
    expect(await laboratory.run(testFilesOf(mutation))).toBe('survived');
  } finally {
    laboratory.close();
  }
});
