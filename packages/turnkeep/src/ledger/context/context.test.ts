import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import type { NewMessage, Part } from '../../core/message.ts';
import { openaiResponses } from '../../formats/index.ts';
import type { Conversation } from '../conversation.ts';
import type { Ledger } from '../ledger.ts';
import { openLedger } from '../open.ts';
import type { ContextPolicy, ReadyContext, SummaryRequired } from './index.ts';

const counter = { count: (text: string) => text.length };
const wide: ContextPolicy = { format: 'openai-chat', budgetTokens: 100_000, counter };

let ledger: Ledger;
let count = 0;
beforeAll(async () => {
  ledger = await openLedger('memory:');
});
afterAll(async () => ledger.close());

function fresh(): Conversation {
  count += 1;
  return ledger.namespace('n').conversation(`c${count}`);
}

const text = (words: string): Part => ({ type: 'text', text: words });
const user = (words: string): NewMessage => ({ role: 'user', parts: [text(words)] });
const answer = (words: string): NewMessage => ({ role: 'assistant', parts: [text(words)] });
const calls = (...ids: readonly string[]): NewMessage => ({
  role: 'assistant',
  parts: ids.map((callId) => ({ type: 'tool_call', callId, name: 'look', input: {} })),
});
const result = (callId: string, output: string): NewMessage => ({
  role: 'tool',
  parts: [{ type: 'tool_result', callId, status: 'ok', output }],
});

async function say(conversation: Conversation, turnId: string, ...messages: readonly NewMessage[]): Promise<void> {
  const named = messages.map((message, at) => ({ ...message, messageId: `${turnId}.${at}` }));
  await conversation.record({ turnId, origin: 'told', messages: named });
}

async function ready(conversation: Conversation, policy: ContextPolicy): Promise<ReadyContext> {
  const found = await conversation.context(policy);
  if (found.status !== 'ready') throw new Error('a summary is asked for');
  return found;
}

async function asked(conversation: Conversation, policy: ContextPolicy): Promise<SummaryRequired> {
  const found = await conversation.context({ ...policy, whenFull: 'summarize' });
  if (found.status !== 'summary_required') throw new Error('no summary is asked for');
  return found;
}

async function summarize(conversation: Conversation, turn: string, upTo: string, words: string): Promise<void> {
  const { messages } = await conversation.window(1, { leaf: turn });
  const lastSequence = messages[0]?.sequence ?? 0;
  await conversation.commitSummary({ upTo, text: words }, { expect: { transcript: { turn, lastSequence } } });
}

/** The messages of a chat request, one line each. */
function lines({ request }: ReadyContext): readonly string[] {
  const messages = request['messages'] as readonly { readonly [key: string]: unknown }[];
  return messages.map(({ role, content, tool_calls, tool_call_id }) => {
    const ids = ((tool_calls ?? []) as readonly { readonly id: string }[]).map(({ id }) => id);
    return [role, tool_call_id, wordsOf(content), ...ids]
      .filter((one) => one !== undefined)
      .map(String)
      .join(' ');
  });
}

function wordsOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return content as string | undefined;
  return content.map((block: { readonly text?: string }) => block.text).join('\n');
}

