import { describe, expect, test } from 'vitest';
import type { Change, InputEnqueue } from '../change.ts';
import { advance, answer, call, say, submit, text, turn } from '../changes.testkit.ts';
import { LIMITS } from '../limits.ts';
import { readInput, readWaitingInputs } from '../read/inputs.ts';
import { commit, given } from '../story.testkit.ts';
import type { Seen, Story } from '../story.testkit.ts';

function wait(inputId: string, more: Partial<InputEnqueue> = {}): Change {
  return { kind: 'input.enqueue', inputId, prompt: text(`say ${inputId}`), ...more };
}

function deliver(turnId: string, inputId?: string): Change {
  return { kind: 'input.deliver', turnId, messageId: `${turnId}.q`, promptId: `${turnId}.prompt`, inputId };
}

function deliverInto(into: string, inputId?: string): Change {
  return { kind: 'input.deliver', into, messageId: `${inputId ?? 'in'}.m`, inputId };
}

function withdraw(inputId: string): Change {
  return { kind: 'input.withdraw', inputId };
}

function waiting(seen: Seen): readonly string[] {
  return readWaitingInputs(seen.tree, seen.bodies).map(({ inputId }) => inputId);
}

function input(seen: Seen, inputId: string) {
  return readInput(seen.tree, seen.bodies, inputId);
}

/** The words that a log record still holds. */
function wordsAt(story: Story, version: number): readonly (string | null)[] {
  return (story.rows.log('c', version)?.records ?? []).map(({ body }) => body);
}

const running = [commit(submit('t1')), commit(advance('t1', 'running'))];

describe('input.enqueue', () => {
  test('waits behind what came before, while a turn is at work', () => {
    given(...running, commit(wait('i1')))
      .when(commit(wait('i2', { mode: 'steering', author: { id: 'ann', kind: 'human' } })))
      .thenSees((seen) => {
        expect(waiting(seen)).toEqual(['i1', 'i2']);
        expect(input(seen, 'i2')).toMatchObject({
          status: 'waiting',
          mode: 'steering',
          revision: 0,
          prompt: text('say i2'),
          author: { id: 'ann', kind: 'human' },
          enqueuedAt: '2026-01-01T00:00:04.000Z',
          turnId: null,
        });
        expect(seen.ids('t1'), 'nobody said it yet').toEqual(['t1.q']);
      });
  });

  test('mints an id from its commit', () => {
    given()
      .when(commit({ kind: 'input.enqueue', prompt: text('hi') }).as('key'))
      .thenWrites({ inputId: 'in_key.0', mode: 'queued', revision: 0 });
  });

  test('an id stands for one input, whatever became of it, and for no operation', () => {
    for (const then of [wait('i2'), withdraw('i1'), deliver('t2', 'i1')]) {
      given(commit(wait('i1')), commit(then))
        .when(commit(wait('i1')))
        .thenRefuses('input_exists', { inputId: 'i1' });
    }
    given(commit(submit('t1')))
      .when(commit(wait('t1.op')))
      .thenRefuses('input_exists', { inputId: 't1.op' });
    given(commit(wait('t1.op')))
      .when(commit(submit('t2', { operationId: 'o2' }), wait('o2')))
      .thenRefuses('input_exists', { inputId: 'o2' });
    given()
      .when(commit(wait('t1.op'), submit('t1')))
      .thenRefuses('input_exists', { inputId: 't1.op' });
  });

  test('an edit replaces the words from exactly the revision that was read, and keeps the place', () => {
    const story = given(commit(wait('i1', { mode: 'steering' })), commit(wait('i2')));
    story.when(commit(wait('i1', { from: 1 }))).thenRefuses('input_conflict', {
      inputId: 'i1',
      expectedRevision: 1,
      actualRevision: 0,
    });
    story.when(commit(wait('i1', { from: 0, prompt: text('better') }))).thenSees((seen) => {
      expect(waiting(seen)).toEqual(['i1', 'i2']);
      expect(input(seen, 'i1')).toMatchObject({ revision: 1, mode: 'steering', prompt: text('better') });
    });
    expect(wordsAt(story, 1), 'words that were replaced are nowhere').toEqual([null]);
    story.when(commit(wait('i1', { from: 1, mode: 'queued' }))).thenWrites({ revision: 2, mode: 'queued' });
  });

  test('what does not wait is not edited, and an edit names its input', () => {
    given()
      .when(commit(wait('i1', { from: 0 })))
      .thenRefuses('no_input', { inputId: 'i1' });
    given(commit(wait('i1')), commit(withdraw('i1')))
      .when(commit(wait('i1', { from: 0 })))
      .thenRefuses('input_settled', { inputId: 'i1', status: 'withdrawn' });
    expect(() => given(commit({ kind: 'input.enqueue', from: 0, prompt: text('x') }))).toThrow(
      'an edit names its input',
    );
  });

  test('so many wait, and one that is settled makes room', () => {
    const max = LIMITS.waitingInputs;
    const all = Array.from({ length: max }, (_, at) => wait(`i${at}`));
    const story = given(commit(...all));
    story.when(commit(wait('more'))).thenRefuses('limit_exceeded', {
      limit: 'waitingInputs',
      max,
      actual: max + 1,
      path: 'commit.changes[0]',
    });
    story.when(commit(withdraw('i7'), wait('more'))).thenSees((seen) => {
      expect(waiting(seen)).toHaveLength(max);
      expect(waiting(seen).at(-1)).toBe('more');
    });
  });
});

