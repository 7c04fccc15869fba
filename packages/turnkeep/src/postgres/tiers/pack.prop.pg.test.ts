import { assert as assertProperty, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import type { Backend, Envelope } from '../../core/backend.ts';
import { prepareCommit } from '../../core/commit.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import { MemoryBackend } from '../../memory/index.ts';
import { sha256 } from '../../platform/hash.ts';
import { exportText } from '../../testing/export.ts';
import { assertInvariants } from '../../testing/invariants.testkit.ts';
import { changesOf, randomSteps } from '../../testing/random-commits.testkit.ts';
import { TestClock, testSurroundings } from '../../testing/surroundings.ts';
import { NAMESPACE, TestSchema } from '../postgres.testkit.ts';

const SEED = 20_261_130;
const RUNS = 4;
const LENGTH = 80;

async function told(backend: Backend, envelope: Envelope): Promise<object> {
  try {
    return await backend.commit(envelope);
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return error.toData();
  }
}

test('random commits, cooled and packed after each of them, end as they do in memory, by two processes', async () => {
  let packed = 0;
  const property = asyncProperty(randomSteps(LENGTH), async (steps) => {
    const schema = await TestSchema.create();
    const reference = new MemoryBackend(sha256);
    try {
      const processes = [await schema.open({ watch: 'poll' }), await schema.open({ watch: 'poll' })] as const;
      const clock = new TestClock();
      const surroundings = testSurroundings(clock);
      for (const [at, step] of steps.entries()) {
        clock.move(step.clock);
        const conversationId = `conv-${step.conversation}`;
        const head = await reference.read(NAMESPACE, (rows) => rows.head(conversationId));
        const envelope = prepareCommit(
          { commitId: `k${at}`, namespace: NAMESPACE, conversationId, ...changesOf(step, head) },
          surroundings,
        );
        const here = processes[at % 2] ?? processes[0];
        const answer = await told(reference, envelope);
        expect(await told(here, envelope), `step ${at}`).toEqual(answer);
        for (const backend of [reference, processes[at % 3 === 0 ? 0 : 1]]) {
          await backend.cool(NAMESPACE, { hotMessages: 1 });
          if (step.with === 3) await backend.collect(NAMESPACE);
        }
      }
      packed += (await schema.rowsOf(`SELECT 1 FROM $s.packed`)).length;
      for (const backend of processes) {
        expect(await exportText(backend)).toBe(await exportText(reference));
        await assertInvariants(backend, NAMESPACE);
        expect(await backend.verify()).toEqual([]);
      }
    } finally {
      await reference.close();
      await schema.end();
    }
  });
  await assertProperty(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  // Where nothing was packed, nothing is shown.
  expect(packed).toBeGreaterThan(RUNS * 5);
}, 300_000);
