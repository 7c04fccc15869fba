import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WORKLOADS } from './index.ts';

test('every workload stands in a file of its name, and every such file is run', () => {
  const files = readdirSync(import.meta.dirname).filter((file) => /^[\w-]+\.js$/.test(file) && file !== 'index.js');
  expect(WORKLOADS.map(({ name }) => `${name}.js`).toSorted()).toEqual(files.toSorted());
});