describe('input.deliver', () => {
  test('starts the next turn with the oldest, once: its prompt, its turn and an operation of its id', () => {
    const story = given(...running, commit(wait('i1')), commit(wait('i2')), commit(advance('t1', 'completed')));
    story.when(commit(deliver('t2'))).thenSees((seen) => {
      expect(seen.turn('t2')).toMatchObject({ parentTurnId: 't1', state: 'preparing' });
      expect(seen.head).toMatchObject({ openOperation: 'i1', busy: ['t2'] });
      expect(seen.messages('t2')).toMatchObject([
        { messageId: 't1.q' },
        { messageId: 't2.q', role: 'user', parts: text('say i1'), sequence: 2 },
      ]);
      expect(input(seen, 'i1')).toMatchObject({ status: 'delivered', turnId: 't2', prompt: [] });
      expect(waiting(seen)).toEqual(['i2']);
    });
    expect(wordsAt(story, 3), 'its words have moved to the message').toEqual([null]);
    story.when(commit(deliver('t3', 'i1'))).thenRefuses('input_settled', { inputId: 'i1', status: 'delivered' });
  });

  test('waits for the turn at work, and for a leaf that waits', () => {
    given(...running, commit(wait('i1')))
      .when(commit(deliver('t2')))
      .thenRefuses('busy', { turnId: 't1', state: 'running' });
    given(...running, commit(wait('i1')), commit(advance('t1', 'waiting')))
      .when(commit(deliver('t2')))
      .thenRefuses('path_busy', { turnId: 't1', state: 'waiting' });
  });

  test('into a turn it is a message of the user; the oldest that steers where none is named', () => {
    const story = given(...running, commit(wait('i1')), commit(wait('i2', { mode: 'steering' })));
    story.when(commit(deliverInto('t1'))).thenSees((seen) => {
      expect(seen.messages('t1').at(-1)).toMatchObject({ messageId: 'in.m', role: 'user', parts: text('say i2') });
      expect(input(seen, 'i2')).toMatchObject({ status: 'delivered', turnId: 't1' });
      expect(waiting(seen)).toEqual(['i1']);
    });
    story.when(commit({ ...deliverInto('t1'), messageId: 'x' } as Change)).thenRefuses('no_input', { inputId: null });
    story.when(commit(deliverInto('t1', 'i1'))).thenWrites({ inputId: 'i1', turnId: 't1', messageId: 'i1.m' });
  });

  test('a turn that was not steered in time leaves its input to the next turn', () => {
    given(...running, commit(wait('i1', { mode: 'steering' })), commit(advance('t1', 'completed')))
      .when(commit(deliver('t2')))
      .thenWrites({ inputId: 'i1', turnId: 't2', operationId: 'i1' });
  });

  test('a call that waits for its result is answered after the steering message, in its turn', () => {
    given(...running, commit(call('m1', ['x1'], 't1')), commit(wait('i1', { mode: 'steering' })))
      .when(commit(deliverInto('t1', 'i1'), answer('m2', ['x1']), say('m3', 't1')))
      .thenSees((seen) => expect(seen.ids('t1')).toEqual(['t1.q', 'm1', 'i1.m', 'm2', 'm3']));
  });

  test('names a turn that is there and has not ended, and a new message', () => {
    const story = given(...running, commit(wait('i1')), commit(say('m1', 't1')), commit(advance('t1', 'completed')));
    story.when(commit(deliverInto('nowhere', 'i1'))).thenRefuses('no_turn', { turnId: 'nowhere' });
    story.when(commit(deliverInto('t1', 'i1'))).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
    const taken = { kind: 'input.deliver', inputId: 'i1', messageId: 'm1' } as const;
    story.when(commit(taken)).thenRefuses('message_conflict', { messageId: 'm1' });
    given(...running, commit(wait('i1')), commit(say('m1', 't1')))
      .when(commit({ ...taken, into: 't1' }))
      .thenRefuses('message_conflict', { messageId: 'm1' });
    given()
      .when(commit(deliver('t1')))
      .thenRefuses('no_input', { inputId: null });
    given()
      .when(commit(deliver('t1', 'i9')))
      .thenRefuses('no_input', { inputId: 'i9' });
  });
});

