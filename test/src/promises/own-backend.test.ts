import { createHash } from 'node:crypto';
import { runConformance } from 'turnkeep/testing';
import type { ConformanceTarget } from 'turnkeep/testing';
import { expect, test } from 'vitest';
import { OwnBackend } from './own-backend.testkit.ts';

const own: ConformanceTarget = {
  name: 'own',
  durable: false,
  create: async () => 'own:',
  open: async () => new OwnBackend((input) => createHash('sha256').update(input).digest('base64url')),
  destroy: async () => undefined,
};

const TIMEOUT_MS = 120_000;

test(
  'a backend written by what the package exports passes the conformance suite',
  async () => {
    const failed: string[] = [];
    let passed = 0;
    for await (const { clause, name, status, reason } of runConformance(own, { modes: ['same_handle'] })) {
      if (status === 'passed') passed += 1;
      if (status === 'failed') failed.push(`${clause} ${name}: ${reason}`);
    }
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(200);
  },
  TIMEOUT_MS,
);