describe('the order of a context', () => {
  test('instructions, transcript, state, commitments, constraints, decisions, memories', async () => {
    const chat = fresh();
    await say(chat, 't1', user('Hello'), answer('Hi'));
    await chat.updateState({
      objective: 'ship',
      stage: 'build',
      nextStep: 'test',
      blockers: ['CI'],
      plan: ['a', { b: 1 }],
    });
    await chat.commitments.add({ content: 'write tomorrow' });
    await chat.commitments.add({ content: 'constraint: no cloud' });
    await chat.commitments.add({ content: 'decision: use SQLite' });
    await chat.commitments.add({ content: 'decision: use Node' });
    await chat.commitments.resolve({ matching: 'constraint:' });
    await chat.commitments.resolve({ matching: 'decision:' });
    const memories = {
      found: [
        { memoryId: 'm1', text: 'likes tea' },
        { memoryId: 'm2', text: 'two' },
      ],
      limit: 1,
    };
    const found = await ready(chat, {
      ...wide,
      instructions: 'Be kind.',
      tools: [{ name: 'look' }],
      memories,
      decisions: 1,
    });
    expect(lines(found)).toEqual([
      'system Be kind.',
      'user Hello',
      'assistant Hi',
      [
        'user <notes>',
        'Working state:',
        '- objective: ship',
        '- stage: build',
        '- next step: test',
        '- blocker: CI',
        '- plan: a',
        '- plan: {"b":1}',
        'Open commitments:',
        '- write tomorrow',
        'Constraints:',
        '- constraint: no cloud',
        'Decisions:',
        '- decision: use Node',
        'Memories:',
        '- likes tea',
        '</notes>',
      ].join('\n'),
    ]);
    expect(found.report.leftOut).toMatchObject([
      { what: 'decision', why: 'limit' },
      { what: 'memory', id: 'm2', why: 'limit' },
    ]);
    expect(found.cacheBreakpoints).toEqual([0, 2]);
    expect(found.transcript).toEqual({ turn: 't1', lastSequence: 2 });
    expect(found.request['tools']).toEqual([{ name: 'look' }]);
  });

  test('the same conversation and policy answer the same', async () => {
    const chat = fresh();
    for (let at = 0; at < 20; at++) await say(chat, `t${at}`, user(`q${at}`), answer(`a${at}`));
    const policy: ContextPolicy = { ...wide, budgetTokens: 400 };
    expect(await chat.context(policy)).toEqual(await chat.context(policy));
  });

  test('what is left out is told: messages before the start, hidden and redacted ones, notes beyond their room', async () => {
    const chat = fresh();
    for (let at = 0; at < 6; at++) await say(chat, `t${at}`, user(`question ${at}`), answer(`answer ${at}`));
    await say(chat, 'hidden', { ...answer('only for people'), visibility: 'user' }, user('words'), user('last'));
    await chat.redact('hidden.1', { reason: 'privacy' });
    await chat.updateState({ objective: 'x'.repeat(500) });
    const { report } = await ready(chat, { ...wide, window: 5, notesTokens: 100 });
    expect(report.leftOut).toEqual([
      { what: 'messages_before', messageId: 't5.0', why: 'window' },
      { what: 'message', messageId: 'hidden.0', why: 'not_for_models' },
      { what: 'message', messageId: 'hidden.1', why: 'redacted' },
      { what: 'state', id: 'objective', why: 'budget' },
    ]);
    expect([report.start, report.shown]).toEqual(['t5.0', 5]);
  });
});

describe('what comes from outside the path', () => {
  test('memories are searched by the last words of the user, or by a query', async () => {
    const chat = fresh();
    await say(chat, 't1', user('hello'), answer('hi'), user('Which tea do I like?'));
    await chat.memories.create({ memoryId: `tea-${count}`, text: `The user likes green tea number ${count}` });
    await chat.memories.create({ memoryId: `dog-${count}`, text: `The dog of number ${count} is called Rex` });
    const found = lines(await ready(chat, { ...wide, memories: { limit: 1 } }));
    expect(found.at(-1)).toContain('likes green tea');
    const asked = lines(await ready(chat, { ...wide, memories: { query: 'dog', limit: 1 } }));
    expect(asked.at(-1)).toContain('is called Rex');
    expect(lines(await ready(chat, wide)).at(-1)).toBe('user Which tea do I like?');
  });

  test('an attachment is shown where its URL is told, once for each, and named where it is not', async () => {
    const chat = fresh();
    const { digest } = await ledger.namespace('n').attachments.put(new TextEncoder().encode('cat'));
    const cat: Part = { type: 'file', mediaType: 'image/png', name: 'cat.png', source: { attachment: digest } };
    await say(chat, 't1', { role: 'user', parts: [cat] }, answer('nice'), {
      role: 'user',
      parts: [text('again'), cat],
    });
    const asked: string[] = [];
    const attachmentUrl = async (one: string) => {
      asked.push(one);
      return 'https://files.example/cat';
    };
    const shown = await ready(chat, { ...wide, attachmentUrl });
    expect(shown.request['messages']).toMatchObject([
      { content: [{ type: 'image_url', image_url: { url: 'https://files.example/cat' } }] },
      { content: 'nice' },
      { content: [{ text: 'again' }, { type: 'image_url' }] },
    ]);
    expect(asked).toEqual([digest]);
    const named = await ready(chat, wide);
    expect(lines(named)[0]).toBe('user [file cat.png (image/png) is not shown]');
    expect(named.report.leftOut).toContainEqual({ what: 'part', messageId: 't1.0', part: 'file', why: 'stand_in' });
  });
});

