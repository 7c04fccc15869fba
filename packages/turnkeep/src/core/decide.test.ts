import { describe, expect, test } from 'vitest';
import type { Change } from './change.ts';
import { advance, answer, call, fork, redact, say, submit, turn } from './changes.testkit.ts';
import { commit, given } from './story.testkit.ts';
import type { Phrase } from './story.testkit.ts';

const erase: Change = { kind: 'conversation.erase' };
const AT = Date.UTC(2026, 5, 1);

describe('checks run in one order', () => {
  // Each commit fails every check after its own too.
  const held = () =>
    given(
      commit(submit('t1'), { kind: 'attempt.start', turnId: 't1', attempt: 'one' }).as('first'),
      commit(advance('t1', 'running')).under('one', 1),
    );
  const wrong = (phrase: Phrase) => phrase.expecting({ version: 77 }).under('one', 9);

  test('erased comes before a replay', () => {
    const story = held();
    story.write(commit(erase).at(AT));
    const erased = { conversationId: 'c', erasedAt: new Date(AT).toISOString() };
    story.when(wrong(commit(submit('t1'))).as('first')).thenRefuses('erased', erased);
  });

  test('a commit’s replay comes before an operation’s', () => {
    const story = held();
    story.write(commit(advance('t1', 'completed')).under('one', 1));
    story.write(commit(submit('t2')).as('second'));
    story
      .when(wrong(commit(submit('t2', { operationId: 't1.op' }))).as('second'))
      .thenRefuses('commit_id_reused', { commitId: 'second' });
  });

  test('an operation’s replay comes before the fence', () => {
    held()
      .when(wrong(commit(submit('t9', { operationId: 't1.op' }))))
      .thenReplays(1);
  });

  test('the fence comes before what was expected', () => {
    held()
      .when(wrong(commit(say('a1', 'nobody'))))
      .thenRefuses('fenced', { turnId: 't1', attempt: 'one', token: 9, currentToken: 1 });
  });

  test('what was expected comes before the rules', () => {
    held()
      .when(commit(say('a1', 'nobody')).expecting({ version: 77 }))
      .thenRefuses('conflict', { field: 'version', expected: 77, actual: 2 });
    held()
      .when(commit(say('a1', 'nobody')))
      .thenRefuses('no_turn', { turnId: 'nobody' });
  });
});

describe('a commit that is sent again', () => {
  test('answers the first receipt and changes nothing, whatever was committed since', () => {
    const story = given(commit(say('a1')).as('key'), commit(...turn('t1')));
    story.when(commit(say('a1')).as('key')).thenReplays(1);
    story.when(commit(say('a1')).as('key').expecting({ version: 0 })).thenReplays(1);
    expect(story.seen().head.version).toBe(2);
  });

  test('is the same whatever the order of its keys, its time, its expectation and the ids it left to us', () => {
    const plain = (metadata: { readonly [key: string]: number }): Change => ({
      kind: 'message.append',
      message: { role: 'user', parts: [], metadata },
    });
    const story = given(commit(plain({ a: 1, b: 2 })).as('key'));
    story
      .when(
        commit(plain({ b: 2, a: 1 }))
          .as('key')
          .at(AT),
      )
      .thenReplays(1);
  });

  test('the same id for another commit is refused', () => {
    const story = given(commit(say('a1')).as('key'), commit(...turn('t1')));
    for (const other of [
      commit(say('a2')),
      commit(say('a1'), say('a2')),
      commit({ kind: 'conversation.update', title: 'x' }),
    ]) {
      story.when(other.as('key')).thenRefuses('commit_id_reused', { commitId: 'key' });
    }
  });

  test('an id is free again in another conversation', () => {
    given(commit(say('a1')).as('key'))
      .when(commit(say('a1')).as('key').to('d'))
      .thenWrites();
  });

  test('of two that race with one id the second is a replay of the first', () => {
    given(commit(say('a0')))
      .whenOvertaken(commit(say('a1')).as('key'), commit(say('a1')).as('key'))
      .thenReplays(2);
  });

  test('a commit that was refused leaves its id free', () => {
    const story = given(commit(...turn('t1')));
    story.when(commit(say('a1')).as('key')).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
    story.when(commit(submit('t2'), advance('t2', 'running'), say('a1', 't2')).as('key')).thenWrites();
  });

  test('a batch that said something again keeps its answer', () => {
    const story = given(commit(say('a1')), commit(say('a1'), say('a2')).as('key'));
    story.when(commit(say('a1'), say('a2')).as('key')).thenReplays(2);
    story
      .when(commit(say('a1', undefined, { status: 'incomplete' }), say('a2')).as('key'))
      .thenRefuses('commit_id_reused', { commitId: 'key' });
  });

  test('once its words are gone the key alone is asked, so that nobody can guess them from a fingerprint', () => {
    const story = given(commit(say('a1')).as('key'), commit(redact('a1')));
    story.when(commit(say('a1')).as('key')).thenReplays(1);
    story.when(commit(say('guess')).as('key')).thenReplays(1);
    expect(story.rows.log('c', 1)?.nonce).toBeNull();
  });
});

