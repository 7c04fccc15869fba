import { assert as assertProperty, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import type { Backend, Envelope } from '../core/backend.ts';
import { prepareCommit } from '../core/commit.ts';
import { isTurnkeepError } from '../core/errors.ts';
import { FakeBackend, fakeTarget } from './broken.testkit.ts';
import { exportText } from './export.ts';
import { assertInvariants } from './invariants.testkit.ts';
import { changesOf, randomSteps } from './random-commits.testkit.ts';
import type { RandomStep } from './random-commits.testkit.ts';
import { Session } from './store.ts';
import { TestClock, testSurroundings } from './surroundings.ts';
import { journal } from './journal-target.ts';
import { postgres } from './postgres-target.ts';
import { memory, sqlite } from './targets.ts';
import type { ConformanceTarget } from './target.ts';

const NAMESPACE = 'property';

/** What a commit was answered: its receipt, or the refusal as it would cross a wire. */
async function told(backend: Backend, envelope: Envelope): Promise<object> {
  try {
    return await backend.commit(envelope);
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return error.toData();
  }
}

/** Plays one history on the reference and on the target: every answer is the same, and so is all that they hold. */
async function playBoth(target: ConformanceTarget, steps: readonly RandomStep[]): Promise<number> {
  const reference = await memory.open(await memory.create());
  const session = new Session(target, await target.create());
  const clock = new TestClock();
  const surroundings = testSurroundings(clock);
  const sent: Envelope[] = [];
  let accepted = 0;
  try {
    for (const [at, step] of steps.entries()) {
      clock.move(step.clock);
      const replayed = step.again < 6 ? sent[at - 1 - step.again] : undefined;
      const envelope = replayed ?? (await envelopeOf(reference, step, at));
      const before = await exportText(reference, NAMESPACE);
      const answer = await told(reference, envelope);
      const here = at % 2 === 0 ? await session.first() : await session.second();
      expect(
        await told(here, envelope),
        `step ${at}: ${JSON.stringify(envelope.commit.changes).slice(0, 300)}`,
      ).toEqual(answer);
      const isWrite = 'version' in answer && 'replayed' in answer && !answer.replayed;
      if (isWrite) accepted += 1;
      // I2 and I4: a replay and a refusal change nothing.
      const after = await exportText(reference, NAMESPACE);
      expect(isWrite || after === before, `step ${at} changes what it must not`).toBe(true);
      sent.push(envelope);
      const collected = step.with === 3 ? [await here.collect(NAMESPACE), await reference.collect(NAMESPACE)] : [0, 0];
      expect(collected[0], `rows collected after step ${at}`).toBe(collected[1]);
      if (step.with === 4 && target.durable) await session.close();
      await assertInvariants(reference, NAMESPACE);
    }
    for (const handle of [await session.first(), await session.second()]) {
      expect(await exportText(handle)).toBe(await exportText(reference));
      await assertInvariants(handle, NAMESPACE);
    }
    if (target.durable) await session.close();
    expect(await exportText(await session.first())).toBe(await exportText(reference));
    return accepted;
  } finally {
    await session.destroy();
  }

  async function envelopeOf(backend: Backend, step: RandomStep, at: number): Promise<Envelope> {
    const conversationId = `conv-${step.conversation}`;
    const head = await backend.read(NAMESPACE, (rows) => rows.head(conversationId));
    return prepareCommit(
      { commitId: `k${at}`, namespace: NAMESPACE, conversationId, ...changesOf(step, head) },
      surroundings,
    );
  }
}

// A run of 60 has 13 commits that are accepted, give or take 3: so many runs together have more than 9 each, whatever the seed.
const RUNS: readonly (readonly [target: ConformanceTarget, runs: number, length: number])[] = [
  [fakeTarget('memory, played again from its commits', FakeBackend), 40, 60],
  [memory, 20, 60],
  [sqlite, 12, 60],
  [journal, 12, 60],
  [postgres, 12, 60],
];

test.each(RUNS.map(([target, runs, length]) => ({ name: target.name, target, runs, length })))(
  'random commits end in the same bytes on memory and on $name (I1, I2, I3, I4, I5, I8)',
  async ({ target, runs, length }) => {
    let accepted = 0;
    const property = asyncProperty(randomSteps(length), async (steps) => {
      accepted += await playBoth(target, steps);
    });
    await assertProperty(property, { numRuns: runs, endOnFailure: true });
    // A history of refusals shows nothing.
    expect(accepted / (runs * length)).toBeGreaterThan(0.15);
  },
  300_000,
);
