import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../core/change.ts';
import type { ConversationId } from '../../core/ids.ts';
import { append, play, says, text } from '../../testing/scenes.ts';
import type { Store } from '../../testing/store.ts';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, Recorder, recordedStore, TestSchema } from '../postgres.testkit.ts';

// Commits that take words away: erasures, redactions, memories that are forgotten.

const ERASE: Change = { kind: 'conversation.erase' };
const RECORD: Change = { kind: 'turn.record', origin: 'test' };

function redact(messageId: string): Change {
  return { kind: 'message.redact', messageId, reason: 'asked for' };
}

function fork(source: string, at: string): Change {
  return { kind: 'conversation.fork', source, at };
}

function remember(memoryId: string, ...sources: string[]): Change {
  return { kind: 'memory.upsert', memoryId, text: `what ${memoryId} says`, sources };
}

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

describe('in three round trips', () => {
  let recorder: Recorder;
  let store: Store;

  beforeEach(async () => {
    recorder = new Recorder(await schema.driver());
    store = recordedStore(schema, recorder);
    await play(store, 'idle', 'a');
    await store.commit('b', [fork('a', 'm5')]);
    await store.commit('b', [RECORD, append(says('user', 'there', 'b1'))]);
    await store.commit('c', [fork('b', 'b1')]);
  });

  async function tripsAfresh(id: string, ...changes: readonly Change[]): Promise<number> {
    await store.session.close();
    await store.backend();
    return recorder.trips(() => store.commit(id, changes));
  }

  async function memories(): Promise<readonly unknown[]> {
    return (await (await store.readSpace()).memories.list()).map(({ memoryId }) => memoryId);
  }

  it('a message that a fork inherits is redacted, and the memories that were made of it, wherever their words stand', async () => {
    await store.commit('a', [remember('n1', 'm1')]);
    await store.commit('c', [remember('n2', 'm2', 'b1')]);
    await store.commit('b', [remember('n3', 'm3')]);
    expect(await memories()).toEqual(['n1', 'n2', 'n3']);
    expect(await tripsAfresh('c', redact('m4'))).toBe(3);
    expect(await tripsAfresh('a', redact('m1'))).toBe(3);
    expect(await memories()).toEqual(['n2', 'n3']);
    expect(await tripsAfresh('a', redact('m2'))).toBe(3);
    expect(await tripsAfresh('c', redact('m3'))).toBe(3);
    expect(await memories()).toEqual([]);
  });

  it('a memory is forgotten', async () => {
    await store.commit('c', [remember('n1', 'm2')]);
    const again: Change = { kind: 'memory.upsert', memoryId: 'n1', from: 0, text: 'more' };
    await store.commit('b', [again]);
    expect(await tripsAfresh('a', { ...again, from: 1, text: null })).toBe(3);
  });

  it('a conversation is erased with its sub-agents, theirs, and the memories that were made in them', async () => {
    await play(store, 'working', 'w');
    const spawn = (conversationId: string, turnId: string): Change => ({
      kind: 'conversation.spawn',
      parent: { conversationId, turnId },
    });
    for (const id of ['s1', 's2']) await store.commit(id, [spawn('w', 't3')]);
    await store.commit('s1', [{ kind: 'turn.submit', turnId: 'q', prompt: [text('dig')] }, remember('n1')]);
    await store.commit('s3', [spawn('s1', 'q'), remember('n2')]);
    await store.commit('a', [remember('n3')]);
    expect(await tripsAfresh('w', ERASE)).toBe(3);
    const backend = await store.backend();
    for (const id of ['s1', 's2', 's3'])
      expect(await backend.read(NAMESPACE, (rows) => rows.head(id as ConversationId)?.erasedAt)).toEqual(
        expect.any(Number),
      );
    expect(await memories()).toEqual(['n3']);
  });

  it('a fork is erased, and what it goes on from, in any order', async () => {
    await store.commit('c', [remember('n1', 'm1')]);
    await store.commit('b', [remember('n2')]);
    for (const id of ['b', 'c', 'a']) expect(await tripsAfresh(id, ERASE)).toBe(3);
    expect(await memories()).toEqual([]);
  });

  it('a fork at the end of a line of many is erased, and what it inherits is redacted', async () => {
    await store.commit('l0', [fork('a', 'm5')]);
    for (let at = 1; at < 40; at++) {
      await store.commit(`l${at - 1}`, [RECORD, append(says('user', 'there', `x${at}`))]);
      await store.commit(`l${at}`, [fork(`l${at - 1}`, `x${at}`)]);
    }
    expect(await tripsAfresh('l39', redact('m1'))).toBe(3);
    expect(await tripsAfresh('l39', ERASE)).toBe(3);
  });

  it('a call is redacted with what was recorded of it', async () => {
    await play(store, 'stepping', 'd');
    const fence = { attempt: 'a1', token: 1 };
    await store.commit(
      'd',
      [
        append({
          role: 'assistant',
          parts: [{ type: 'tool_call', callId: 'l9', name: 'buy', input: {} }],
          messageId: 'm9',
        }),
        { kind: 'step.start', turnId: 't3', key: 'l9', name: 'buy', callId: 'l9', input: { what: 'it' } },
        {
          kind: 'interrupt.request',
          interruptId: 'i9',
          turnId: 't3',
          type: 'approval',
          callId: 'l9',
          payload: 'may I?',
        },
      ],
      { fence },
    );
    expect(await tripsAfresh('d', redact('m9'))).toBe(3);
  });

  it('a message is redacted that shows an attachment', async () => {
    const { attachments } = ledgerOver(await schema.open({ watch: 'poll' })).namespace(NAMESPACE);
    const { digest } = await attachments.put(new TextEncoder().encode('bytes'));
    const parts = [{ type: 'file' as const, mediaType: 'text/plain', source: { attachment: digest } }];
    await store.commit('a', [RECORD, append({ role: 'user', parts, messageId: 'shows' })]);
    expect(await tripsAfresh('a', redact('shows'))).toBe(3);
  });
});

