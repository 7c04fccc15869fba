import { expect, test } from 'vitest';
import { LIMITS } from '../../core/limits.ts';
import type { Part } from '../../core/message.ts';
import type { Conversation } from '../conversation.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import { joinParts } from './draft.ts';
import type { DraftEvent } from './follow.ts';

const KEY = { idempotencyKey: 'turn-1' };

/** A gate that somebody else opens. */
function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open = () => undefined as void;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

async function following(conversation: Conversation, after?: string): Promise<AsyncGenerator<DraftEvent>> {
  const events = await conversation.reconnect(after === undefined ? {} : { after });
  if (!events) throw new Error('no turn is at work');
  return events;
}

async function next(events: AsyncGenerator<DraftEvent>): Promise<DraftEvent> {
  const found: IteratorResult<DraftEvent, unknown> = await events.next();
  if (found.done === true) throw new Error('nothing comes any more');
  return found.value;
}

const wordsOf = (parts: readonly Part[]) => joinParts(parts).map((part) => (part.type === 'text' ? part.text : ''));

test('readers follow a turn from where they left off, are told when its words are a message, and when it ends', async () => {
  const { conversation } = opened();
  const [first, second, third] = [gate(), gate(), gate()];
  const running = conversation.run(
    ASKED,
    async (turn) => {
      await turn.model('plan', async function* () {
        yield text('one ');
        first.open();
        await second.passed;
        yield text('two');
      });
      turn.draft([text('three')]);
      await third.passed;
    },
    KEY,
  );
  await first.passed;
  const events = await following(conversation);
  const delta = await next(events);
  if (delta.kind !== 'delta') throw new Error(delta.kind);
  expect(wordsOf(delta.parts)).toEqual(['one ']);
  second.open();
  // What came meanwhile: more of the draft, or the word that it is a message now, and then what was drafted next.
  const later: DraftEvent[] = [];
  const again = await following(conversation, delta.cursor);
  for await (const event of again) {
    later.push(event);
    if (event.kind === 'delta' && wordsOf(event.parts).join('').endsWith('three')) third.open();
  }
  expect(later.at(-2)?.kind).toBe('delta');
  expect(later.at(-1)).toMatchObject({ kind: 'end', state: 'completed' });
  expect(later.some(({ kind }) => kind === 'restart')).toBe(true);
  await running;
  await events.return(undefined);
  expect(await said(conversation)).toEqual(['user: a question', 'assistant: one two']);
  expect(await conversation.reconnect()).toBeNull();
});

test('a draft is bounded, says so, and costs the message nothing', async () => {
  const { conversation } = opened();
  const long = 'x'.repeat(LIMITS.draftBytes);
  const told = gate();
  const running = conversation.run(
    ASKED,
    async (turn) => {
      await turn.model('plan', async function* () {
        yield text(long);
        await told.passed;
        yield text('!');
      });
    },
    KEY,
  );
  await conversation.watch({ after: 1 }).next();
  const events = await following(conversation);
  expect((await next(events)).kind).toBe('truncated');
  told.open();
  await running;
  await events.return(undefined);
  expect((await said(conversation))[1]).toBe(`assistant: ${long}!`);
});

test('a stop from anywhere cancels the turn at once, keeps what was drafted, and is told to its owner', async () => {
  const { conversation } = opened();
  const drafted = gate();
  const running = conversation.run(
    ASKED,
    async (turn) => {
      await turn.model('plan', async function* () {
        yield text('half an answer');
        drafted.open();
        await new Promise(() => undefined); // a model that hears no signal
      });
    },
    KEY,
  );
  await drafted.passed;
  const events = await following(conversation);
  const delta = await next(events);
  const stopped = await conversation.stop(delta.turnId, 'enough');
  expect(stopped.state).toBe('cancelled');
  expect(await running).toMatchObject({ state: 'cancelled', receipt: { version: stopped.receipt.version } });
  expect(await next(events)).toMatchObject({ kind: 'end', state: 'cancelled' });
  expect(await said(conversation)).toEqual(['user: a question', 'assistant (incomplete): half an answer']);
  expect(await conversation.stop(delta.turnId, 'again')).toMatchObject({ receipt: { replayed: true } });
});

test('a reader that gives up is let go before it looks again', async () => {
  const { conversation } = opened();
  await conversation.submit(ASKED);
  const reader = new AbortController();
  const events = await conversation.reconnect({ everyMs: LIMITS.ttlMs, signal: reader.signal });
  const nothing = events?.next();
  await new Promise<void>((resolve) => setImmediate(resolve));
  reader.abort();
  expect(await nothing).toMatchObject({ done: true });
});

test('a reader is told once that a draft is at its limit, and anew by another attempt that begins again', async () => {
  const { ledger, conversation } = opened();
  const { turnId } = await conversation.submit(ASKED);
  await conversation.commit([
    { kind: 'turn.advance', turnId, to: 'running' },
    { kind: 'attempt.start', attempt: 'one', turnId },
  ]);
  const drafts = async (token: number, truncated: boolean, ...words: readonly string[]) => {
    const deltas = words.map((one, at) => ({ seq: at + 1, parts: [text(one)] }));
    const draft = { epoch: token, seq: words.length, committed: 0, deltas, truncated };
    const place = { namespace: 'n', conversationId: 'c', key: `draft ${token} ${turnId}` };
    await ledger.backend.scratch.put(place, JSON.stringify(draft));
  };
  const events = await conversation.reconnect({ everyMs: 1 });
  if (!events) throw new Error('the turn is at work');
  const told = async () => {
    const event = await next(events);
    return event.kind === 'delta' ? wordsOf(event.parts).join('') : event.kind;
  };
  await drafts(1, true, 'one');
  expect([await told(), await told()]).toEqual(['one', 'truncated']);
  await drafts(1, true, 'one', 'two');
  expect(await told()).toBe('two');
  await drafts(2, false, 'anew');
  await conversation.commit([{ kind: 'attempt.takeover', attempt: 'two', turnId, fromToken: 1 }]);
  expect([await told(), await told()]).toEqual(['restart', 'anew']);
  await conversation.stop(turnId, 'enough');
  expect(await told()).toBe('end');
});
