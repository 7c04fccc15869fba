import { describe, expect, test } from 'vitest';
import type { Change, CheckpointPart } from '../change.ts';
import { readCheckpoint, readPendingWrites } from '../read/checkpoint.ts';
import { commit, given } from '../story.testkit.ts';
import type { Outcome, Seen } from '../story.testkit.ts';

type Payload = { readonly [part: string]: CheckpointPart };

const BLOB: CheckpointPart = { json: 'x'.repeat(1_000) };
const create = (payload: Payload = {}, more: object = {}): Change => ({
  kind: 'checkpoint.create',
  checkpointId: 'k',
  type: 'agent',
  payload,
  ...more,
});
const step = (from: number, payload: Payload = {}, phase?: string): Change => ({
  kind: 'checkpoint.advance',
  checkpointId: 'k',
  from,
  payload,
  phase,
});
const write = (task: string, index: number, taskPath?: string, value: CheckpointPart = { json: index }): Change => ({
  kind: 'checkpoint.write',
  checkpointId: 'k',
  revision: 0,
  taskPath,
  task,
  index,
  channel: 'out',
  value,
});

function checkpoint(seen: Seen, revision?: number) {
  return readCheckpoint(seen.tree, seen.bodies, 'k', revision);
}

function recordsOf(outcome: Outcome): number {
  if (outcome.decision.outcome !== 'write') throw new Error('it is written');
  return outcome.decision.writes.log?.record.records.length ?? 0;
}

describe('checkpoint.create', () => {
  test('makes revision 0', () => {
    const about = { schemaVersion: 3, scope: 'sub', phase: 'ready', metadata: { m: 1 } };
    given()
      .when(commit(create({ a: { json: [1] }, b: { base64: 'aGk=' } }, about)))
      .thenSees((seen) => {
        const payload = { a: { json: [1] }, b: { base64: 'aGk=' } };
        expect(checkpoint(seen)).toMatchObject({ checkpointId: 'k', revision: 0, type: 'agent', payload, ...about });
      });
    given()
      .when(commit({ kind: 'checkpoint.create', type: 'agent', payload: {} }).as('key'))
      .thenWrites({ checkpointId: 'ckpt_key.0', revision: 0 });
  });

  test('only where there is none', () => {
    given(commit(create()), commit(step(0)))
      .when(commit(create()))
      .thenRefuses('checkpoint_exists', { checkpointId: 'k', revision: 1 });
    given()
      .whenOvertaken(commit(create()), commit(create()))
      .thenRefuses('checkpoint_exists', { checkpointId: 'k', revision: 0 });
  });

  test('a parent must be a revision that exists', () => {
    const child = (revision: number): Change => ({
      kind: 'checkpoint.create',
      checkpointId: 'j',
      type: 'agent',
      payload: {},
      parent: { checkpointId: 'k', revision },
    });
    given(commit(create()))
      .when(commit(child(1)))
      .thenRefuses('no_checkpoint', { checkpointId: 'k' });
    given(commit(create()))
      .when(commit(child(0)))
      .thenSees((seen) => {
        const parent = { checkpointId: 'k', revision: 0 };
        expect(readCheckpoint(seen.tree, seen.bodies, 'j')).toMatchObject({ parent });
      });
  });
});

describe('checkpoint.advance', () => {
  test('from exactly the revision that was read to the next, and the earlier ones stay', () => {
    const story = given(commit(create({ a: { json: 0 } }, { schemaVersion: 2, scope: 's' })));
    story.when(commit(step(0, { a: { json: 1 } }, 'in_flight'))).thenWrites({ revision: 1 });
    story.write(commit(step(1, { a: { json: 2 } })));
    const seen = story.seen();
    expect([0, 1, 2, undefined].map((at) => checkpoint(seen, at)?.payload['a'])).toEqual([
      { json: 0 },
      { json: 1 },
      { json: 2 },
      { json: 2 },
    ]);
    expect(checkpoint(seen, 1)).toMatchObject({ phase: 'in_flight', type: 'agent', schemaVersion: 2, scope: 's' });
    expect(checkpoint(seen, 3)).toBeUndefined();
  });

  test('another revision is a conflict that says both', () => {
    const story = given(commit(create()), commit(step(0)));
    for (const expectedRevision of [0, 2]) {
      story
        .when(commit(step(expectedRevision)))
        .thenRefuses('checkpoint_conflict', { checkpointId: 'k', expectedRevision, actualRevision: 1 });
    }
    given()
      .when(commit(step(0)))
      .thenRefuses('no_checkpoint', { checkpointId: 'k' });
  });

  test('of two from one revision one wins', () => {
    given(commit(create()))
      .whenOvertaken(commit(step(0)), commit(step(0)))
      .thenRefuses('checkpoint_conflict', { checkpointId: 'k', expectedRevision: 0, actualRevision: 1 });
  });

  test('revisions past 9 and past 35 are the newest still', () => {
    const story = given(commit(create()));
    for (let from = 0; from < 40; from++) story.write(commit(step(from)));
    expect(checkpoint(story.seen())?.revision).toBe(40);
  });
});

