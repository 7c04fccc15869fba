import type { ContextPolicy, Conversation, JsonObject, ReadyContext } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, refused, user, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const counter = { count: (text: string) => text.length };
const policy: ContextPolicy = { format: 'openai-chat', budgetTokens: 10_000, counter };

async function told(conversation: Conversation, turns: number): Promise<void> {
  for (let at = 1; at <= turns; at++) {
    const messages = [
      user(`question ${at}`, { messageId: `q${at}` }),
      assistant(`answer ${at}`, { messageId: `a${at}` }),
    ];
    await conversation.record({ turnId: `t${at}`, origin: 'told', messages });
  }
}

async function ready(conversation: Conversation, asked: ContextPolicy): Promise<ReadyContext> {
  const found = await conversation.context(asked);
  if (found.status !== 'ready') throw new Error('a summary is asked for');
  return found;
}

function said({ request }: ReadyContext): readonly unknown[] {
  return (request['messages'] as readonly JsonObject[]).map((message) => message['content']);
}

describe.each(BACKENDS)('context, on %s', (backend) => {
  const store = storeFor(backend);

  test('a context is bounded by a window of messages', async () => {
    await told(store.conversation(), 20);
    await store.everywhere(async (conversation) => {
      const found = await ready(conversation, { ...policy, window: 4, batchTurns: 1 });
      expect(said(found)).toEqual([
        '[Earlier messages of this conversation are left out.]',
        'question 19',
        'answer 19',
        'question 20',
        'answer 20',
      ]);
    });
  });

  test('a context is bounded by a limit of memories', async () => {
    await told(store.conversation(), 1);
    const found = Array.from({ length: 5 }, (_none, at) => ({ memoryId: `m${at}`, text: `fact ${at}` }));
    await store.everywhere(async (conversation) => {
      const context = await ready(conversation, { ...policy, memories: { found, limit: 2 } });
      expect(said(context).at(-1)).toBe('<notes>\nMemories:\n- fact 0\n- fact 1\n</notes>');
      expect(context.report.leftOut.map((one) => one.why)).toEqual(['limit', 'limit', 'limit']);
    });
  });

  test('a summary may be required first, of a batch of messages; then the context is there', async () => {
    await told(store.conversation(), 20);
    const asking: ContextPolicy = { ...policy, window: 4, whenFull: 'summarize', summaryMessages: 36 };
    await store.everywhere(async (conversation) => {
      const asked = await conversation.context(asking);
      expect(asked).toMatchObject({ status: 'summary_required', previous: null, upTo: 'a18' });
    });
    const asked = await store.conversation().context(asking);
    if (asked.status !== 'summary_required') throw new Error('no summary is required');
    expect(asked.messages).toHaveLength(36);
    await store
      .conversation()
      .commitSummary({ upTo: asked.upTo, text: 'eighteen questions' }, { expect: asked.expect });
    await store.everywhere(async (conversation) => {
      const found = await ready(conversation, asking);
      expect(said(found)).toEqual([
        '[Summary of the conversation so far]\neighteen questions',
        'question 19',
        'answer 19',
        'question 20',
        'answer 20',
      ]);
      expect(await words(conversation)).toHaveLength(40);
    });
  });

  test('objective, stage, next step and blockers are the first stage of a context, then promises, constraints and decisions', async () => {
    const chat = store.conversation();
    await told(chat, 1);
    await chat.updateState({ objective: 'debug', stage: 'profiling', nextStep: 'measure', blockers: ['no access'] });
    for (const content of ['report tomorrow', 'constraint: read only', 'decision: use flame graphs']) {
      await chat.commitments.add({ content });
    }
    for (const matching of ['constraint:', 'decision:']) await chat.commitments.resolve({ matching });
    await store.everywhere(async (conversation) => {
      const notes = said(await ready(conversation, policy)).at(-1);
      expect(notes).toBe(
        [
          '<notes>',
          'Working state:',
          '- objective: debug',
          '- stage: profiling',
          '- next step: measure',
          '- blocker: no access',
          'Open commitments:',
          '- report tomorrow',
          'Constraints:',
          '- constraint: read only',
          'Decisions:',
          '- decision: use flame graphs',
          '</notes>',
        ].join('\n'),
      );
    });
  });

  test('a turn’s commit can say what its context was made from, and is told when that has changed', async () => {
    const chat = store.conversation();
    await told(chat, 2);
    const { transcript } = await ready(chat, policy);
    await chat.record({ turnId: 'other', origin: 'told', messages: [user('meanwhile')] });
    const expected = { leaf: transcript.turn, transcript };
    await refused(chat.commit([{ kind: 'state.update', stage: 'answered' }], { expect: expected }), 'conflict', {
      field: 'leaf',
      expected: 't2',
      actual: 'other',
    });
    const { transcript: now } = await ready(chat, policy);
    await chat.commit([{ kind: 'state.update', stage: 'answered' }], { expect: { leaf: now.turn, transcript: now } });
    expect(await chat.state()).toMatchObject({ stage: 'answered' });
  });
});
