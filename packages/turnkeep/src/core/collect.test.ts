import { describe, expect, test } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import type { RowReader } from './backend.ts';
import type { Change } from './change.ts';
import { aim, answer, call, fork, promise, redact, say, select, submit, text, turn } from './changes.testkit.ts';
import { chainAfter, chainStart } from './digest.ts';
import { collectErased, livingDescendants } from './collect.ts';
import { TurnkeepError } from './errors.ts';
import { TABLES } from './keys.ts';
import { commit, given } from './story.testkit.ts';
import type { Story } from './story.testkit.ts';
import { scanPrefix } from './tree/path.ts';

const erase: Change = { kind: 'conversation.erase' };

function collect(story: Story, id: string = 'c'): void {
  for (const writes of collectErased(story.rows, id)) story.rows.apply(writes);
}

function rowsOf(story: Story, id: string): readonly string[] {
  return Object.entries(TABLES).flatMap(([table, letter]) => scanPrefix(story.rows, id, letter).map(() => table));
}

function bodiesOf(story: Story, id: string): readonly string[] {
  const found: string[] = [];
  for (let version = 1; version <= story.seen(id).head.version; version++) {
    for (const { body } of story.rows.log(id, version)?.records ?? []) if (body !== null) found.push(body);
  }
  return found;
}

/** All that a reader of a conversation sees. */
function view(story: Story, id: string): unknown {
  const seen = story.seen(id);
  return {
    messages: seen.messages(),
    state: seen.state(),
    commitments: seen.commitments(),
    turns: ['t1', 't2'].map((turnId) => seen.turn(turnId)),
  };
}

describe('what was erased', () => {
  test('leaves no row and no word where nobody shares it', () => {
    const story = given(
      commit({ kind: 'conversation.create', title: 'a title' }),
      commit(...turn('t1', [call('a1', ['x']), aim('o'), promise('p'), { kind: 'task.create', title: 'k' }])),
      commit(answer('late', ['x'])),
      commit({
        kind: 'checkpoint.create',
        checkpointId: 'k',
        type: 'agent',
        payload: { a: { json: 'x'.repeat(900) } },
      }),
      commit({
        kind: 'checkpoint.write',
        checkpointId: 'k',
        revision: 0,
        task: 't',
        index: 0,
        channel: 'c',
        value: { json: 1 },
      }),
      commit({ kind: 'binding.save', turnId: 't1', history: 'h', cursor: 1, capture: 'live' }),
      commit({ kind: 'conversation.update', readThrough: { reader: 'ann', sequence: 1 } }),
      commit(erase),
    );
    collect(story);
    expect(rowsOf(story, 'c')).toEqual([]);
    expect(bodiesOf(story, 'c')).toEqual([]);
    expect(story.seen().head).toMatchObject({ collected: true, erasedAt: expect.any(Number) as number });
    for (let version = 1; version <= 8; version++) {
      expect(story.rows.log('c', version)).toMatchObject({ header: null, nonce: null });
      for (const record of story.rows.log('c', version)?.records ?? [])
        expect(record).toMatchObject({ nonce: null, body: null });
    }
  });

  test('keeps the digests, so that the chain still verifies', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(promise('p')), commit(erase));
    const { chain } = story.seen().head;
    collect(story);
    let walked = chainStart(sha256, 'c');
    for (let version = 1; version <= 3; version++) {
      const log = story.rows.log('c', version);
      if (log) walked = chainAfter(sha256, walked, log);
    }
    expect(walked).toBe(chain);
  });

  test('is collected only after an erasure', () => {
    const story = given(commit(say('a1')));
    expect(() => collect(story)).toThrow(expect.objectContaining({ code: 'conversation_not_found' }));
    expect(() => collect(story, 'nobody')).toThrow(expect.objectContaining({ code: 'conversation_not_found' }));
  });

  test('goes in slices, and twice is once', () => {
    const story = given();
    for (let at = 0; at < 8; at++) story.write(commit(...Array.from({ length: 100 }, (_, n) => say(`m${at}-${n}`))));
    story.write(commit(erase));
    const slices = [...collectErased(story.rows, 'c')];
    expect(Math.max(...slices.map(({ rows }) => rows.length))).toBeLessThanOrEqual(500);
    collect(story);
    collect(story);
    expect(rowsOf(story, 'c')).toEqual([]);
  });
});