describe('calls and results', () => {
  test('results follow their calls at once, in the calls’ order; the transcript keeps its own', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), calls('a', 'b'), result('b', '2'), result('a', '1'), answer('done'));
    expect(lines(await ready(chat, wide))).toEqual([
      'user q',
      'assistant a b',
      'tool a 1',
      'tool b 2',
      'assistant done',
    ]);
    const { messages } = await chat.window(10);
    expect(messages.map((message) => message.messageId)).toEqual(['t1.0', 't1.1', 't1.2', 't1.3', 't1.4']);
  });

  test('a call without a result gets one that says so, in the request alone', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), calls('a'), user('stop'));
    const found = await ready(chat, wide);
    expect(lines(found)).toEqual(['user q', 'assistant a', 'tool a [no result]', 'user stop']);
    expect(found.report.repairs).toEqual([{ what: 'missing_result', messageId: 't1.1', callId: 'a' }]);
    expect((await chat.window(10)).messages).toHaveLength(3);
  });

  test('a call that only its own kind of result answers is left out while it has none', async () => {
    const chat = fresh();
    const natives = [
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'select 1' },
      { type: 'shell_call', call_id: 's', action: { commands: ['ls'] } },
    ];
    await say(chat, 't1', user('q'), ...openaiResponses.parse(natives));
    const found = await ready(chat, { ...wide, format: 'openai-responses' });
    expect(found.request['input']).toEqual([
      { role: 'user', content: 'q' },
      natives[0],
      { type: 'custom_tool_call_output', call_id: 'c', output: '[no result]' },
    ]);
    expect(found.report.leftOut).toEqual([{ what: 'part', messageId: 't1.2', part: 'tool_call', why: 'private' }]);
  });

  test('a call that a provider ran has its result beside it, wherever that came; without one it is left out', async () => {
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    const search = (own: boolean): Part => {
      const call = { type: 'tool_call', callId: 's', name: 'web_search', input: {}, executedBy: 'provider' } as const;
      return own ? { ...call, providerMetadata: { anthropic: { as: 'server_tool_use' } } } : call;
    };
    const searched = (own: boolean, role: 'assistant' | 'tool'): NewMessage => {
      const told = { type: 'tool_result', callId: 's', status: 'ok', output: [] } as const;
      return { role, parts: [own ? { ...told, providerMetadata: { anthropic: { as: found.type } } } : told] };
    };
    for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const) {
      for (const own of [true, false]) {
        const ask: NewMessage = { role: 'assistant', parts: [text('so'), search(own)] };
        const use = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
        const block = { type: 'tool_use', id: 's', name: 'web_search', input: {} };
        for (const between of [[], [user('go on')]]) {
          for (const role of ['assistant', 'tool'] as const) {
            const chat = fresh();
            await say(chat, 't1', user('q'), ask, ...between, searched(own, role), user('well'));
            const { request } = await ready(chat, { ...wide, format });
            const told = JSON.stringify(request);
            expect(told).not.toContain(JSON.stringify(block));
            const isSaid = format === 'anthropic' && own;
            expect(told.includes(`${JSON.stringify(use)},${JSON.stringify(found)}`)).toBe(isSaid);
            expect(/"s"/.test(told)).toBe(isSaid);
          }
        }
        const cut = fresh();
        await say(cut, 't1', user('q'), ask, user('well'));
        const { request, report } = await ready(cut, { ...wide, format });
        expect(JSON.stringify(request)).not.toMatch(/"s"/);
        expect(report.leftOut).toEqual([{ what: 'part', messageId: 't1.1', part: 'tool_call', why: 'private' }]);
      }
    }
    const paused = fresh();
    await say(paused, 't1', user('q'), { role: 'assistant', parts: [search(true)] });
    const { request } = await ready(paused, { ...wide, format: 'anthropic' });
    expect(JSON.stringify(request)).toContain('"server_tool_use"');
    for (const last of [
      [calls('a'), { role: 'assistant', parts: [search(true)] }],
      [{ role: 'assistant', parts: [...calls('a').parts, search(true)] }],
      [{ role: 'assistant', parts: [search(true), ...calls('a').parts] }],
    ] satisfies readonly (readonly NewMessage[])[]) {
      const beside = fresh();
      await say(beside, 't1', user('q'), ...last);
      const found = await ready(beside, { ...wide, format: 'anthropic' });
      expect(JSON.stringify(found.request)).not.toContain('"server_tool_use"');
    }
  });

  test('a request to Anthropic begins with the user’s side, whatever at its start says nothing there', async () => {
    const chat = fresh();
    await say(
      chat,
      't1',
      { role: 'user', parts: [{ type: 'opaque', kind: 'elsewhere.note', value: {} }] },
      answer('a'),
    );
    const { request } = await ready(chat, { ...wide, format: 'anthropic' });
    expect(request['messages']).toEqual([
      { role: 'user', content: '[The conversation begins.]' },
      { role: 'assistant', content: 'a' },
    ]);
  });

  test('reasoning that led to nothing more than reasoning is left out, all of it', async () => {
    for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const) {
      const chat = fresh();
      const thought: NewMessage = { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm' }] };
      await say(chat, 't1', user('q'), thought, thought, thought, user('and?'));
      const { request } = await ready(chat, { ...wide, format });
      expect(JSON.stringify(request)).not.toContain('assistant');
    }
  });

  test('an id that is too long is cut between characters', async () => {
    for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const) {
      for (const start of [55, 63]) {
        const callId = `${'a'.repeat(start)}\u{1f600}${'b'.repeat(9)}`;
        const chat = fresh();
        await say(chat, 't1', user('q'), calls(callId), result(callId, '1'));
        await say(chat, 't2', user('q'), calls(callId), result(callId, '2'));
        expect(JSON.stringify((await ready(chat, { ...wide, format })).request)).not.toMatch(/\\ud[89ab]/i);
      }
    }
  });

  test('reasoning that led to nothing is left out, and reasoning that led on stays', async () => {
    const chat = fresh();
    const thought: NewMessage = { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm', signature: 's' }] };
    await say(chat, 't1', user('q'), thought, user('and?'), thought, answer('so'), user('well'));
    const found = await ready(chat, { ...wide, format: 'anthropic' });
    expect(found.request['messages']).toMatchObject([
      { role: 'user', content: [{ text: 'q' }, { text: 'and?' }] },
      { role: 'assistant', content: [{ type: 'thinking' }, { text: 'so' }] },
      { role: 'user', content: 'well' },
    ]);
    expect(found.report.leftOut).toEqual([{ what: 'part', messageId: 't1.1', part: 'reasoning', why: 'private' }]);
  });

  test('a result whose call is not for models is told in words', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), { ...calls('a'), visibility: 'user' }, result('a', 'found'));
    const found = await ready(chat, wide);
    expect(lines(found)).toEqual(['user q', 'user [Result, call a, ok]\nfound']);
    expect(found.report.repairs).toEqual([{ what: 'orphan_result', messageId: 't1.2', callId: 'a' }]);
  });

  test('ids that stand twice are told apart', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), calls('a'), result('a', '1'));
    await say(chat, 't2', user('q'), calls('a'), result('a', '2'));
    expect(lines(await ready(chat, wide))).toEqual([
      'user q',
      'assistant a',
      'tool a 1',
      'user q',
      'assistant a-2',
      'tool a-2 2',
    ]);
  });

  test('a group is never split: the start stands before it, or behind it', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), calls('a', 'b'), result('b', '2'), result('a', '1'), answer('done'));
    for (const window of [1, 2, 3, 4, 5]) {
      const { report } = await ready(chat, { ...wide, window });
      expect(report.start).toBe(['t1.4', 't1.4', 't1.4', 't1.1', 't1.0'][window - 1]);
    }
    const open = fresh();
    await say(open, 't1', user('q'), calls('a', 'b'), result('b', '2'), result('a', '1'));
    await expect(open.context({ ...wide, window: 2 })).rejects.toMatchObject({
      code: 'group_too_large',
      details: { count: 3 },
    });
  });

  test('a group that is longer than one step of reading is read whole', async () => {
    const chat = fresh();
    const notes = Array.from({ length: 90 }, (_none, at) => user(`note ${at}`));
    await say(chat, 't1', user('q'), calls('a'), ...notes, result('a', '1'), answer('done'));
    const found = await ready(chat, { ...wide, window: 93 });
    expect(found.report.start).toBe('t1.1');
    expect(lines(found).slice(1, 3)).toEqual(['assistant a', 'tool a 1']);
  });
});

