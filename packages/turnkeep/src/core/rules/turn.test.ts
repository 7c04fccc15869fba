import { describe, expect, test } from 'vitest';
import type { TurnState } from '../change.ts';
import { advance, answer, call, fork, record, resolve, say, select, submit, text, turn } from '../changes.testkit.ts';
import { LIMITS } from '../limits.ts';
import { commit, given } from '../story.testkit.ts';
import type { Phrase } from '../story.testkit.ts';

describe('turn.submit', () => {
  test('makes prompt, turn and open operation as one', () => {
    given()
      .when(commit(submit('t1')))
      .thenSees((seen) => {
        expect(seen.turn('t1')).toMatchObject({ state: 'preparing', ordinal: 1, why: 'start', parentTurnId: null });
        expect(seen.head).toMatchObject({
          openOperation: 't1.op',
          busy: ['t1'],
          graphRevision: 1,
          turns: 1,
          leaf: null,
        });
        expect(seen.messages('t1')).toMatchObject([{ messageId: 't1.q', role: 'user', sequence: 1, turnId: 't1' }]);
      });
  });

  test('mints what the caller left out from the commit id', () => {
    given()
      .when(commit({ kind: 'turn.submit', prompt: text('hi') }).as('key'))
      .thenWrites({ turnId: 'turn_key.0', messageId: 'msg_key.0', promptId: 'prm_key.0', operationId: 'op_key.0' });
  });

  test('goes on from the active leaf where no parent is named', () => {
    given(commit(...turn('t1')))
      .when(commit(submit('t2')))
      .thenSees((seen) => {
        expect(seen.turn('t2')).toMatchObject({ parentTurnId: 't1', branch: 0, position: 2 });
        expect(seen.ids('t2')).toEqual(['t1.q', 't2.q']);
      });
  });

  test('a named parent needs the graph revision that the caller saw', () => {
    for (const parent of [null, { turnId: 't1' }, { messageId: 't1.q' }]) {
      given(commit(...turn('t1')))
        .when(commit(submit('t2', { parent })).expecting({ version: 1 }))
        .thenRefuses('expect_required', { field: 'graphRevision', change: 'commit.changes[0]' });
    }
  });

  test('is refused while a turn prepares, dispatches or runs, and not while it waits', () => {
    for (const state of ['dispatching', 'running'] as const) {
      given(commit(submit('t1')), commit(advance('t1', state)))
        .when(commit(submit('t2')))
        .thenRefuses('busy', { turnId: 't1', state });
    }
    given(commit(submit('t1')))
      .when(commit(submit('t2')))
      .thenRefuses('busy', { turnId: 't1', state: 'preparing' });
    given(commit(...turn('t0')), commit(submit('t1')), commit(advance('t1', 'waiting')))
      .when(commit(submit('t2', { parent: { turnId: 't0' } })).expecting({ graphRevision: 4 }))
      .thenWrites({ turnId: 't2', ordinal: 2 });
  });

  test('a path that waits is busy', () => {
    given(commit(submit('t1')), commit(advance('t1', 'waiting')))
      .when(commit(submit('t2')))
      .thenRefuses('path_busy', { turnId: 't1', state: 'waiting' });
  });

  test('a parent that nobody sees is refused: unknown, of a stranger, of a fork, itself', () => {
    const story = given(
      commit(...turn('t1')),
      commit(...turn('s1')).to('stranger'),
      commit(fork('c', 't1.q')).to('fork'),
      commit(...turn('f1')).to('fork'),
    );
    const under = (parent: string) => submit('t2', { parent: { turnId: parent } });
    for (const parent of ['nobody', 's1', 'f1', 't2']) {
      story.when(commit(under(parent)).expecting({ graphRevision: 2 })).thenRefuses('no_parent', { parent });
    }
    for (const messageId of ['nothing', 's1.q', 'f1.q']) {
      story
        .when(commit(submit('t2', { parent: { messageId } })).expecting({ graphRevision: 2 }))
        .thenRefuses('no_parent', { parent: messageId });
    }
  });

  test('siblings count from 1 in the order of their commits, and say why they are there', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    const again = (id: string, more: object, graphRevision: number) =>
      commit(...turn(id, [], { parent: { turnId: 't1' }, ...more })).expecting({ graphRevision });
    story.write(again('t3', {}, 4));
    story.write(again('t4', { samePromptAs: 't2' }, 6));
    story.write(again('t5', { promptId: 't2.prompt', prompt: text('ask t2') }, 8));
    const seen = story.seen();
    expect(['t2', 't3', 't4', 't5'].map((id) => seen.turn(id)?.ordinal)).toEqual([1, 2, 3, 4]);
    expect(['t2', 't3', 't4', 't5'].map((id) => seen.turn(id)?.why)).toEqual([
      'start',
      'edit',
      'regenerate',
      'regenerate',
    ]);
  });

  test('the first turn of a parent starts something, even with the words of another', () => {
    given(commit(...turn('t1')))
      .when(commit(submit('t2', { samePromptAs: 't1' })))
      .thenWrites({ ordinal: 1, why: 'start' });
  });

  test('a prompt id stands for one content', () => {
    const story = given(commit(...turn('t1')));
    story
      .when(commit(submit('t2', { promptId: 't1.prompt', prompt: text('other words') })))
      .thenRefuses('prompt_conflict', { promptId: 't1.prompt' });
    story
      .when(commit(submit('t2', { promptId: 't1.prompt', prompt: text('ask t1'), author: { id: 'a', kind: 'human' } })))
      .thenRefuses('prompt_conflict', { promptId: 't1.prompt' });
  });

  test('a shared prompt is stored once', () => {
    const story = given(commit(...turn('t1')));
    const outcome = story.when(commit(submit('t2', { samePromptAs: 't1' })));
    if (outcome.decision.outcome !== 'write') throw new Error('it is written');
    expect(outcome.decision.writes.log?.record.records).toEqual([]);
    outcome.thenSees((seen) => expect(seen.messages('t2').at(-1)?.parts).toEqual(text('ask t1')));
  });

  test('the words of an unknown, a wordless or a redacted turn cannot be shared', () => {
    const story = given(commit(...turn('t1')), commit(record('t2')));
    story.when(commit(submit('t3', { samePromptAs: 'nobody' }))).thenRefuses('no_turn', { turnId: 'nobody' });
    story.when(commit(submit('t3', { samePromptAs: 't2' }))).thenRefuses('no_turn', { turnId: 't2' });
    story.write(commit({ kind: 'message.redact', messageId: 't1.q', reason: 'asked' }));
    story.when(commit(submit('t3', { samePromptAs: 't1' }))).thenRefuses('redacted', { messageId: 't1.q' });
  });

  test('a turn, a message and an operation exist once', () => {
    const story = given(commit(...turn('t1')));
    story
      .when(commit(submit('t1', { operationId: 'other', messageId: 'other' })))
      .thenRefuses('turn_exists', { turnId: 't1' });
    story.when(commit(submit('t2', { messageId: 't1.q' }))).thenRefuses('message_conflict', { messageId: 't1.q' });
    story.when(commit(submit('t2', { operationId: 't1.op' }))).thenReplays(1);
  });

  test('an id of an inherited turn or message cannot be used again in a fork', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(submit('t1', { messageId: 'm' })).to('fork')).thenRefuses('turn_exists', { turnId: 't1' });
    story
      .when(commit(submit('t2', { messageId: 't1.q' })).to('fork'))
      .thenRefuses('message_conflict', { messageId: 't1.q' });
  });

  test('one operation is open at most', () => {
    const running = given(commit(submit('t1')), commit(advance('t1', 'failed')));
    running.when(commit(submit('t2'))).thenWrites({ turnId: 't2' });
    expect(running.seen().head.openOperation).toBe('t2.op');
    given(commit(...turn('t0')))
      .when(commit(submit('t1'), submit('t2')))
      .thenRefuses('busy', { turnId: 't1', state: 'preparing' });
    // Within one commit nothing is settled before its end.
    given(commit(...turn('t0')))
      .when(commit(submit('t1'), advance('t1', 'completed'), submit('t2')))
      .thenRefuses('operation_open', { operationId: 't1.op' });
  });

  test('a rewind into a turn leaves out what follows the message', () => {
    given(commit(...turn('t1', [say('a1'), say('a2'), say('a3')])))
      .when(commit(submit('t2', { parent: { messageId: 'a2' } })).expecting({ graphRevision: 2 }))
      .thenSees((seen) => {
        expect(seen.turn('t2')).toMatchObject({ parentTurnId: 't1', parentMessageId: 'a2', ordinal: 1, branch: 1 });
        expect(seen.ids('t2')).toEqual(['t1.q', 'a1', 'a2', 't2.q']);
        expect(seen.ids('t1')).toEqual(['t1.q', 'a1', 'a2', 'a3']);
      });
  });

  test('a rewind to the last message of a turn is a branch of its own', () => {
    given(commit(...turn('t1', [say('a1')])))
      .when(commit(submit('t2', { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }))
      .thenSees((seen) => expect(seen.turn('t2')).toMatchObject({ branch: 1, position: 1 }));
  });

  test('a turn that has not ended takes no rewind', () => {
    given(commit(submit('t1')), commit(advance('t1', 'running'), say('a1')), commit(advance('t1', 'waiting')))
      .when(commit(submit('t2', { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }))
      .thenRefuses('path_busy', { turnId: 't1', state: 'waiting' });
  });

  test('a branch is at most so deep', () => {
    const story = given(commit(...turn('t0')));
    for (let depth = 1; depth <= LIMITS.branchDepth; depth++) {
      const parent = { messageId: `t${depth - 1}.q` };
      const expected = { graphRevision: story.seen().head.graphRevision };
      story.write(commit(...turn(`t${depth}`, [], { parent })).expecting(expected));
    }
    const parent = { messageId: `t${LIMITS.branchDepth}.q` };
    story
      .when(commit(submit('deep', { parent })).expecting({ graphRevision: story.seen().head.graphRevision }))
      .thenRefuses('limit_exceeded', {
        limit: 'branchDepth',
        max: LIMITS.branchDepth,
        actual: LIMITS.branchDepth + 1,
        path: 'parent',
      });
    expect([...story.seen().path()]).toHaveLength(LIMITS.branchDepth + 1);
  });
});

