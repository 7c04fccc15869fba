import { expect, test } from 'vitest';
import { examineNode } from './examine-system.ts';

test.each([
  ['20.18.9', 'problem'],
  ['18.20.0', 'problem'],
  ['20.19.0', 'ok'],
  ['24.0.0', 'ok'],
] as const)('Node %s is a %s', (version, status) => {
  expect(examineNode(version)).toMatchObject({ check: 'node', status });
});
