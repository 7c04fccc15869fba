import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, Recorder, TestSchema, turn, versionOf } from '../postgres.testkit.ts';

let schema: TestSchema;
let recorder: Recorder;
/** Two processes of one store. */
let ours: PostgresBackend;
let theirs: PostgresBackend;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  ours = await schema.open({ watch: 'poll' }, recorder);
  theirs = await schema.open({ watch: 'poll' });
});

afterEach(async () => schema.end());

const parts = (text: string) => [{ type: 'text', text }];
const append = (messageId: string, text: string) => ({
  kind: 'message.append',
  message: { messageId, role: 'user', parts: parts(text) },
});

describe('what a process keeps of a conversation', () => {
  it('is checked before it is written on: what others did meanwhile is seen', async () => {
    await ours.commit(turn('c', 'first'));
    await theirs.commit(turn('c', 'second', { expect: { version: 1 } }));
    await expect(ours.commit(turn('c', 'third', { expect: { version: 1 } }))).rejects.toMatchObject({
      code: 'conflict',
      details: { field: 'version', actual: 2 },
    });
    await ours.commit(turn('c', 'third', { expect: { version: 2 } }));
    expect(await versionOf(theirs, 'c')).toBe(3);
  });

  it('is given up for a while where others write too: a commit takes four round trips once, and then three', async () => {
    await ours.commit(turn('c', 'ours'));
    const taken: number[] = [];
    for (let at = 0; at < 6; at++) {
      await theirs.commit(turn('c', `theirs ${at}`));
      taken.push(await recorder.trips(() => ours.commit(turn('c', `ours ${at}`))));
    }
    expect(taken).toEqual([4, 3, 3, 3, 3, 3]);
    expect(await versionOf(ours, 'c')).toBe(13);
  });

  it('takes nothing for absent that is there, however long ago it was written', async () => {
    const first = envelope('c', [{ kind: 'turn.record', turnId: 't', origin: 'test' }, append('m', 'words')]);
    await theirs.commit(first);
    await theirs.commit(envelope('c', [{ kind: 'task.create', taskId: 'task', title: 'an errand' }]));
    await theirs.commit(turn('c', 'more'));
    // A process that came later keeps the conversation, and has never seen those ids.
    await ours.commit(turn('c', 'and more'));
    expect(await recorder.trips(() => ours.commit(turn('c', 'quick')))).toBe(1);
    const again = envelope('c', [{ kind: 'turn.record', turnId: 't', origin: 'test' }]);
    await expect(ours.commit(again)).rejects.toMatchObject({ code: 'turn_exists' });
    const other = envelope('c', [{ kind: 'turn.record', origin: 'test' }, append('m', 'other words')]);
    await expect(ours.commit(other)).rejects.toMatchObject({ code: 'message_conflict' });
    expect(await ours.commit(first)).toMatchObject({ version: 1, replayed: true });
    await ours.commit(envelope('c', [{ kind: 'task.transition', taskId: 'task', to: 'running' }]));
    const task = await ledgerOver(theirs).namespace(NAMESPACE).conversation('c').tasks.get('task');
    expect(task).toMatchObject({ status: 'running' });
  });

  it('is no reason to fail where more is needed of it: the prompt of a turn that was kept without its message', async () => {
    const prompt = parts('the question');
    await theirs.commit(
      envelope('c', [
        { kind: 'turn.submit', turnId: 't', messageId: 'm', operationId: 'o', promptId: 'p', prompt },
        { kind: 'turn.advance', turnId: 't', to: 'running' },
        { kind: 'turn.advance', turnId: 't', to: 'completed' },
      ]),
    );
    await ours.commit(envelope('c', [{ kind: 'state.update', stage: 'asked' }]));
    const again = { kind: 'turn.submit', turnId: 'again', operationId: 'o2', messageId: 'm2', samePromptAs: 't' };
    expect(await ours.commit(envelope('c', [again]))).toMatchObject({ version: 3, replayed: false });
    const found = await ledgerOver(theirs).namespace(NAMESPACE).conversation('c').message('m2');
    expect(found).toMatchObject({ status: 'found_verified', message: { parts: prompt } });
  });

  it('goes on where a neighbour of its group must go the long way', async () => {
    await ours.commit(turn('kept', 'first'));
    await theirs.commit(turn('unknown', 'first'));
    const results = await Promise.allSettled([
      ours.commit(turn('kept', 'second')),
      ours.commit(turn('kept', 'stale', { expect: { version: 1 } })),
      ours.commit(turn('kept', 'third')),
      ours.commit(turn('unknown', 'second')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await versionOf(theirs, 'kept')).toBe(3);
    expect(await versionOf(theirs, 'unknown')).toBe(2);
    const { messages } = await ledgerOver(theirs).namespace(NAMESPACE).conversation('kept').page();
    expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, at) => at + 1));
  });

  it('knows no fork of its conversation that another process made', async () => {
    await ours.commit(turn('c', 'first'));
    const ledger = ledgerOver(theirs).namespace(NAMESPACE).conversation('c');
    const { messages } = await ledger.window(1);
    await ledger.fork(messages[0]?.messageId ?? '', { conversationId: 'fork' });
    await ours.commit(envelope('c', [{ kind: 'conversation.erase' }]));
    await ours.collect(NAMESPACE);
    const fork = ledgerOver(ours).namespace(NAMESPACE).conversation('fork');
    expect((await fork.page()).messages.length).toBeGreaterThan(0);
    expect(await theirs.verify()).toEqual([]);
  });
});