describe('turn.advance', () => {
  const start = (state: TurnState): readonly Phrase[] =>
    state === 'preparing' ? [commit(submit('t1'))] : [commit(submit('t1')), commit(advance('t1', state))];

  test('goes forward only', () => {
    const order: readonly TurnState[] = ['preparing', 'dispatching', 'running', 'waiting'];
    const ends: readonly TurnState[] = ['completed', 'failed', 'cancelled'];
    for (const from of [...order, ...ends]) {
      for (const to of [...order, ...ends]) {
        const outcome = given(...start(from)).when(commit(advance('t1', to)));
        const isBack = order.indexOf(to) <= order.indexOf(from) && !(from === 'waiting' && to === 'running');
        const isLegal = !ends.includes(from) && (ends.includes(to) || !isBack);
        if (isLegal) outcome.thenWrites({ from, to });
        else outcome.thenRefuses('illegal_transition', { machine: 'turn', id: 't1', from, to });
      }
    }
  });

  test('a turn that nobody knows, or only inherited, is not moved', () => {
    given(commit(submit('t1')))
      .when(commit(advance('nobody', 'running')))
      .thenRefuses('no_turn', { turnId: 'nobody' });
    given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'))
      .when(commit(advance('t1', 'failed')).to('fork'))
      .thenRefuses('no_turn', { turnId: 't1' });
  });

  test('the leaf moves to a turn once, when it starts', () => {
    const story = given(commit(...turn('t1')), commit(submit('t2')));
    expect(story.seen().head.leaf).toBe('t1');
    story.write(commit(advance('t2', 'dispatching')));
    expect(story.seen().head.leaf).toBe('t1');
    story.write(commit(advance('t2', 'waiting')));
    expect(story.seen().head.leaf).toBe('t2');
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(advance('t2', 'running')));
    expect(story.seen().head).toMatchObject({ leaf: 't1', graphRevision: 5 });
  });

  test('a turn that fails or is cancelled before it starts leaves the leaf where it is', () => {
    for (const to of ['failed', 'cancelled'] as const) {
      given(commit(...turn('t1')), commit(submit('t2')))
        .when(commit(advance('t2', to)))
        .thenSees((seen) => expect(seen.head).toMatchObject({ leaf: 't1', graphRevision: 3, busy: [] }));
    }
  });

  test('a turn that skips to its end still becomes the leaf', () => {
    given(commit(submit('t1')))
      .when(commit(advance('t1', 'completed')))
      .thenSees((seen) => expect(seen.head).toMatchObject({ leaf: 't1', graphRevision: 2 }));
  });

  test('activity never goes back', () => {
    given(commit(submit('t1')).at(5_000))
      .when(commit(advance('t1', 'running')).at(4_000))
      .thenSees((seen) => expect(seen.head).toMatchObject({ createdAt: 5_000, lastActivityAt: 5_000 }));
    given(commit(submit('t1')).at(5_000))
      .when(commit(advance('t1', 'running')).at(6_000))
      .thenSees((seen) => expect(seen.head).toMatchObject({ createdAt: 5_000, lastActivityAt: 6_000 }));
  });
});

