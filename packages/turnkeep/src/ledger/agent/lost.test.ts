import { describe, expect, test } from 'vitest';
import { mintCommitId } from '../../platform/random.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { Access } from '../access.ts';
import { ConversationAccess } from '../conversation-access.ts';
import type { Conversation } from '../conversation.ts';
import { ASKED, opened, text } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Agent } from './turn-run.ts';

/**
 * What becomes of a run whose turn somebody else ended, and that learns it by a refusal: nothing tells it of commits here, as
 * where its own is on the way when the other comes first.
 */

const KEY = { idempotencyKey: 'turn-1' };

function deaf(): ReturnType<typeof opened> {
  const store = opened();
  store.ledger.backend.onCommit = () => () => undefined;
  return store;
}

const ends: readonly [string, (conversation: Conversation, turn: AgentTurn) => Promise<unknown>][] = [
  ['stopped', async (conversation, { turnId }) => conversation.stop(turnId, 'enough')],
  ['cancelled', async (conversation, { turnId }) => conversation.advance(turnId, 'cancelled')],
];

const rests: readonly [string, (turn: AgentTurn) => ReturnType<Agent>][] = [
  ['answers', async () => [{ role: 'assistant', parts: [text('here')] }]],
  ['completes it', async (turn) => void (await turn.complete())],
  ['fails', () => Promise.reject(new Error('broke'))],
  ['asks', async (turn) => void (await turn.interrupt({ interruptId: 'i', type: 'input', payload: null }))],
  ['begins a step', async (turn) => turn.step('s', async () => undefined)],
];

describe.each(ends)('a turn that was %s while its agent worked', (_ended, end) => {
  test.each(rests)('is told to be that where the agent then %s, and leaves nothing behind', async (_rest, rest) => {
    const { ledger, conversation } = deaf();
    const agent: Agent = async (turn) => {
      await end(conversation, turn);
      return rest(turn);
    };
    expect((await conversation.run(ASKED, agent, KEY)).state).toBe('cancelled');
    expect(await ledger.backend.scratch.list('n')).toEqual([]);
  });
});

test('an answer that came too late, since another attempt has the turn, is handed back', async () => {
  const { conversation } = deaf();
  const agent: Agent = async ({ turnId }) => {
    await conversation.commit([{ kind: 'attempt.takeover', attempt: 'other', turnId, fromToken: 1 }]);
    await conversation.advance(turnId, 'waiting', { fence: { attempt: 'other', token: 2 } });
    return [{ role: 'assistant', parts: [text('here')] }];
  };
  const answer = [{ role: 'assistant', parts: [text('here')] }];
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({
    code: 'not_completed',
    details: { reason: 'fenced', answer },
  });
});

test.each(['cancelled', 'failed'] as const)(
  'a sub-agent that hears of the turn above it by a refusal is cancelled where that was %s',
  async (to) => {
    const { ledger, space, conversation } = deaf();
    const { turnId } = await conversation.submit(ASKED);
    await conversation.advance(turnId, 'running');
    const child = await conversation.spawn({ turnId, conversationId: 'child' });
    const above = new ConversationAccess(new Access(ledger.backend, systemSurroundings, mintCommitId), 'n', 'c');
    const agent: Agent = async (turn) => {
      // What ends the turn above has not come to those below it yet.
      await above.write([{ kind: 'turn.advance', turnId, to }]);
      await turn.step('s', async () => undefined);
    };
    expect((await child.run(ASKED, agent, KEY)).state).toBe('cancelled');
    expect((await child.graph()).map(({ state }) => state)).toEqual(['cancelled']);
    const [run] = await runsOf(child);
    expect((await child.runRecord(run ?? ''))?.reason?.code).toBe('parent_ended');
    expect(await ledger.backend.scratch.list('n')).toEqual([]);
    // That of another is none of its own.
    const throws: Agent = async () => void (await child.submit(ASKED));
    await expect(space.conversation('other').run(ASKED, throws, KEY)).rejects.toMatchObject({ code: 'parent_ended' });
    expect((await space.conversation('other').graph()).map(({ state }) => state)).toEqual(['failed']);
  },
);

test('what a process that ended right after its turn left beside the log goes with the next collection', async () => {
  const { ledger, space, conversation } = opened();
  const { scratch } = ledger.backend;
  await conversation.run(ASKED, async () => [{ role: 'assistant', parts: [text('here')] }], KEY);
  const { turnId } = await conversation.submit(ASKED);
  await conversation.commit([
    { kind: 'turn.advance', turnId, to: 'running' },
    { kind: 'attempt.start', attempt: 'at work', turnId },
  ]);
  const ended = (await conversation.graph())[0]?.turnId ?? '';
  const attempt = await attemptOf(conversation);
  const kept = ['beat at work', 'beat of none', `draft 1 ${turnId}`, 'other'];
  for (const key of [...kept, `draft 1 ${ended}`, `beat ${attempt}`])
    await scratch.put({ namespace: 'n', conversationId: 'c', key }, '{}');
  await space.collect();
  expect((await scratch.list('n')).map(({ key }) => key).sort()).toEqual(kept.sort());
});

async function attemptOf(conversation: Conversation): Promise<string | undefined> {
  for await (const { events } of conversation.watch({ untilNow: true })) {
    for (const event of events) if (event.kind === 'attempt.start') return event.attempt;
  }
  return undefined;
}

async function runsOf(conversation: Conversation): Promise<readonly string[]> {
  const runs: string[] = [];
  for await (const { events } of conversation.watch({ untilNow: true })) {
    for (const event of events) if (event.kind === 'run.start') runs.push(event.runId);
  }
  return runs;
}

test('a turn whose conversation is erased is cut off, and its caller is told why', async () => {
  const { conversation } = opened();
  const reasons: unknown[] = [];
  const agent: Agent = async (turn) => {
    await conversation.erase();
    await new Promise<void>((resolve) => {
      turn.signal.addEventListener('abort', () => resolve());
    });
    reasons.push(turn.signal.reason);
    throw new Error('the request was cut off');
  };
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ code: 'erased' });
  expect(reasons).toMatchObject([{ code: 'erased' }]);
});
