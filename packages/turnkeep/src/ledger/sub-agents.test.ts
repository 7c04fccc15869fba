import { expect, test } from 'vitest';
import type { Envelope } from '../core/backend.ts';
import type { Receipt } from '../core/receipt.ts';
import { MemoryBackend } from '../memory/index.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { ASKED, opened } from './agent/agent.testkit.ts';
import type { Agent } from './agent/turn-run.ts';
import { TurnWaits } from './agent/turn-work.ts';
import type { Conversation } from './conversation.ts';
import type { OpenInterrupt } from './interrupts.ts';
import { openLedger } from './open.ts';

/** A turn at work with two sub-agents: one is asked, one waits for an answer behind its leaf and has a sub-agent of its own. */
async function family(submitted: 'preparing' | 'running') {
  const { conversation } = opened();
  await conversation.submit({ ...ASKED, turnId: 't1', operationId: 'op' });
  if (submitted === 'running') await conversation.advance('t1', 'running');
  const asked = await conversation.spawn({ turnId: 't1' });
  await asked.submit({ ...ASKED, turnId: 'u1' });
  const waits = await conversation.spawn({ turnId: 't1' });
  await waits.submit({ ...ASKED, turnId: 'v1' });
  await waits.advance('v1', 'running');
  const below = await waits.spawn({ turnId: 'v1' });
  await below.submit({ ...ASKED, turnId: 'w1' });
  await waits.advance('v1', 'completed');
  await waits.submit({ ...ASKED, turnId: 'v2' });
  await waits.advance('v2', 'running');
  await waits.commit([
    { kind: 'interrupt.request', interruptId: 'q1', turnId: 'v2', type: 'approval', payload: null },
    { kind: 'turn.advance', turnId: 'v2', to: 'waiting' },
  ]);
  const { graphRevision } = await waits.info();
  await waits.select('v1', { expect: { graphRevision } });
  return { conversation, asked, waits, below };
}

const states = async (conversation: Conversation) => (await conversation.graph()).map(({ state }) => state);

test.each<[string, 'preparing' | 'running', (conversation: Conversation) => Promise<unknown>]>([
  ['is cancelled', 'running', (conversation) => conversation.advance('t1', 'cancelled')],
  ['fails', 'running', (conversation) => conversation.advance('t1', 'failed')],
  ['is stopped', 'running', (conversation) => conversation.stop('t1', 'enough')],
  ['makes room for another', 'running', (conversation) => conversation.submit({ ...ASKED, whenBusy: 'interrupt' })],
  ['an operator fails', 'running', (conversation) => conversation.operator().fail('t1', { code: 'x', message: 'no' })],
  [
    'makes room for what an operator sends',
    'running',
    (conversation) => conversation.operator().send('Now this', { whenBusy: 'interrupt' }),
  ],
  [
    'never started, as its operation failed',
    'preparing',
    (conversation) => conversation.resolveOperation('op', { status: 'failed', code: 'refused', message: 'no' }),
  ],
])('what sub-agents have at work is cancelled with a turn that %s', async (_how, submitted, end) => {
  const { conversation, asked, waits, below } = await family(submitted);
  await end(conversation);
  expect(await states(asked)).toEqual(['cancelled']);
  expect(await states(waits)).toEqual(['completed', 'cancelled']);
  expect(await states(below)).toEqual(['cancelled']);
  expect(await waits.interrupts()).toEqual([]);
});

test('a turn waits with the sub-agents that ask, and goes on with their answers', async () => {
  const { conversation, space } = opened();
  const asks: Agent = async (turn) => {
    const answer = await turn.interrupt({ interruptId: turn.idFor('ask'), type: 'question', payload: null });
    return [{ role: 'assistant', parts: [{ type: 'text', text: JSON.stringify(answer) }] }];
  };
  const supervisor: Agent = async (turn) => {
    const said = ['a', 'b'].map(async (name) => {
      const child = await turn.conversation.spawn(
        { turnId: turn.turnId },
        { idempotencyKey: turn.idFor(`spawn ${name}`) },
      );
      const { state } = await child.run(ASKED, asks, { idempotencyKey: turn.idFor(`run ${name}`) });
      const [asked] = await child.interrupts();
      if (state === 'waiting' && asked) throw new TurnWaits(asked.interruptId);
      return (await child.window(1)).messages[0]?.parts ?? [];
    });
    await Promise.allSettled(said);
    return [{ role: 'assistant', parts: (await Promise.all(said)).flat() }];
  };

  const { turnId, state } = await conversation.run(ASKED, supervisor, { idempotencyKey: 'k' });
  expect(state).toBe('waiting');
  const open: OpenInterrupt[] = [];
  for await (const asked of space.interrupts()) open.push(asked);
  expect(open).toHaveLength(2);
  for (const [at, { interruptId, conversationId }] of open.entries()) {
    await space.answer(interruptId, { by: 'ann', response: `answer ${at}` });
    const { parent } = await space.conversation(conversationId).info();
    expect(parent).toMatchObject({ conversationId: conversation.id, turnId });
    const outcome = await conversation.resume(turnId, supervisor);
    expect(outcome.state).toBe(at === 0 ? 'waiting' : 'completed');
  }
  const { messages } = await conversation.window(1);
  const words = messages.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')));
  expect(words.sort()).toEqual(['"answer 0"', '"answer 1"']);
});

/** Whoever cancels a turn first gets no further than that: its commit to the sub-agent's conversation comes once it is let go. */
class HeldUp extends MemoryBackend {
  letGo: () => void = () => undefined;
  readonly #held = new Promise<void>((resolve) => {
    this.letGo = resolve;
  });
  #isFirst = true;

  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const [change] = envelope.commit.changes;
    const cancels = change?.kind === 'turn.advance' && envelope.commit.conversationId === 'below';
    if (cancels && this.#isFirst) {
      this.#isFirst = false;
      await this.#held;
    }
    return super.commit(envelope, signal);
  }
}

test('a run whose turn somebody stops who gets no further cancels its sub-agents itself', async () => {
  const backend = new HeldUp(systemSurroundings.sha256);
  const space = (await openLedger(backend)).namespace('n');
  const conversation = space.conversation('c');
  const ending: Promise<unknown>[] = [];
  const agent: Agent = async ({ turnId, signal }) => {
    const below = await conversation.spawn({ turnId, conversationId: 'below' });
    await below.submit(ASKED);
    ending.push(conversation.stop(turnId, 'enough'));
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  await conversation.run(ASKED, agent, { idempotencyKey: 'key' }).catch(() => undefined);
  expect(await states(space.conversation('below'))).toEqual(['cancelled']);
  backend.letGo();
  await Promise.all(ending);
});