describe('turn.record', () => {
  test('is a completed turn without prompt or operation, and takes what follows it in its commit', () => {
    given()
      .when(commit(record('t1'), say('a1'), say('a2', 't1')))
      .thenSees((seen) => {
        expect(seen.turn('t1')).toMatchObject({ state: 'completed', ordinal: 1 });
        expect(seen.head).toMatchObject({ leaf: 't1', openOperation: null, busy: [], graphRevision: 2 });
        expect(seen.ids()).toEqual(['a1', 'a2']);
      });
  });

  test('is closed to the next commit', () => {
    given(commit(record('t1'), say('a1')))
      .when(commit(say('a2', 't1')))
      .thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
  });

  test('is closed once its commit records another turn or turns to another leaf', () => {
    given()
      .when(commit(record('t1'), record('t2'), say('a1', 't1')))
      .thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
    given(commit(record('t1')))
      .when(commit(record('t2'), select('t1'), say('a1', 't2')).expecting({ graphRevision: 2 }))
      .thenRefuses('turn_terminal', { turnId: 't2', state: 'completed' });
  });

  test('takes calls and their results', () => {
    given()
      .when(commit(record('t1'), call('a1', ['x']), answer('r1', ['x']), say('a2')))
      .thenSees((seen) => expect(seen.ids()).toEqual(['a1', 'r1', 'a2']));
  });

  test('is refused while busy', () => {
    given(commit(submit('t1')))
      .when(commit(record('t2')))
      .thenRefuses('busy', { turnId: 't1', state: 'preparing' });
  });

  test('under a named parent it needs the graph revision, and the parent must have ended', () => {
    given(commit(record('t1')))
      .when(commit(record('t2', null)))
      .thenRefuses('expect_required', { field: 'graphRevision', change: 'commit.changes[0]' });
    given(commit(submit('t1')), commit(advance('t1', 'waiting')))
      .when(commit(record('t2', { turnId: 't1' })).expecting({ graphRevision: 2 }))
      .thenRefuses('path_busy', { turnId: 't1', state: 'waiting' });
  });

  test('two roots are siblings', () => {
    given(commit(record('t1')))
      .when(commit(record('t2', null)).expecting({ graphRevision: 2 }))
      .thenWrites({ ordinal: 2, why: 'edit' });
  });
});