describe('payload parts', () => {
  test('one that did not change is not written again, one that is small is kept where it is', () => {
    const story = given();
    expect(recordsOf(story.when(commit(create({ a: BLOB, b: { json: 1 } }))))).toBe(2);
    story.write(commit(create({ a: BLOB, b: { json: 1 } })));
    expect(recordsOf(story.when(commit(step(0, { a: BLOB, b: { json: 2 } }))))).toBe(1);
    expect(recordsOf(story.when(commit(step(0, { other: BLOB }))))).toBe(1);
    expect(recordsOf(story.when(commit(step(0, { a: { json: 'y'.repeat(1_000) } }))))).toBe(2);
    story.write(commit(step(0, { a: BLOB, b: BLOB })));
    expect(checkpoint(story.seen())?.payload).toEqual({ a: BLOB, b: BLOB });
  });

  test('the same part twice in one commit is stored once', () => {
    expect(recordsOf(given().when(commit(create({ a: BLOB, b: BLOB }))))).toBe(2);
  });

  test('JSON and bytes of the same text are two parts', () => {
    const same = 'QUJD'.repeat(100);
    given()
      .when(commit(create({ a: { json: same }, b: { base64: same } })))
      .thenSees((seen) => expect(checkpoint(seen)?.payload).toEqual({ a: { json: same }, b: { base64: same } }));
  });

  test('a part may be called __proto__, and a small one may look like an address', () => {
    const payload = JSON.parse('{"__proto__":{"json":1},"a":{"json":{"content":"x"}}}') as Payload;
    given()
      .when(commit(create(payload)))
      .thenSees((seen) => {
        const read = checkpoint(seen)?.payload;
        expect(JSON.stringify(read)).toBe(JSON.stringify(payload));
      });
  });
});

describe('checkpoint.write', () => {
  test('stands by task path, task and index, whatever the order of writing', () => {
    const story = given(commit(create()));
    story.write(
      commit(write('b', 0), write('a', 10), write('a', 9), write('a', -1), write('a', -12), write('a', 0, 'z')),
    );
    const seen = story.seen();
    const writes = readPendingWrites(seen.tree, seen.bodies, 'k', 0);
    expect(writes.map(({ taskPath, task, index }) => `${taskPath}/${task}/${index}`)).toEqual([
      '/a/-12',
      '/a/-1',
      '/a/9',
      '/a/10',
      '/b/0',
      'z/a/0',
    ]);
  });

  test('the same place twice replaces', () => {
    const story = given(commit(create()), commit(write('a', 0, '', { json: 'first' })));
    story.write(commit(write('a', 0, '', { json: 'second' })));
    const seen = story.seen();
    const writes = readPendingWrites(seen.tree, seen.bodies, 'k', 0);
    expect(writes).toEqual([{ taskPath: '', task: 'a', index: 0, channel: 'out', value: { json: 'second' } }]);
  });

  test('needs its revision, and stays beside it', () => {
    given()
      .when(commit(write('a', 0)))
      .thenRefuses('no_checkpoint', { checkpointId: 'k' });
    const seen = given(commit(create()), commit(write('a', 0)), commit(step(0))).seen();
    expect(readPendingWrites(seen.tree, seen.bodies, 'k', 0)).toHaveLength(1);
    expect(readPendingWrites(seen.tree, seen.bodies, 'k', 1)).toHaveLength(0);
  });
});
