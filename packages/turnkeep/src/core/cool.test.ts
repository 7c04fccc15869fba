import { describe, expect, test } from 'vitest';
import { answer, call, redact, say, text, turn } from './changes.testkit.ts';
import { coolable, coolBound, nextToCool } from './cool.ts';
import type { RowReader } from './backend.ts';
import { commit, EMPTY, given } from './story.testkit.ts';
import type { Story } from './story.testkit.ts';

function versions(story: Story, hotMessages: number, after = 0): readonly number[] {
  return [...coolable(story.rows, 'c', after, hotMessages)].map(({ version }) => version);
}

describe('what may cool', () => {
  const story = given(
    commit(...turn('t1', [call('a1', ['x'])])),
    commit({ kind: 'conversation.update', title: 'no message' }),
    commit(...turn('t2', [say('a2'), say('a3')])),
    commit(answer('late', ['x'])),
  );

  test('are the commits before the one that brought the oldest message that stays hot', () => {
    expect([0, 1, 2, 4, 5, 9].map((hot) => versions(story, hot))).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3],
      [1, 2],
      [1, 2],
      [],
      [],
    ]);
  });

  test('goes up to one bound, whether it is looked for from the start or from the end', () => {
    for (let hot = 0; hot <= 9; hot++) {
      expect(coolBound(story.rows, 'c', hot)).toBe(versions(story, hot).at(-1) ?? 0);
    }
    expect(coolBound(story.rows, 'nobody', 0)).toBe(0);
  });

  test('is not held up by a message that was sent again', () => {
    const again = given(commit(say('a1')), commit(say('a2')), commit(say('a3')), commit(say('a1')), commit(say('a4')));
    expect([0, 1, 2, 3].map((hot) => coolBound(again.rows, 'c', hot))).toEqual([5, 4, 2, 1]);
    expect([0, 1, 2, 3].map((hot) => versions(again, hot).at(-1))).toEqual([5, 4, 2, 1]);
  });

  test('goes on after what is cool', () => {
    expect(versions(story, 1, 2)).toEqual([3]);
    expect(versions(story, 1, 3)).toEqual([]);
  });

  test('is nothing of a conversation that is not there or was erased', () => {
    expect([...coolable(story.rows, 'nobody', 0, 0)]).toEqual([]);
    const erased = given(commit(say('a1')), commit(say('a2')), commit({ kind: 'conversation.erase' }));
    expect(versions(erased, 1)).toEqual([]);
  });

  test('holds for a message whose words went', () => {
    const redacted = given(commit(say('a1')), commit(say('a2')), commit(redact('a1')));
    expect(versions(redacted, 1)).toEqual([1]);
  });

  test('ends before a commit that cannot be had', () => {
    const rows: RowReader = {
      ...EMPTY,
      head: () => story.seen().head,
      log: (id, version) => (version === 2 ? undefined : story.rows.log(id, version)),
    };
    expect([...coolable(rows, 'c', 0, 0)].map(({ version }) => version)).toEqual([1]);
  });
});

function long(messageId: string, length: number) {
  return say(messageId, null, { parts: text('x'.repeat(length)) });
}

describe('what cools together', () => {
  const many = given(...Array.from({ length: 30 }, (_, at) => commit(long(`a${at}`, 10_000))));

  test('is at most so much text, and waits until it is that much', () => {
    const slice = nextToCool(many.rows, 'c', 0, { hotMessages: 2, rest: 'waits' });
    expect(slice.map(({ version }) => version)).toEqual(Array.from({ length: slice.length }, (_, at) => at + 1));
    expect(slice.length).toBeGreaterThan(5);
    expect(slice.length).toBeLessThan(14);
    const next = nextToCool(many.rows, 'c', slice.length, { hotMessages: 2, rest: 'waits' });
    expect(next[0]?.version).toBe(slice.length + 1);
    const rest = { after: slice.length + next.length, hotMessages: 2 };
    expect(nextToCool(many.rows, 'c', rest.after, { hotMessages: 2, rest: 'waits' })).toEqual([]);
    expect(nextToCool(many.rows, 'c', rest.after, { hotMessages: 2, rest: 'cools' }).at(-1)?.version).toBe(28);
  });

  test('is one commit where that alone is too much', () => {
    const large = given(commit(long('a1', 200_000)), commit(say('a2')), commit(say('a3')));
    expect(nextToCool(large.rows, 'c', 0, { hotMessages: 1, rest: 'waits' }).map(({ version }) => version)).toEqual([
      1,
    ]);
    expect(nextToCool(large.rows, 'c', 1, { hotMessages: 1, rest: 'waits' })).toEqual([]);
  });
});