describe('input.withdraw', () => {
  test('takes back what waits, and its words', () => {
    const story = given(...running, commit(wait('i1')), commit(wait('i2')));
    story.when(commit(withdraw('i1'))).thenSees((seen) => {
      expect(waiting(seen)).toEqual(['i2']);
      expect(input(seen, 'i1')).toMatchObject({ status: 'withdrawn', prompt: [] });
    });
    expect(wordsAt(story, 3)).toEqual([null]);
    story.when(commit(withdraw('i1'))).thenRefuses('input_settled', { inputId: 'i1', status: 'withdrawn' });
    story.when(commit(withdraw('i9'))).thenRefuses('no_input', { inputId: 'i9' });
  });

  test('a commit whose words went is known again by its id alone', () => {
    const first = commit(wait('i1')).as('key');
    given(first, commit(withdraw('i1')))
      .when(first)
      .thenReplays(1);
  });
});

describe('turn.submit while a turn is at work', () => {
  test('is refused unless it says what it wants', () => {
    given(...running)
      .when(commit(submit('t2', { whenBusy: 'reject' })))
      .thenRefuses('busy', { turnId: 't1', state: 'running' });
  });

  test('waits under its operation, which answers what it was answered, before and after the delivery', () => {
    const ask = submit('t2', { whenBusy: 'enqueue', turnId: 't2' });
    const story = given(...running);
    story.when(commit(ask)).thenWrites({ kind: 'input.enqueue', inputId: 't2.op', mode: 'queued', revision: 0 });
    story.when(commit(ask)).thenReplays(3);
    story.when(commit(advance('t1', 'completed'), deliver('t3'))).thenWrites({ operationId: 't2.op', turnId: 't3' });
    story.when(commit(ask)).thenReplays(4);
  });

  test('steers', () => {
    given(...running)
      .when(commit(submit('t2', { whenBusy: 'steer' })))
      .thenWrites({ kind: 'input.enqueue', inputId: 't2.op', mode: 'steering' });
  });

  test('starts at once where nothing is at work and nobody waits', () => {
    for (const whenBusy of ['enqueue', 'steer', 'interrupt'] as const) {
      given(commit(...turn('t1')))
        .when(commit(submit('t2', { whenBusy })))
        .thenWrites({ kind: 'turn.submit', turnId: 't2', ordinal: 1 });
    }
  });

  test('waits behind a leaf that waits, and behind those who came before', () => {
    given(...running, commit(advance('t1', 'waiting')))
      .when(commit(submit('t2', { whenBusy: 'enqueue' })))
      .thenWrites({ kind: 'input.enqueue' });
    given(commit(wait('i1')))
      .when(commit(submit('t2', { whenBusy: 'enqueue' })))
      .thenSees((seen) => expect(waiting(seen)).toEqual(['i1', 't2.op']));
  });

  test('interrupts: cancels what is at work and starts, in one commit', () => {
    given(...running)
      .when(commit(submit('t2', { whenBusy: 'interrupt' })))
      .thenSees((seen) => {
        expect(seen.turn('t1')).toMatchObject({ state: 'cancelled' });
        expect(seen.turn('t2')).toMatchObject({ state: 'preparing', parentTurnId: 't1' });
        expect(seen.head).toMatchObject({ busy: ['t2'], openOperation: 't2.op' });
      });
    given(commit(submit('t1')))
      .when(commit(submit('t2', { whenBusy: 'interrupt' })))
      .thenWrites({ turnId: 't2', interrupted: ['t1'], operationId: 't2.op' });
    given(...running, commit(advance('t1', 'waiting')))
      .when(commit(submit('t2', { whenBusy: 'interrupt' })))
      .thenWrites({ turnId: 't2', interrupted: ['t1'] });
  });

  test('a turn keeps only its own path busy where the conversation says so', () => {
    const story = given(
      commit({ kind: 'conversation.create', busyScope: 'path' }, ...turn('t0')),
      commit(submit('t1')),
      commit(advance('t1', 'running')),
    );
    const beside = (turnId: string) =>
      commit(submit(turnId, { parent: { turnId: 't0' } })).expecting({
        graphRevision: story.seen().head.graphRevision,
      });
    story.when(commit(submit('t2'))).thenRefuses('path_busy', { turnId: 't1', state: 'running' });
    story.when(beside('t3')).thenWrites({ turnId: 't3', ordinal: 2 });
    story.when(beside('t4')).thenRefuses('operation_open', { operationId: 't3.op' });
    story.when(commit(submit('t5', { whenBusy: 'enqueue' }))).thenWrites({ kind: 'input.enqueue' });
    story.when(commit(advance('t3', 'running'))).thenWrites();
    expect(story.seen().head.busy).toEqual(['t1', 't3']);
    story.when(commit(submit('t6', { whenBusy: 'interrupt' }))).thenWrites({ turnId: 't6', interrupted: ['t3'] });
    story.when(commit({ kind: 'conversation.update', busyScope: 'conversation' })).thenWrites();
    story.when(beside('t7')).thenRefuses('busy', { turnId: 't1', state: 'running' });
  });

  test('what was just asked is interrupted too, wherever it stands', () => {
    given(commit({ kind: 'conversation.create', busyScope: 'path' }, ...turn('t0')), commit(submit('t1')))
      .when(commit(submit('t2', { whenBusy: 'interrupt' })))
      .thenWrites({ turnId: 't2', interrupted: ['t1'] });
  });

  test('what may wait says nothing of where it will stand', () => {
    for (const more of [{ parent: null }, { samePromptAs: 't1', prompt: undefined }, { taskId: 'w1' }]) {
      expect(() => given(commit(submit('t2', { whenBusy: 'enqueue', ...more })))).toThrow('what may have to wait');
    }
  });
});