describe('leaf.select', () => {
  test('any turn of its own becomes the leaf, and that counts as a revision', () => {
    given(commit(...turn('t1')), commit(...turn('t2')))
      .when(commit(select('t1')).expecting({ graphRevision: 4 }))
      .thenSees((seen) => {
        expect(seen.head).toMatchObject({ leaf: 't1', graphRevision: 5 });
        expect(seen.ids()).toEqual(['t1.q']);
      });
  });

  test('selecting the leaf again is no revision', () => {
    given(commit(...turn('t1')))
      .when(commit(select('t1')).expecting({ graphRevision: 2 }))
      .thenSees((seen) => expect(seen.head.graphRevision).toBe(2));
  });

  test('needs the graph revision, and the right one', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story
      .when(commit(select('t1')))
      .thenRefuses('expect_required', { field: 'graphRevision', change: 'commit.changes[0]' });
    story
      .when(commit(select('t1')).expecting({ graphRevision: 3 }))
      .thenRefuses('conflict', { field: 'graphRevision', expected: 3, actual: 4 });
  });

  test('a fork selects its own turns and the one it was cut at, no other inherited one', () => {
    const story = given(
      commit(...turn('t1')),
      commit(...turn('t2')),
      commit(fork('c', 't2.q')).to('fork'),
      commit(...turn('t3')).to('fork'),
    );
    story
      .when(commit(select('t1')).to('fork').expecting({ graphRevision: 2 }))
      .thenRefuses('no_turn', { turnId: 't1' });
    story
      .when(commit(select('t2')).to('fork').expecting({ graphRevision: 2 }))
      .thenSees((seen) => expect(seen.ids()).toEqual(['t1.q', 't2.q']));
    story.when(commit(select('t3')).expecting({ graphRevision: 4 })).thenRefuses('no_turn', { turnId: 't3' });
  });
});