describe('branches', () => {
  test('nothing of a sibling enters', async () => {
    const chat = fresh();
    await say(chat, 't1', user('root'), answer('ok'));
    await say(chat, 't2', user('sibling'), answer('secret'));
    await chat.updateState({ objective: 'of the sibling' });
    await chat.commitments.add({ content: 'promised by the sibling' });
    await summarize(chat, 't2', 't1.1', 'summary of the sibling');
    const { graphRevision } = await chat.info();
    await chat.record(
      { turnId: 't3', origin: 'told', parent: { turnId: 't1' }, messages: [user('mine')] },
      { expect: { graphRevision } },
    );
    expect(lines(await ready(chat, wide))).toEqual(['user root', 'assistant ok', 'user mine']);
    const back = lines(await ready(chat, { ...wide, leaf: 't2' }));
    expect(back[0]).toBe('user [Summary of the conversation so far]\nsummary of the sibling');
    expect(back.at(-1)).toContain('promised by the sibling');
  });

  test('a fork after a compaction starts with exactly its source’s context', async () => {
    const chat = fresh();
    await say(chat, 't1', user('old'), answer('old'));
    await summarize(chat, 't1', 't1.1', 'all that was');
    await say(chat, 't2', user('new'), answer('new'));
    const fork = await chat.fork('t2.1', { conversationId: `fork-${count}` });
    expect(lines(await ready(fork, wide))).toEqual(lines(await ready(chat, wide)));
    expect(lines(await ready(fork, wide))).toHaveLength(3);
  });
});