describe('what a living fork shares', () => {
  const shared = () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x', 'y']), aim('one'), promise('p1')])),
      commit(...turn('t2', [say('a2'), aim('two')])),
      commit(answer('seen', ['x'])),
    );
    story.write(commit(fork('c', 'a2')).to('fork'));
    story.write(commit(answer('unseen', ['y'])));
    story.write(commit(...turn('t3', [say('a3'), promise('p3')])));
    return story;
  };

  test('reads on as before', () => {
    const story = shared();
    const before = view(story, 'fork');
    story.write(commit(erase));
    collect(story);
    expect(view(story, 'fork')).toEqual(before);
    story.when(commit(...turn('f1')).to('fork')).thenWrites();
    story.when(commit(answer('again', ['x'])).to('fork')).thenRefuses('no_turn', { turnId: 'f1' });
  });

  test('is all that stays: not a word beyond its cut or its version', () => {
    const story = shared();
    story.write(commit(erase));
    collect(story);
    const words = bodiesOf(story, 'c').join();
    for (const gone of ['unseen', 'ask t3', 'a3', 'p3']) expect(words).not.toContain(gone);
    expect(bodiesOf(story, 'c')).toHaveLength(8);
    const tables = new Set(rowsOf(story, 'c'));
    for (const gone of ['commits', 'operations', 'prompts', 'children', 'turnStates'] as const)
      expect([...tables]).not.toContain(gone);
  });

  test('at a message is cut there: neither later messages nor later entries of the turn stay', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('before'), say('a2'), aim('after')])));
    story.write(commit(fork('c', 'a1')).to('fork'));
    const before = view(story, 'fork');
    story.write(commit(erase));
    collect(story);
    expect(view(story, 'fork')).toEqual(before);
    expect(bodiesOf(story, 'c').join()).not.toMatch(/after|"a2"/);
  });

  test('includes a prompt that is repeated where the turn that first had it is not on the path', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')), commit(fork('c', 't2.q')).to('fork'));
    const again = { parent: { turnId: 't1' }, samePromptAs: 't2' };
    story.write(
      commit(...turn('f1', [], again))
        .to('fork')
        .expecting({ graphRevision: 0 }),
    );
    story.write(commit(fork('fork', 'f1.q')).to('second'));
    for (const id of ['c', 'fork']) story.write(commit(erase).to(id));
    for (const id of ['c', 'fork']) collect(story, id);
    expect(story.seen('second').ids()).toEqual(['t1.q', 'f1.q']);
    expect(story.seen('second').messages().at(-1)?.parts).toEqual(text('ask t2'));
    story.write(commit(erase).to('second'));
    for (const id of ['c', 'fork', 'second']) collect(story, id);
    expect(['c', 'fork', 'second'].flatMap((id) => bodiesOf(story, id))).toEqual([]);
  });

  test('has none of what a turn wrote after the next one began', () => {
    const story = given(commit(...turn('t1', [aim('seen')])), commit(...turn('t2')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(aim('unseen')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    const before = view(story, 'fork');
    story.write(commit(erase));
    collect(story);
    expect(view(story, 'fork')).toEqual(before);
    expect(bodiesOf(story, 'c').join()).toContain('"seen"');
    expect(bodiesOf(story, 'c').join()).not.toContain('unseen');
  });

  test('goes with the last one that shares it', () => {
    const story = shared();
    story.write(commit(fork('fork', 'a2')).to('second'));
    story.write(commit(erase));
    collect(story);
    story.write(commit(erase).to('fork'));
    expect(story.seen('c').head.collected).toBe(false);
    collect(story);
    collect(story, 'fork');
    expect(story.seen('second').ids()).toEqual(['t1.q', 'a1', 'seen', 't2.q', 'a2']);
    expect(livingDescendants(story.rows, 'c')).toEqual(new Set(['second']));
    story.write(commit(erase).to('second'));
    for (const id of ['c', 'fork', 'second']) collect(story, id);
    for (const id of ['c', 'fork', 'second']) expect([rowsOf(story, id), bodiesOf(story, id)]).toEqual([[], []]);
  });

  test('includes the branch that it hangs on, and no other', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(...turn('t2', [say('a2')])));
    story.write(commit(...turn('t3', [say('a3')], { parent: { turnId: 't1' } })).expecting({ graphRevision: 4 }));
    story.write(commit(select('t2')).expecting({ graphRevision: 6 }));
    story.write(commit(fork('c', 'a3')).to('fork'));
    story.write(commit(erase));
    collect(story);
    expect(story.seen('fork').ids()).toEqual(['t1.q', 'a1', 't3.q', 'a3']);
    expect(bodiesOf(story, 'c').join()).not.toMatch(/ask t2|a2/);
  });

  test('takes what can be read where some of it cannot, and the rest once it can', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(...turn('t2', [say('a2')])), commit(erase));
    const { rows } = story;
    const damaged: RowReader = {
      head: (id) => rows.head(id),
      get: (id, key) => rows.get(id, key),
      scan: (id, range) => rows.scan(id, range),
      heads: (query) => rows.heads(query),
      log(id, version) {
        if (version === 1) throw new TurnkeepError('corrupt', { place: 'block 0', reason: 'damaged' });
        return rows.log(id, version);
      },
    };
    expect(() => {
      for (const writes of collectErased(damaged, 'c')) rows.apply(writes);
    }).toThrow('block 0');
    expect(rowsOf(story, 'c')).toEqual([]);
    expect(bodiesOf(story, 'c').join()).toMatch(/ask t1/);
    expect(bodiesOf(story, 'c').join()).not.toMatch(/ask t2/);
    expect(rows.head('c')?.collected).toBe(false);
    collect(story);
    expect([bodiesOf(story, 'c'), rows.head('c')?.collected]).toEqual([[], true]);
  });

  test('includes what stands in place of a redacted message', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(redact('a1', 'instead')));
    story.write(commit(fork('c', 'a1')).to('fork'));
    story.write(commit(erase));
    collect(story);
    expect(story.seen('fork').messages()[1]).toMatchObject({ parts: text('instead'), redaction: { reason: 'asked' } });
  });

  test('includes a prompt that a turn of the fork shows again', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.write(commit(submit('f1', { samePromptAs: 't1' })).to('fork'));
    story.write(commit(erase));
    collect(story);
    expect(story.seen('fork').messages('f1').at(-1)?.parts).toEqual(text('ask t1'));
  });
});
