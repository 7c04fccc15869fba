import { expect, test } from 'vitest';
import { text } from '../../core/changes.testkit.ts';
import { openLedger } from '../open.ts';
import type { ContextPolicy } from './index.ts';

const counter = { count: (words: string) => words.length };
const policy: ContextPolicy = { format: 'anthropic', budgetTokens: 10_000, counter };

async function opened() {
  const space = (await openLedger('memory:')).namespace('n');
  return { space, conversation: space.conversation('c') };
}

test('a policy that is none is refused with its path', async () => {
  const { conversation } = await opened();
  await conversation.append({ role: 'user', parts: text('x') });
  const wrong: readonly (readonly [path: string, policy: object | null])[] = [
    ['policy', null],
    ['policy.misspelt', { ...policy, misspelt: 1 }],
    ['policy.memories', { ...policy, memories: 5 }],
    ['policy.memories.misspelt', { ...policy, memories: { misspelt: 1 } }],
    ['policy.memories.query', { ...policy, memories: { query: null } }],
    ['policy.memories.embed', { ...policy, memories: { embed: 5 } }],
    ['policy.memories.found', { ...policy, memories: { found: {} } }],
    ['policy.memories.found', { ...policy, memories: { found: [null] } }],
    ['policy.memories.found', { ...policy, memories: { found: [{ memoryId: 'm' }] } }],
    ['policy.counter', { ...policy, counter: null }],
    ['policy.counter', { ...policy, counter: { count: 5 } }],
    ['policy.counter', { ...policy, counter: () => 1 }],
    ['policy.attachmentUrl', { ...policy, attachmentUrl: 'https://files' }],
    ['policy.leaf', { ...policy, leaf: Symbol('leaf') }],
  ];
  for (const [path, given] of wrong) {
    await expect(conversation.context(given as ContextPolicy)).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path },
    });
  }
  const none = null as never; // a caller without types may give anything
  const summarizer = async () => 'x';
  for (const [path, ask] of [
    ['policy', async () => conversation.summarize(none, summarizer)],
    ['summarizer', async () => conversation.summarize(policy, none)],
    ['options', async () => conversation.summarize(policy, summarizer, none)],
    ['options.misspelt', async () => conversation.summarize(policy, summarizer, { misspelt: 1 } as object)],
  ] as const) {
    await expect(ask()).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
  }
});

test('a counter that answers no count is named', async () => {
  const { conversation } = await opened();
  await conversation.append({ role: 'user', parts: text('x') });
  for (const tokens of [Number.NaN, -1, 1.5, '1', undefined, Promise.resolve(1)]) {
    const counting = conversation.context({ ...policy, counter: { count: () => tokens as number } });
    await expect(counting).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'policy.counter' } });
  }
});

test('an attachment that is found at what is no text is refused', async () => {
  const { space, conversation } = await opened();
  const { digest } = await space.attachments.put(new Uint8Array(1));
  await conversation.append({
    role: 'user',
    parts: [{ type: 'file', mediaType: 'image/png', source: { attachment: digest } }],
  });
  for (const url of [null, 5, {}]) {
    const asking = conversation.context({ ...policy, attachmentUrl: () => url as unknown as string });
    await expect(asking).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'policy.attachmentUrl' } });
  }
});

test('a summarizer that answers no text is named, and nothing is written', async () => {
  const { conversation } = await opened();
  for (let at = 0; at < 4; at++) {
    await conversation.record({ origin: 'told', messages: [{ role: 'user', parts: text('x'.repeat(400)) }] });
  }
  const { version } = await conversation.info();
  for (const words of [undefined, null, 5, { text: 'x' }]) {
    const asking = conversation.summarize({ ...policy, budgetTokens: 1_000 }, async () => words as unknown as string);
    await expect(asking).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'summarizer' } });
  }
  expect(await conversation.info()).toMatchObject({ version });
});

test('the question that was just submitted comes in with its turn as the leaf', async () => {
  const { conversation } = await opened();
  await conversation.record({ origin: 'told', messages: [{ role: 'user', parts: text('before') }] });
  const { turnId, messageId } = await conversation.submit({ prompt: text('Where is my parcel?') });
  expect(await conversation.context(policy)).toMatchObject({ report: { shown: 1 } });
  expect(await conversation.context({ ...policy, leaf: turnId })).toMatchObject({
    report: { shown: 2 },
    transcript: { turn: turnId },
  });
  expect((await conversation.window(1, { leaf: turnId })).messages).toMatchObject([{ messageId }]);
});

test('a caller who gives up is told so at once, though its summarizer never answers', async () => {
  const { conversation } = await opened();
  for (let at = 0; at < 8; at++) {
    await conversation.record({ origin: 'test', messages: [{ role: 'user', parts: text('x'.repeat(200)) }] });
  }
  const small = { ...policy, budgetTokens: 1_000 };
  const caller = new AbortController();
  const silent = async () => {
    caller.abort();
    return new Promise<never>(() => undefined);
  };
  const before = await conversation.info();
  await expect(conversation.summarize(small, silent, { signal: caller.signal })).rejects.toMatchObject({
    code: 'aborted',
  });
  expect(await conversation.info()).toEqual(before);
});
