import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, repositoryFiles, textOf } from './files.ts';

const files = repositoryFiles();
const documents = files.filter((path) => path.endsWith('.md'));
/** Tests, the conformance suite and the programs of the test workspace: whatever can fail over an invariant. */
const tests = files.filter((path) => /\.test\.ts$|\/src\/testing\/|^test\/src\/(?!tidy\/)/.test(path));

test('every invariant of docs/spec.md is named by a test', () => {
  const ids = [...textOf('docs/spec.md').matchAll(/\*\*(I\d+)\*\*/g)].flatMap(([, id]) => id ?? []);
  const named = new Set(tests.flatMap((path) => textOf(path).match(/\bI\d+\b/g) ?? []));
  expect(ids.filter((id) => !named.has(id))).toEqual([]);
  expect(new Set(ids).size, 'an id stands for one invariant').toBe(ids.length);
});

test('links between documents lead somewhere', () => {
  const broken = documents.flatMap((path) =>
    [...textOf(path).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
      .filter(([, target]) => !existsSync(join(ROOT, dirname(path), target ?? '')))
      .map(([, target]) => `${path} -> ${target}`),
  );
  expect(broken).toEqual([]);
});

test('decisions are numbered 1, 2, 3, …, in their names and in their titles', () => {
  const decisions = documents.filter((path) => path.startsWith('docs/decisions/'));
  const numbers = decisions.map((path) => Number(/(\d{3})-/.exec(path)?.[1]));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  expect(decisions.map((path) => Number(/^# (\d+)\. /.exec(textOf(path))?.[1]))).toEqual(numbers);
});