describe('an overtaken commit', () => {
  test('a submit that another submit overtakes is told who is busy', () => {
    given(commit(...turn('t1')))
      .whenOvertaken(commit(submit('t2')), commit(submit('t3')))
      .thenRefuses('busy', { turnId: 't3', state: 'preparing' });
  });

  test('a submit that a whole turn overtakes goes on from that turn', () => {
    given(commit(...turn('t1')))
      .whenOvertaken(commit(submit('t2')), commit(...turn('t3')))
      .thenSees((seen) => expect(seen.ids('t2')).toEqual(['t1.q', 't3.q', 't2.q']));
  });

  test('siblings under one parent get two ordinals, whoever comes first', () => {
    const under = (id: string) => submit(id, { parent: { turnId: 't1' } });
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story
      .whenOvertaken(
        commit(under('t3')).expecting({ graphRevision: 4 }),
        commit(under('t4'), advance('t4', 'failed')).expecting({ graphRevision: 4 }),
      )
      .thenRefuses('conflict', { field: 'graphRevision', expected: 4, actual: 5 });
    story.when(commit(under('t3')).expecting({ graphRevision: 5 })).thenWrites({ ordinal: 3 });
  });

  test('a move that another move overtakes is judged by the state that it finds', () => {
    given(commit(submit('t1')))
      .whenOvertaken(commit(advance('t1', 'running')), commit(resolve('t1', 'stopped', 'by hand')))
      .thenRefuses('illegal_transition', { machine: 'turn', id: 't1', from: 'failed', to: 'running' });
  });

  test('selections of one revision: the second is told', () => {
    given(commit(...turn('t1')), commit(...turn('t2')))
      .whenOvertaken(
        commit(select('t1')).expecting({ graphRevision: 4 }),
        commit(select('t1')).expecting({ graphRevision: 4 }),
      )
      .thenRefuses('conflict', { field: 'graphRevision', expected: 4, actual: 5 });
  });
});
