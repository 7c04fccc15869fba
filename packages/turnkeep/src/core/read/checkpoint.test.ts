import { expect, test } from 'vitest';
import type { CheckpointPart } from '../change.ts';
import { KEYS, TABLES } from '../keys.ts';
import { commit, given } from '../story.testkit.ts';
import { scanPrefix } from '../tree/path.ts';
import { readCheckpoint } from './checkpoint.ts';

const part = (letter: string): CheckpointPart => ({ json: letter.repeat(500) });

test('content that is not that of its address, or is missing, is damage', () => {
  const payload = { a: part('a'), b: part('b') };
  const story = given(commit({ kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', payload }));
  const read = () => {
    const { tree, bodies } = story.seen();
    return readCheckpoint(tree, bodies, 'k');
  };
  expect(read()?.payload).toEqual(payload);
  const [first, second] = scanPrefix(story.rows, 'c', TABLES.contents);
  if (!first || !second) throw new Error('two parts have two addresses');
  story.rows.put('c', first.key, second.value);
  expect(read).toThrow(
    expect.objectContaining({
      code: 'corrupt',
      details: {
        place: `conversation c, content ${first.key.slice(1)}`,
        reason: 'the content is not that of its address',
      },
    }),
  );
  story.rows.put('c', KEYS.content(first.key.slice(1)), null);
  expect(read).toThrow(
    expect.objectContaining({
      code: 'corrupt',
      details: { place: `conversation c, content ${first.key.slice(1)}`, reason: 'the content is missing' },
    }),
  );
});

test('what is not there is not there', () => {
  const { tree, bodies } = given(commit({ kind: 'state.update' })).seen();
  expect(readCheckpoint(tree, bodies, 'k')).toBeUndefined();
  expect(readCheckpoint(tree, bodies, 'k', 0)).toBeUndefined();
});