describe('summaries', () => {
  test('a result that came after the summary of its call is told in words', async () => {
    const chat = fresh();
    await say(chat, 't1', user('q'), calls('a', 'b'), result('a', '1'), answer('working on b'));
    await say(chat, 't2', user('more'), answer('yes'));
    await summarize(chat, 't2', 't2.0', 'looked up a and b');
    await chat.append({ ...result('b', 'found at last'), messageId: 'late' });
    const found = await ready(chat, wide);
    expect(lines(found)).toEqual([
      'user [Summary of the conversation so far]\nlooked up a and b',
      'user [Result, call b, ok]\nfound at last',
      'assistant yes',
    ]);
    expect(found.report.repairs).toEqual([{ what: 'late_result', messageId: 'late', callId: 'b' }]);
    await say(chat, 't3', user('and'), answer('so'));
    const next = await asked(chat, { ...wide, window: 1 });
    expect(next.messages.map((message) => message.messageId)).toEqual(['late', 't2.1', 't3.0']);
    await summarize(chat, 't3', next.upTo, 'and found b');
    expect(lines(await ready(chat, wide))).toEqual([
      'user [Summary of the conversation so far]\nand found b',
      'assistant so',
    ]);
  });

  test('a summary is asked for when not all fits, of whole groups from the oldest on', async () => {
    const chat = fresh();
    for (let at = 0; at < 10; at++)
      await say(chat, `t${at}`, user(`q${at}`), calls('a'), result('a', 'x'), answer(`a${at}`));
    const first = await asked(chat, { ...wide, window: 8, summaryMessages: 6 });
    expect(first.messages.map((message) => message.messageId)).toEqual(['t0.0', 't0.1', 't0.2', 't0.3', 't1.0']);
    expect(first).toMatchObject({
      previous: null,
      upTo: 't1.0',
      expect: { transcript: { turn: 't9', lastSequence: 40 } },
    });
  });

  test('summarize drives a summarizer until all fits; then nothing is left to do', async () => {
    const chat = fresh();
    for (let at = 0; at < 30; at++) await say(chat, `t${at}`, user(`q${at}`), answer(`a${at}`));
    const asks: SummaryRequired[] = [];
    const summarizer = async (ask: SummaryRequired) => {
      asks.push(ask);
      return `${ask.previous?.text ?? ''}${ask.messages.length},`;
    };
    const found = await chat.summarize({ ...wide, window: 12, summaryMessages: 20 }, summarizer);
    expect(found.status).toBe('ready');
    expect(asks.map((ask) => ask.messages.length)).toEqual([20, 20, 14]);
    expect(await chat.summary()).toMatchObject({ text: '20,20,14,', upTo: 't26.1' });
    await chat.summarize({ ...wide, window: 12, summaryMessages: 20 }, summarizer);
    expect(asks).toHaveLength(3);
    expect((await chat.page({ limit: 100 })).messages).toHaveLength(60);
  });

  test('the passes have a limit, and the answer is what it is then', async () => {
    const chat = fresh();
    for (let at = 0; at < 30; at++) await say(chat, `t${at}`, user(`q${at}`), answer(`a${at}`));
    const policy: ContextPolicy = { ...wide, window: 4, summaryMessages: 4 };
    const found = await chat.summarize(policy, async () => 'short', { passes: 2 });
    expect(found).toMatchObject({ status: 'summary_required', previous: { text: 'short', upTo: 't3.1' } });
    await expect(chat.summarize(policy, async () => 'short', { passes: 0 })).rejects.toMatchObject({
      code: 'invalid_value',
    });
  });

  test('a blank summary and one without end are refused, and change nothing', async () => {
    const chat = fresh();
    for (let at = 0; at < 10; at++) await say(chat, `t${at}`, user(`q${at}`), answer(`a${at}`));
    const policy: ContextPolicy = { ...wide, budgetTokens: 500, window: 4 };
    await expect(chat.summarize(policy, async () => '  \n')).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(chat.summarize(policy, async () => 'long '.repeat(500))).rejects.toMatchObject({
      code: 'context_too_large',
      details: { what: 'summary' },
    });
    expect(await chat.summary()).toBeUndefined();
  });

  test('a summary that another writer forestalled is asked for anew', async () => {
    const chat = fresh();
    for (let at = 0; at < 10; at++) await say(chat, `t${at}`, user(`q${at}`), answer(`a${at}`));
    let asks = 0;
    const found = await chat.summarize({ ...wide, window: 6 }, async () => {
      asks += 1;
      if (asks === 1) await say(chat, 'meanwhile', user('and this'));
      return 'all that was';
    });
    expect([found.status, asks]).toEqual(['ready', 2]);
  });
});

