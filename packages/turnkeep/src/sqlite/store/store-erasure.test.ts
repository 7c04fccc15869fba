import { fieldOf } from '../../core/event.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../open.ts';
import type { SqliteBackend } from '../sqlite-backend.ts';
import { envelope, message, NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';

/** Words that occur in any file of the store's folder, whatever their case: the index holds them folded. */
function remains(path: string, words: readonly string[]): readonly string[] {
  const folder = dirname(path);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1').toLowerCase());
  return words.filter((word) => texts.some((text) => text.includes(word)));
}

const SECRETS = [
  'zyxmessage',
  'zyxtitle',
  'zyxcheckpoint',
  'zyxmessageid',
  'zyxturnid',
  'zyxcommitid',
  'zyxtask',
  'zyxlong',
];

async function tell(store: SqliteBackend, conversation: string, count: number): Promise<void> {
  const say = (text: string, messageId: string) => ({ role: 'user', parts: [{ type: 'text', text }], messageId });
  for (let n = 0; n < count; n++) {
    await store.commit(
      envelope(
        conversation,
        [
          ...(n === 0 ? [{ kind: 'checkpoint.create', checkpointId: 'agent', type: 'test', payload: {} }] : []),
          { kind: 'turn.record', origin: 'test', turnId: `zyxturnid${n}` },
          { kind: 'message.append', message: say(`a ZyxMessage ${n}`, `zyxmessageid${n}`) },
          { kind: 'message.append', message: say('zyxlong '.repeat(400), `zyxmessageid-long${n}`) },
          { kind: 'task.create', taskId: `zyxtask${n}`, title: 'zyxtask' },
          { kind: 'task.transition', taskId: `zyxtask${n}`, to: 'cancelled' },
          { kind: 'conversation.update', title: `zyxtitle ${n}` },
          {
            kind: 'checkpoint.advance',
            checkpointId: 'agent',
            from: n,
            payload: { state: { json: `zyxcheckpoint ${n}`.repeat(60) } },
          },
        ],
        { commitId: `zyxcommitid${n}` },
      ),
    );
  }
}

test('I10: after collection no byte of an erased conversation is left in any file', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path);
    const other = await openSqlite(path);
    await tell(store, 'erased', 40);
    await store.commit(message('kept', 'a kept word'));
    await store.rebuild();
    expect(remains(path, SECRETS)).toEqual(SECRETS);
    await store.commit(envelope('erased', [{ kind: 'conversation.erase', reason: 'asked' }]));
    expect(await store.collect(NAMESPACE)).toBeGreaterThan(100);
    expect(remains(path, SECRETS)).toEqual([]);
    expect(remains(path, ['a kept word'])).toEqual(['a kept word']);
    expect(await store.collect(NAMESPACE)).toBe(0);
    expect(await store.verify()).toEqual([]);
    await other.close();
    await store.close();
    expect(remains(path, SECRETS)).toEqual([]);
  }));

test('nor of a message that was redacted', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path);
    const { events } = await store.commit(message('talk', 'zyxmessage zyxlong'.repeat(50)));
    await store.rebuild();
    await store.commit(
      envelope('talk', [{ kind: 'message.redact', messageId: fieldOf(events[0], 'messageId'), reason: 'asked' }]),
    );
    await store.collect(NAMESPACE);
    expect(remains(path, SECRETS)).toEqual([]);
    await store.close();
  }));