describe('beside an open transaction', () => {
  const says1 = (id: string) => envelope(id, [RECORD, append(says('user', `word of ${id}`, `${id}1`))]);
  let store: PostgresBackend;

  beforeEach(async () => {
    store = await schema.open({ watch: 'poll', search: 'scan' });
    for (const id of ['a', 'b', 'c', 'd']) await store.commit(says1(id));
    await store.commit(envelope('fork', [fork('a', 'a1')]));
  });

  async function memories(): Promise<readonly unknown[]> {
    return (await ledgerOver(store).namespace(NAMESPACE).memories.list()).map(({ memoryId }) => memoryId);
  }

  /** Does `work` while a transaction is open that has made `commit`, and ends that. */
  async function beside(commit: ReturnType<typeof envelope>, work: () => Promise<unknown>): Promise<void> {
    const client = await schema.client();
    await client.query('BEGIN');
    await store.commitWithin(client, commit);
    await work();
    await client.query('COMMIT');
  }

  it.each([false, true])(
    'what no memory was made of is redacted and erased in one conversation and another (memories elsewhere: %s)',
    async (elsewhere) => {
      if (elsewhere) await store.commit(envelope('d', [remember('n1', 'd1')]));
      await beside(envelope('a', [redact('a1')]), async () => {
        await store.commit(envelope('b', [redact('b1')]));
        await beside(envelope('b', [ERASE]), async () => store.commit(envelope('c', [ERASE])));
      });
      expect(await memories()).toEqual(elsewhere ? ['n1'] : []);
    },
  );

  it.each([false, true])(
    'a redaction waits for a memory that is made of its message in a fork, and takes it along (memories before: %s)',
    async (before) => {
      if (before) await store.commit(envelope('d', [remember('n1', 'd1')]));
      const other = new Recorder(await schema.driver());
      const theirs = await schema.open({ watch: 'poll', search: 'scan' }, other);
      other.flushes.length = 0;
      let redacted: Promise<unknown> | undefined;
      await beside(envelope('fork', [remember('n2', 'a1')]), async () => {
        redacted = theirs.commit(envelope('a', [redact('a1')]));
        // It has locked, found that it cannot, and comes again.
        while (other.flushes.length < 3) await new Promise((resolve) => setImmediate(resolve));
      });
      await redacted;
      expect(await memories()).toEqual(before ? ['n1'] : []);
    },
  );

  it.each([false, true])(
    'a memory waits for the redaction of its message, and is not made (memories before: %s)',
    async (before) => {
      if (before) await store.commit(envelope('d', [remember('n1', 'd1')]));
      const other = new Recorder(await schema.driver());
      const theirs = await schema.open({ watch: 'poll', search: 'scan' }, other);
      other.flushes.length = 0;
      let made: Promise<unknown> | undefined;
      await beside(envelope('a', [redact('a1')]), async () => {
        made = theirs.commit(envelope('fork', [remember('n2', 'a1')])).catch((error: unknown) => error);
        while (other.flushes.length < 3) await new Promise((resolve) => setImmediate(resolve));
      });
      expect(await made).toMatchObject({ code: 'redacted' });
      expect(await memories()).toEqual(before ? ['n1'] : []);
    },
  );
});
