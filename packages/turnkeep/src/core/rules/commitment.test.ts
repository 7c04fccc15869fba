import { describe, expect, test } from 'vitest';
import type { Change, CommitmentSelector } from '../change.ts';
import { advance, fork, promise, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import { commitmentType } from './commitment.ts';

const fulfil = (which: CommitmentSelector): Change => ({ kind: 'commitment.resolve', which });
const expire = (which: CommitmentSelector): Change => ({ kind: 'commitment.expire', which });

describe('commitment.add', () => {
  test('is open, in the order of adding', () => {
    given(commit(promise('b')), commit(promise('a')))
      .when(commit({ kind: 'commitment.add', content: 'third' }).as('key'))
      .thenSees((seen) => {
        expect(seen.open()).toEqual(['b', 'a', 'com_key.0']);
        expect(seen.commitments()[0]).toMatchObject({ content: 'b', status: 'open', resolvedAt: null });
      });
  });

  test('an id stands for one commitment', () => {
    given(commit(promise('a')))
      .when(commit(promise('a', 'other')))
      .thenRefuses('commitment_exists', { commitmentId: 'a' });
    given(commit(promise('a')), commit(fulfil({ commitmentId: 'a' })))
      .when(commit(promise('a')))
      .thenRefuses('commitment_exists', { commitmentId: 'a' });
  });

  test('its type is what was given, else what its content starts with', () => {
    expect(commitmentType(undefined, 'plain')).toBeUndefined();
    expect(commitmentType('  Risk ', 'plain')).toBe('risk');
    expect(commitmentType('risk', 'decision: x')).toBe('risk');
    expect(commitmentType('  ', 'Decision: x')).toBe('decision');
    expect(commitmentType(undefined, '  CONSTRAINT: x')).toBe('constraint');
    expect(commitmentType(undefined, 'constraints: x')).toBeUndefined();
    expect(commitmentType(undefined, 'a decision: x')).toBeUndefined();
    given()
      .when(commit(promise('a', 'decision: go')))
      .thenSees((seen) => expect(seen.commitments()[0]).toMatchObject({ content: 'decision: go', type: 'decision' }));
  });
});

describe('commitment.resolve and commitment.expire', () => {
  test('by id: this one, once', () => {
    const story = given(commit(promise('a')), commit(promise('b')));
    story.when(commit(fulfil({ commitmentId: 'a' }))).thenWrites({ commitmentIds: ['a'] });
    story.when(commit(expire({ commitmentId: 'b' }))).thenWrites({ commitmentIds: ['b'] });
    expect(
      story
        .seen()
        .commitments()
        .map(({ status }) => status),
    ).toEqual(['fulfilled', 'expired']);
    expect(story.seen().commitments()[0]?.resolvedAt).not.toBeNull();
    expect(story.seen().open()).toEqual([]);
    for (const change of [fulfil, expire]) {
      const to = change === fulfil ? 'fulfilled' : 'expired';
      story
        .when(commit(change({ commitmentId: 'a' })))
        .thenRefuses('illegal_transition', { machine: 'commitment', id: 'a', from: 'fulfilled', to });
      story.when(commit(change({ commitmentId: 'c' }))).thenRefuses('no_commitment', { commitmentId: 'c' });
    }
  });

  test('by text: every open one that contains it, and the answer says which', () => {
    const story = given(
      commit(promise('a', 'send the report')),
      commit(promise('b', 'send the invoice')),
      commit(promise('c', 'read the report')),
      commit(promise('d', 'Report back')),
    );
    story.when(commit(fulfil({ matching: 'report' }))).thenWrites({ commitmentIds: ['a', 'c'] });
    story.when(commit(expire({ matching: 'the' }))).thenWrites({ commitmentIds: ['b'] });
    story.when(commit(fulfil({ matching: 'nothing' }))).thenWrites({ commitmentIds: [] });
    expect(story.seen().open()).toEqual(['d']);
  });

  test('only what its path holds', () => {
    const story = given(commit(...turn('t0')), commit(...turn('t1', [promise('a', 'on one')])));
    story.write(
      commit(submit('t2', { parent: { turnId: 't0' } }), advance('t2', 'running'), promise('b', 'on two')).expecting({
        graphRevision: 4,
      }),
    );
    story.when(commit(fulfil({ commitmentId: 'a' }))).thenRefuses('no_commitment', { commitmentId: 'a' });
    story.when(commit(fulfil({ matching: 'on' }))).thenWrites({ commitmentIds: ['b'] });
    expect(story.seen().open('t1')).toEqual(['a']);
  });

  test('what a fork resolves stays open in its source', () => {
    const story = given(
      commit(...turn('t1', [promise('a')])),
      commit(fork('c', 't1.q')).to('rewound'),
      commit(...turn('t2')),
      commit(fork('c', 't2.q')).to('fork'),
    );
    expect(story.seen('rewound').open()).toEqual(['a']);
    story.write(commit(fulfil({ matching: 'a' })).to('fork'));
    expect([story.seen('c').open(), story.seen('fork').open()]).toEqual([['a'], []]);
  });

  test('of two that close one, the second is told how it ended', () => {
    given(commit(promise('a')))
      .whenOvertaken(commit(fulfil({ commitmentId: 'a' })), commit(expire({ commitmentId: 'a' })))
      .thenRefuses('illegal_transition', { machine: 'commitment', id: 'a', from: 'expired', to: 'fulfilled' });
    given(commit(promise('a')))
      .whenOvertaken(commit(fulfil({ matching: 'a' })), commit(expire({ commitmentId: 'a' })))
      .thenWrites({ commitmentIds: [] });
  });
});