describe('what was expected', () => {
  test('each field that is given is checked, one that is not checks nothing', () => {
    const story = given(commit(...turn('t1', [say('a1')])));
    const note = commit({ kind: 'conversation.update', title: 'x' });
    const right = { version: 1, graphRevision: 2, leaf: 't1', transcript: { turn: 't1', lastSequence: 2 } };
    story.when(note.expecting(right)).thenWrites();
    story.when(note.expecting({})).thenWrites();
    story
      .when(note.expecting({ ...right, version: 0 }))
      .thenRefuses('conflict', { field: 'version', expected: 0, actual: 2 + 1 });
  });

  test('a leaf of null and a turn of null are expectations', () => {
    const story = given(commit(say('r1')));
    const note = commit({ kind: 'conversation.update', title: 'x' });
    story.when(note.expecting({ leaf: null, transcript: { turn: null, lastSequence: 1 } })).thenWrites();
    story.write(commit(...turn('t1')));
    story.when(note.expecting({ leaf: null })).thenRefuses('conflict', { field: 'leaf', expected: null, actual: 't1' });
    story.when(note.expecting({ leaf: 't2' })).thenRefuses('conflict', { field: 'leaf', expected: 't2', actual: 't1' });
    story
      .when(note.expecting({ transcript: { turn: 't2', lastSequence: 1 } }))
      .thenRefuses('no_turn', { turnId: 't2' });
  });

  test('a transcript is that of its path, late results included', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    const note = (turnId: string, lastSequence: number) =>
      commit({ kind: 'state.update', stage: 's' }).expecting({ transcript: { turn: turnId, lastSequence } });
    story.when(note('t2', 3)).thenWrites();
    story.write(commit(answer('late', ['x'])));
    const details = { field: 'transcript.lastSequence', expected: 3, actual: 4 };
    story.when(note('t2', 3)).thenRefuses('conflict', details);
    story.when(note('t1', 4)).thenWrites();
    story.write(commit(...turn('t3', [], { parent: { messageId: 't1.q' } })).expecting({ graphRevision: 4 }));
    // The rewind leaves the call and its late result out.
    story.when(note('t3', 5)).thenWrites();
    story.when(note('t2', 4)).thenWrites();
  });

  test('unrelated commits do not move a transcript', () => {
    const story = given(
      commit(...turn('t1')),
      commit(...turn('t2', [], { parent: null })).expecting({ graphRevision: 2 }),
    );
    story
      .when(commit({ kind: 'state.update', stage: 's' }).expecting({ transcript: { turn: 't1', lastSequence: 1 } }))
      .thenWrites();
  });
});

describe('a commit', () => {
  test('counts versions without a gap, and says what each change did', () => {
    const story = given(commit(say('a1')));
    const { decision } = story.when(
      commit(...turn('t1'))
        .as('key')
        .at(AT),
    );
    expect(decision).toMatchObject({
      outcome: 'write',
      receipt: {
        commitId: 'key',
        conversationId: 'c',
        version: 2,
        graphRevision: 2,
        committedAt: new Date(AT).toISOString(),
        replayed: false,
      },
    });
    const kinds = decision.outcome === 'write' ? decision.receipt.events.map(({ kind }) => kind) : [];
    expect(kinds).toEqual(['turn.submit', 'turn.advance', 'turn.advance']);
  });

  test('that is refused by its last change has written nothing', () => {
    const story = given(commit(...turn('t1')));
    const before = [...story.rows.changedRows()];
    story.when(commit(submit('t2'), say('a1', 'nobody'))).thenRefuses('no_turn', { turnId: 'nobody' });
    expect([...story.rows.changedRows()]).toEqual(before);
    expect(story.seen().head).toMatchObject({ version: 1, turns: 1 });
  });

  test('keeps no word outside its records', () => {
    const secret = 'a very secret word';
    const story = given();
    const write: Phrase = commit(
      { kind: 'conversation.create', title: secret, labels: [secret], metadata: secret },
      submit('t1', { prompt: [{ type: 'text', text: secret }], metadata: secret }),
      advance('t1', 'running'),
      say('a1', 't1', { parts: [{ type: 'text', text: secret }] }),
      { kind: 'state.update', objective: secret, blockers: [secret] },
      { kind: 'commitment.add', content: secret },
      { kind: 'task.create', title: secret, metadata: secret },
      { kind: 'checkpoint.create', type: 'agent', payload: { a: { json: secret } } },
      { kind: 'binding.save', turnId: 't1', history: 'h', cursor: secret, capture: 'live' },
      { kind: 'operation.resolve', operationId: 't1.op', outcome: { status: 'succeeded' } },
    );
    const { decision } = story.when(write);
    if (decision.outcome !== 'write') throw decision.outcome === 'refuse' ? decision.error : new Error('it is written');
    const { writes, receipt } = decision;
    const bodies = writes.log?.record.records.map(({ body }) => body).join('\n');
    expect(bodies?.split(secret).length).toBe(14);
    const rest = JSON.stringify([receipt, writes.heads, writes.rows, writes.log?.record.header]);
    expect(rest).not.toContain('secret');
  });

  test('moves only its own conversation, but for the link that a source keeps to its fork', () => {
    const story = given(commit(...turn('t1')));
    const before = story.seen('c').head;
    const { decision } = story.when(commit(fork('c', 't1.q')).to('fork'));
    const writes = decision.outcome === 'write' ? decision.writes : undefined;
    expect(writes?.heads.map(({ conversationId }) => conversationId)).toEqual(['fork']);
    expect(writes?.rows.filter(({ conversation }) => conversation === 'c')).toEqual([
      { conversation: 'c', key: 'ffork', value: [1] },
    ]);
    expect(story.seen('c').head).toEqual(before);
  });
});