describe('the budget', () => {
  test('a request fits at its limit and is refused one below', async () => {
    const chat = fresh();
    await say(chat, 't1', user('hello'));
    const { report } = await ready(chat, { ...wide, notesTokens: 0 });
    const opening = 'userrolecontent[Earlier messages of this conversation are left out.]'.length + 3;
    const least = report.tokens.total + opening;
    expect((await ready(chat, { ...wide, notesTokens: 0, budgetTokens: least })).report.shown).toBe(1);
    const error = await chat
      .context({ ...wide, notesTokens: 0, budgetTokens: least - 1 })
      .catch((thrown: unknown) => thrown);
    expect(isTurnkeepError(error, 'context_too_large') && error.details).toEqual({
      what: 'messages',
      budgetTokens: least - 1,
      neededTokens: least,
    });
  });

  test('tools, instructions and the reserved answer count', async () => {
    const chat = fresh();
    await say(chat, 't1', user('hello'));
    const policy: ContextPolicy = { ...wide, reserveOutputTokens: 40, instructions: 'kind', tools: [{ name: 'look' }] };
    const { tokens } = (await ready(chat, policy)).report;
    expect(tokens).toMatchObject({
      reserved: 40,
      instructions: 'rolesystemcontentkind'.length,
      tools: 'namelook'.length,
    });
    expect(tokens.total).toBe(
      40 + tokens.instructions + tokens.tools + tokens.summary + tokens.transcript + tokens.notes,
    );
    await expect(chat.context({ ...policy, budgetTokens: 60 })).rejects.toMatchObject({
      code: 'context_too_large',
      details: { what: 'instructions' },
    });
  });

  test('a file counts what the policy says, whatever its bytes are', async () => {
    const chat = fresh();
    const url = `data:image/png;base64,${'A'.repeat(50_000)}`;
    await say(chat, 't1', { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', source: { url } }] });
    const { tokens } = (await ready(chat, { ...wide, fileTokens: 700 })).report;
    expect(tokens.total).toBeGreaterThan(700);
    expect(tokens.total).toBeLessThan(900);
  });

  test('the tokenizer of its own counts words, special ones and endless runs', async () => {
    const chat = fresh();
    await say(
      chat,
      't1',
      user('<|endoftext|> Hello, world.'),
      user('a'.repeat(20_000)),
      user('今天天气很好'.repeat(2_000)),
    );
    const { tokens } = (await ready(chat, { format: 'anthropic', budgetTokens: 100_000 })).report;
    expect(tokens.total).toBeGreaterThan(2_000);
    expect(tokens.total).toBeLessThan(20_000);
  });

  test('a policy that says nothing sensible is refused with its place', async () => {
    const chat = fresh();
    await say(chat, 't1', user('hello'));
    const bad: readonly Partial<ContextPolicy>[] = [
      { budgetTokens: 0 },
      { budgetTokens: Number.NaN },
      { window: 0 },
      { batchTurns: 1.5 },
      { reserveOutputTokens: -1 },
      { format: 'ai-sdk-ui' as never },
      { whenFull: 'ask' as never },
      { tools: 1n as never },
    ];
    for (const fields of bad) {
      const [name] = Object.keys(fields);
      const error = await chat.context({ ...wide, ...fields }).catch((thrown: unknown) => thrown);
      expect(isTurnkeepError(error, 'invalid_value') && error.details.path).toBe(`policy.${name}`);
    }
  });

  test('an empty conversation has an empty context, and a conversation that is none has none', async () => {
    const chat = fresh();
    await expect(chat.context(wide)).rejects.toMatchObject({ code: 'conversation_not_found' });
    await chat.create();
    expect((await ready(chat, wide)).request).toEqual({ messages: [] });
  });
});
