import { describe, expect, test } from 'vitest';
import { answer, call, fork, say, select, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { placedPage } from './pages.ts';
import type { PageCursor } from './pages.ts';

const page = (story: Story, limit: number, after?: PageCursor, id: string = 'c') =>
  placedPage(story.seen(id).tree, { limit, after });
const ids = (found: ReturnType<typeof page>) => found.messages.map(({ row }) => row.messageId);

function all(story: Story, limit: number, id: string = 'c'): readonly (readonly string[])[] {
  const pages: (readonly string[])[] = [];
  let after: PageCursor | undefined;
  // A reading that does not end is longer than any path here.
  while (pages.length < 20) {
    const found = page(story, limit, after, id);
    pages.push(ids(found));
    if (!found.next) return pages;
    after = found.next;
  }
  throw new Error('the pages do not end');
}

describe('pages of a path', () => {
  test('hold every message once, root first, whatever their size', () => {
    const story = given(
      commit(say('r1')),
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2')),
      commit(answer('late', ['x'])),
    );
    const path = ['r1', 't1.q', 'a1', 'late', 't2.q'];
    for (const limit of [1, 2, 3, 5, 9]) expect(all(story, limit).flat()).toEqual(path);
    expect(all(story, 2)).toEqual([['r1', 't1.q'], ['a1', 'late'], ['t2.q']]);
    expect(all(story, 5)).toEqual([path]);
  });

  test('go over branches and over what a fork inherits', () => {
    const story = given(commit(...turn('t1', [say('a1'), say('a2')])));
    story.write(commit(...turn('t2', [say('b1')], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    story.write(commit(fork('c', 'b1')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    for (const limit of [1, 2, 3]) {
      expect(all(story, limit).flat()).toEqual(['t1.q', 'a1', 't2.q', 'b1']);
      expect(all(story, limit, 'fork').flat()).toEqual(['t1.q', 'a1', 't2.q', 'b1', 'f1.q']);
    }
  });

  test('are pinned: later messages, late results and another leaf do not move them', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    const { next } = page(story, 1);
    story.write(commit(answer('late', ['x'])));
    story.write(commit(...turn('t3')));
    story.write(commit(select('t1')).expecting({ graphRevision: 6 }));
    expect(ids(page(story, 9, next ?? undefined))).toEqual(['a1', 't2.q']);
  });

  test('a cursor of another path is refused', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story.write(commit(...turn('t3', [], { parent: { turnId: 't1' } })).expecting({ graphRevision: 4 }));
    const cursor = { leaf: 't2', lastSequence: 3, atVersion: null, owner: 'c', branch: 1, position: 1, sequence: 3 };
    expect(() => page(story, 1, cursor)).toThrow(expect.objectContaining({ code: 'bad_cursor' }));
  });

  test('at a version hold what stood then', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2')),
      commit(answer('late', ['x'])),
    );
    const at = (atVersion: number) =>
      placedPage(story.seen().tree, { leaf: 't1', limit: 9, atVersion }).messages.map(({ row }) => row.messageId);
    expect(at(2)).toEqual(['t1.q', 'a1']);
    expect(at(3)).toEqual(['t1.q', 'a1', 'late']);
  });
});
