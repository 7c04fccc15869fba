import { describe, expect, test } from 'vitest';
import type { RowReader } from './backend.ts';
import { advance, redact, say, submit, turn } from './changes.testkit.ts';
import { plus } from './checksum.ts';
import { readableHeader } from './readable.ts';
import { prefixEnd } from './keys.ts';
import { headChecksum, isAddedUp, rowChecksum } from './row-sum.ts';
import { commit, given } from './story.testkit.ts';
import { everything, OWNERS } from './verify/verify.testkit.ts';

function sumOf(rows: RowReader, owner: string): number {
  const own = rows.scan(owner, { from: '', to: prefixEnd('') }).filter(({ key }) => isAddedUp(key));
  return own.reduce((sum, { key, value }) => plus(sum, rowChecksum(key, value)), 0);
}

describe('what a commit leaves', () => {
  test('is what the head adds up, whatever was written, replaced and removed', () => {
    const rows = everything();
    for (const owner of OWNERS) {
      const head = rows.head(owner);
      const isShelf = head?.version === 0;
      expect([owner, head?.rowSum]).toEqual([owner, isShelf ? undefined : sumOf(rows, owner)]);
    }
  });

  test('is said by its header, for its namespace alone', () => {
    const { rows } = given(commit(...turn('t1', [say('m1')])), commit(redact('m1')));
    const head = rows.head('c');
    const header = readableHeader(rows.log('c', 2));
    if (!head || !header) throw new Error('it was committed');
    expect(header.headSum).toBe(headChecksum('n', head));
    expect(header.headSum).not.toBe(headChecksum('m', head));
    expect(header.headSum).not.toBe(headChecksum('n', { ...head, pinned: true }));
  });

  test('a conversation that an earlier build began adds nothing up, and goes on without', () => {
    const story = given(commit(submit('t1')));
    const head = story.rows.head('c');
    if (!head) throw new Error('it was committed');
    story.rows.putHead({ ...head, rowSum: undefined });
    story.write(commit(advance('t1', 'running')));
    expect(story.seen().head.rowSum).toBeUndefined();
  });
});
