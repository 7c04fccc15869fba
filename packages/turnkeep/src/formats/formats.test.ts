import { describe, expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { MessageContent, ToolResultPart } from '../core/message.ts';
import { newMessage } from '../core/shapes.ts';
import { aiSdk, aiSdkUi, anthropic, FORMATS, openaiChat, openaiResponses } from './index.ts';
import type { RenderOptions } from './index.ts';

const call = (callId: string, input: object = { city: 'Oslo' }) =>
  ({ type: 'tool_call', callId, name: 'weather', input: input as { city: string } }) as const;
const result = (callId: string, output = 'sun') => ({ type: 'tool_result', callId, status: 'ok', output }) as const;

const DONE = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] }];

describe('what a format reads', () => {
  test('words become parts', () => {
    expect(openaiChat.parse([{ role: 'user', content: 'Hello' }])).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    ]);
    expect(
      anthropic.parse([{ role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 's' }] }]),
    ).toEqual([{ role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm', signature: 's' }] }]);
    expect(
      openaiResponses.parse([{ type: 'function_call', call_id: 'c', name: 'weather', arguments: '{"city":"Oslo"}' }]),
    ).toEqual([{ role: 'assistant', parts: [call('c')] }]);
  });

  test('arguments that do not come back from their value stay text', () => {
    const exact = '{"id":1234567890123456789}';
    const native = {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: exact } }],
    };
    const [message] = openaiChat.parse([native]);
    expect(message?.parts).toEqual([{ type: 'tool_call', callId: 'c', name: 'f', inputText: exact }]);
    expect(openaiChat.render([message as MessageContent]).messages).toEqual([native]);
  });

  test('fields and blocks of tomorrow survive', () => {
    const natives = {
      'openai-chat': {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi', mood: 'glad' },
          { type: 'smell', of: 'rain' },
        ],
        weight: 2,
      },
      'openai-responses': { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', urgency: { high: true } },
      anthropic: {
        role: 'user',
        content: [{ type: 'text', text: 'Hi', cache_control: null, hue: 1 }, { type: 'dream' }],
        since: 1,
      },
      'ai-sdk': {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Hi', tone: 'dry' },
          { type: 'hologram', at: [1] },
        ],
        x: null,
      },
      'ai-sdk-ui': {
        id: '',
        role: 'assistant',
        parts: [{ type: 'text', text: 'Hi', tone: 'dry' }, { type: 'hologram' }],
        x: null,
      },
    };
    for (const [name, native] of Object.entries(natives)) {
      const format = FORMATS[name as keyof typeof natives];
      expect(format.render(format.parse([native])).messages).toEqual([native]);
    }
  });

  test('a plain output of a call that has one of its own kind comes back plain', () => {
    const calls = [
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'select 1' },
      { type: 'shell_call', call_id: 's', action: { commands: ['ls'] } },
      { type: 'function_call', call_id: 'f', name: 'look', arguments: '{}' },
    ];
    const plain = ['c', 's', 'f'].map((call_id) => ({ type: 'function_call_output', call_id, output: 'done' }));
    const own = { type: 'custom_tool_call_output', call_id: 'c', output: 'done' };
    for (const natives of [
      [...calls, ...plain],
      [...plain, ...calls],
      [...calls, own],
    ]) {
      expect(openaiResponses.render(openaiResponses.parse(natives)).messages).toEqual(natives);
    }
    // What does not come from there is said as what its call takes.
    const said = openaiResponses.render([...openaiResponses.parse(calls.slice(0, 1)), ...anthropic.parse(DONE)]);
    expect(said.messages.at(-1)).toEqual(own);
  });

  test('citations, a phase and a file’s name are told where the other format has no place for them', () => {
    const image = {
      type: 'file',
      mediaType: 'image/png',
      name: 'cat.png',
      source: { url: 'https://a.example/c' },
    } as const;
    const pdf = { ...image, mediaType: 'application/pdf', name: 'cat.pdf' };
    const cited = {
      type: 'text',
      text: 'Sun',
      citations: [{ type: 'url_citation', url: 'u' }],
      phase: 'final',
    } as const;
    const told = (parts: MessageContent['parts'], role: 'user' | 'assistant') =>
      Object.values(FORMATS).map((format) => format.render([{ role, parts }]).leftOut.map(({ what }) => what));
    // In the order of FORMATS.
    expect(told([cited], 'assistant')).toEqual([
      ['citations', 'phase'],
      ['citations'],
      ['citations', 'phase'],
      ['citations', 'phase'],
      ['citations', 'phase'],
    ]);
    expect(told([image], 'user')).toEqual([['file.name'], ['file.name'], ['file.name'], [], []]);
    expect(told([pdf], 'user')).toEqual([['file'], [], [], [], []]);
  });

  test('that a result failed is told where the other format has its words alone', () => {
    const failed = (output?: string): MessageContent => ({
      role: 'tool',
      parts: [{ type: 'tool_result', callId: 'c', status: 'error', ...(output === undefined ? {} : { output }) }],
    });
    const told = (message: MessageContent) =>
      ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'].map(
        (name) => FORMATS[name as 'anthropic'].render([message]).leftOut.length,
      );
    expect(told(failed('no such city'))).toEqual([1, 1, 0, 0]);
    expect(told(failed())).toEqual([0, 0, 0, 0]);
  });

  test('a file of the AI SDK is a file however it is written: bare, or tagged as version 7 does', () => {
    const places = [
      'AAAA',
      'https://a.example/cat.png',
      { type: 'data', data: 'AAAA' },
      { type: 'url', url: 'https://a.example/cat.png' },
    ];
    for (const data of places) {
      const native = { role: 'user', content: [{ type: 'file', data, mediaType: 'image/png', filename: 'cat.png' }] };
      const [message] = aiSdk.parse([native]);
      expect(message?.parts).toMatchObject([{ type: 'file', mediaType: 'image/png', name: 'cat.png' }]);
      expect(aiSdk.render([message as MessageContent]).messages).toEqual([native]);
    }
  });

  test('messages without sense, hostile keys and repeated ids survive whole', () => {
    const hostile = [
      {},
      { role: 7, content: { not: 'a list' } },
      JSON.parse('{"role":"user","content":[{"type":"text","text":"a","__proto__":{"polluted":true}}]}') as object,
      { role: 'tool', tool_call_id: '', content: 'no id of ours' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'f', arguments: '' } },
          { id: 'c', type: 'function', function: { name: 'g', arguments: '' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c' },
          { type: 'tool_result', tool_use_id: 'c' },
        ],
      },
      { role: 'tool', tool_call_id: '\u0000', content: 'no id of ours either' },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'tool_use', id: '', name: 'f', input: {} }] },
        ],
      },
      // One block of the type that names a whole message.
      { role: 'user', content: [{ type: 'message' }], parts: [{ type: 'message' }] },
      { role: 'user', content: null, parts: null, type: 'function_call', call_id: '\u0000' },
    ];
    for (const format of Object.values(FORMATS)) {
      for (const native of hostile) {
        const parsed = format.parse([native]);
        expect(parsed.every((message) => newMessage.safeParse(message).success)).toBe(true);
        expect(format.render(parsed).messages).toEqual([native]);
      }
    }
  });

  test('what is no list of JSON objects is refused with its path', () => {
    const refusal = (value: unknown) => {
      try {
        return openaiChat.parse(value);
      } catch (error) {
        return isTurnkeepError(error, 'invalid_value') ? error.details.path : error;
      }
    };
    expect(refusal('text')).toBe('messages');
    expect(refusal([{ role: 'user' }, 'text'])).toBe('messages[1]');
    expect(refusal([{ role: 'user', content: 1n }])).toBe('messages[0].content');
  });
});

describe('orphan, parallel and reordered results', () => {
  const messages: readonly MessageContent[] = [
    { role: 'assistant', parts: [call('a'), call('b')] },
    { role: 'tool', parts: [result('b')] },
    { role: 'tool', parts: [result('a')] },
    { role: 'tool', parts: [result('z', 'nobody asked')] },
  ];

  test.each(Object.values(FORMATS).filter(({ name }) => name !== 'ai-sdk-ui'))(
    '$name keeps them as they stand',
    (format) => {
      const rendered = format.render(messages);
      expect(rendered.leftOut).toEqual([]);
      expect(format.render(format.parse(rendered.messages)).messages).toEqual(rendered.messages);
      const order = format
        .parse(rendered.messages)
        .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : [])));
      expect(order).toEqual(['b', 'a', 'z']);
    },
  );

  test('ai-sdk-ui shows a result with its call', () => {
    const { messages: shown } = aiSdkUi.render(messages);
    expect(shown[0]).toMatchObject({
      parts: [
        { type: 'dynamic-tool', toolCallId: 'a', state: 'output-available', output: 'sun' },
        { type: 'dynamic-tool', toolCallId: 'b', state: 'output-available', output: 'sun' },
      ],
    });
  });
});

describe('an id that comes again in a later turn', () => {
  const named = (name: string): MessageContent => ({
    role: 'assistant',
    parts: [{ type: 'tool_call', callId: 'call_0', name, input: { of: name } }],
  });
  const answered = (output: string): MessageContent => ({
    role: 'tool',
    parts: [{ type: 'tool_result', callId: 'call_0', status: 'ok', output }],
  });
  const again = answered('the same message');
  const messages = [named('one'), answered('first'), named('two'), again, named('three'), again, named('four')];

  test('ai-sdk-ui shows each result with its own call', () => {
    const { messages: shown, leftOut } = aiSdkUi.render(messages);
    const parts = shown.flatMap((message) => message['parts'] as readonly JsonObject[]);
    expect(parts.map(({ toolName, output }) => [toolName, output])).toEqual([
      ['one', 'first'],
      ['two', 'the same message'],
      ['three', 'the same message'],
      ['four', undefined],
    ]);
    expect(leftOut).toEqual([]);
  });

  test('ai-sdk names the tool of each result', () => {
    const results = FORMATS['ai-sdk'].render(messages).messages.filter(({ role }) => role === 'tool');
    const tools = results.flatMap(({ content }) => content as readonly JsonObject[]).map(({ toolName }) => toolName);
    expect(tools).toEqual(['one', 'two', 'three']);
  });

  test('ai-sdk-ui gives back a call that waits beside one of its id that is done', () => {
    const part = { type: 'tool-weather', toolCallId: 'call_0', input: {} };
    const waiting = { role: 'assistant', parts: [{ ...part, state: 'input-available' }] };
    const done = { role: 'assistant', parts: [{ ...part, state: 'output-available', output: 'sun' }] };
    for (const native of [
      [waiting, done],
      [done, waiting],
      [done, done],
    ])
      expect(aiSdkUi.render(aiSdkUi.parse(native))).toEqual({ messages: native, leftOut: [] });
  });

  test('a result too many is said in words', () => {
    const { messages: shown, leftOut } = aiSdkUi.render([named('one'), answered('first'), answered('second')]);
    expect(shown[0]).toMatchObject({ parts: [{ toolName: 'one', output: 'first' }] });
    expect(shown[1]).toMatchObject({ parts: [{ type: 'text', text: '[result of one: second]' }] });
    expect(leftOut).toEqual([{ message: 2, what: 'tool_result', why: 'stand_in' }]);
  });
});

describe('crossing from one provider to another', () => {
  test('only what is private is left out, and the rendering says what', () => {
    const messages = anthropic.parse([
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'x' } },
          { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] },
          { type: 'text', text: 'Hello' },
          { type: 'container_upload', file_id: 'f' },
        ],
      },
    ]);
    const { messages: rendered, leftOut } = openaiChat.render(messages);
    expect(rendered).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]);
    expect(leftOut.map(({ message, what, why }) => `${message} ${what} ${why}`)).toEqual([
      '0 text.providerMetadata private',
      '1 tool_call.providerMetadata private',
      '1 tool_result.providerMetadata private',
      '1 tool_result private',
      '1 reasoning private',
      '1 anthropic.container_upload private',
      '1 tool_call private',
    ]);
  });

  test('an error stays an error where a provider can say so, and words where it cannot', () => {
    const failed: MessageContent = {
      role: 'tool',
      parts: [{ ...result('c'), status: 'error', output: 'no such city' }],
    };
    const denied: MessageContent = { role: 'tool', parts: [{ type: 'tool_result', callId: 'd', status: 'denied' }] };
    expect(anthropic.render([failed, denied]).messages).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'no such city', is_error: true }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'd', content: '[denied]', is_error: true }] },
    ]);
    expect(openaiResponses.render([denied]).messages).toEqual([
      { type: 'function_call_output', call_id: 'd', output: '[denied]' },
    ]);
    expect(aiSdk.render([denied]).messages).toMatchObject([
      { role: 'tool', content: [{ output: { type: 'execution-denied' } }] },
    ]);
  });

  test('why a call was denied is told, and that it was', () => {
    const denied = {
      role: 'tool',
      parts: [{ ...result('d'), status: 'denied', output: 'too much' }],
    } satisfies MessageContent;
    const words = '[denied] too much';
    expect(anthropic.render([denied]).messages).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'd', content: words, is_error: true }] },
    ]);
    expect(openaiChat.render([denied]).messages).toEqual([{ role: 'tool', tool_call_id: 'd', content: words }]);
    expect(openaiResponses.render([denied]).messages).toEqual([
      { type: 'function_call_output', call_id: 'd', output: words },
    ]);
    const { messages } = aiSdk.render([denied]);
    expect(messages).toMatchObject([
      { role: 'tool', content: [{ output: { type: 'execution-denied', reason: 'too much' } }] },
    ]);
    expect(aiSdk.parse(messages)).toMatchObject([{ parts: [{ status: 'denied', output: 'too much' }] }]);
  });

  test('a screen shows why a call was denied, and what it shows is read as words', () => {
    const asked = { toolCallId: 'd', type: 'tool-look', input: {} };
    const approval = { id: 'p', approved: false, reason: 'too much' };
    const native = { id: 'm', role: 'assistant', parts: [{ ...asked, state: 'output-denied', approval }] };
    const read = aiSdkUi.parse([native]);
    expect(read).toMatchObject([{ parts: [{ type: 'tool_call' }, { status: 'denied', output: 'too much' }] }]);
    expect(aiSdkUi.render(read)).toEqual({ messages: [native], leftOut: [] });
    const { messages } = openaiResponses.render(read);
    expect(messages[1]).toEqual({ type: 'function_call_output', call_id: 'd', output: '[denied] too much' });
  });

  test('what was asked before a tool ran has its answer where the result is shown', () => {
    const shown = (approval: JsonObject | undefined, says: Pick<ToolResultPart, 'status' | 'output'>) => {
      const asked = { toolCallId: 'd', type: 'tool-look', input: {}, ...(approval ? { approval } : {}) };
      const state = approval ? 'approval-requested' : 'input-available';
      const read = aiSdkUi.parse([{ id: 'm', role: 'assistant', parts: [{ ...asked, state }] }]);
      const answer: MessageContent = { role: 'tool', parts: [{ type: 'tool_result', callId: 'd', ...says }] };
      const messages = aiSdkUi.render([...read, answer]).messages as readonly {
        readonly parts: readonly JsonObject[];
      }[];
      return messages[0]?.parts[0]?.['approval'];
    };
    expect(shown({ id: 'p' }, { status: 'ok', output: 1 })).toEqual({ id: 'p', approved: true });
    expect(shown({ id: 'p' }, { status: 'error', output: 'x' })).toEqual({ id: 'p', approved: true });
    expect(shown({ id: 'p' }, { status: 'denied', output: 'no' })).toEqual({ id: 'p', approved: false, reason: 'no' });
    expect(shown({ id: 'p' }, { status: 'denied' })).toEqual({ id: 'p', approved: false });
    expect(shown(undefined, { status: 'denied', output: 'no' })).toEqual({ id: 'd', approved: false, reason: 'no' });
    expect(shown(undefined, { status: 'ok', output: 1 })).toBeUndefined();
  });

  test('a file goes where it can, by its URL, its bytes or its name', () => {
    const file = {
      type: 'file',
      mediaType: 'image/png',
      name: 'cat.png',
      source: { attachment: 'a'.repeat(64) },
    } as const;
    const message: MessageContent = { role: 'user', parts: [file] };
    const attachmentUrl = () => 'data:image/png;base64,AAAA';
    expect(anthropic.render([message], { attachmentUrl }).messages).toEqual([
      { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }] },
    ]);
    const blind = openaiChat.render([message]);
    expect(blind.messages).toEqual([{ role: 'user', content: '[file cat.png (image/png) is not shown]' }]);
    expect(blind.leftOut).toEqual([{ message: 0, what: 'file', why: 'stand_in' }]);
  });

  test('every format says every part of ours, or that it left it out', () => {
    const parts: MessageContent['parts'] = [
      { type: 'text', text: 'words' },
      { type: 'reasoning', text: 'thought' },
      { type: 'refusal', text: 'no' },
      { type: 'source', sourceId: 's', url: 'https://a.example', title: 'A' },
      { type: 'data', name: 'chart', data: { points: [1] } },
      { type: 'opaque', kind: 'acme.thing', value: 1 },
      { type: 'file', mediaType: 'text/csv', source: { url: 'https://a.example/t.csv' } },
      call('c'),
    ];
    for (const format of Object.values(FORMATS)) {
      for (const [at, part] of parts.entries()) {
        const { messages, leftOut } = format.render([{ role: 'assistant', parts: [part] }]);
        expect(messages.length + leftOut.length, `${format.name} ${part.type} ${at}`).toBeGreaterThan(0);
      }
    }
  });
});

describe('what JavaScript would not say', () => {
  const crossed = (text: string) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: text } };
    const native = { role: 'assistant', tool_calls: [call] };
    const messages = openaiChat.parse([native]);
    expect(openaiChat.render(messages)).toEqual({ messages: [native], leftOut: [] });
    const { messages: other, leftOut } = anthropic.render(messages);
    const blocks = other[0]?.['content'] as readonly { readonly input: unknown }[] | undefined;
    return { input: blocks?.[0]?.input, told: leftOut.map(({ what, why }) => `${what} ${why}`) };
  };
  const TOLD = ['tool_call.inputText stand_in'];

  test.each<[string, unknown, readonly string[]]>([
    ['{"id":2512292042121000001}', { id: '2512292042121000001' }, TOLD],
    ['{"a":[1,{"n":1e400}]}', { a: [1, { n: '1e400' }] }, TOLD],
    ['{"__proto__":9007199254740993}', JSON.parse('{"__proto__":"9007199254740993"}'), TOLD],
    ['{"a":1,"a":2}', { a: 2 }, TOLD],
    ['{"a":1e400,"a":2}', { input: '{"a":1e400,"a":2}' }, TOLD],
    ['{"price":19.90, "n":-0}', { price: 19.9, n: -0 }, []],
    ['not JSON', { input: 'not JSON' }, []],
  ])('%s crosses as what it says, or is told', (text, input, told) => {
    expect(crossed(text)).toEqual({ input, told });
  });

  test('an input that nests without end crosses as text', () => {
    const text = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect(crossed(text)).toEqual({ input: { input: text }, told: TOLD });
  });
});

describe('what a caller without types may give', () => {
  const said = [{ type: 'text', text: 'x' }];
  const refused = (messages: unknown, options: unknown = {}): string => {
    const paths = Object.values(FORMATS).map((format) => {
      try {
        return JSON.stringify(format.render(messages as MessageContent[], options as RenderOptions));
      } catch (error) {
        return isTurnkeepError(error, 'invalid_value') ? error.details.path : String(error);
      }
    });
    expect(new Set(paths).size).toBe(1);
    return paths[0] ?? '';
  };

  test.each<[unknown, string]>([
    [undefined, 'messages'],
    ['x', 'messages'],
    [{}, 'messages'],
    [[null], 'messages[0]'],
    [[{ role: 'user' }], 'messages[0].parts'],
    [[{ role: 'user', parts: [null] }], 'messages[0].parts[0]'],
    [[{ role: 'owner', parts: said }], 'messages[0].role'],
    [[{ role: 'user', parts: [{ type: 'text' }] }], 'messages[0].parts[0].text'],
    [[{ role: 'user', parts: [{ type: 'file', mediaType: 'a/b' }] }], 'messages[0].parts[0].source'],
    [[{ role: 'user', parts: [{ type: 'opaque', kind: 'a.b', value: 5n }] }], 'messages[0].parts[0].value'],
    [[{ role: 'user', parts: said, metadata: { at: new Date(0) } }], 'messages[0].metadata.at'],
  ])('%# is no list of messages', (messages, path) => {
    expect(refused(messages)).toBe(path);
  });

  test.each<[unknown, string]>([
    [null, 'options'],
    [{ attachmentUrI: String }, 'options.attachmentUrI'],
    [{ attachmentUrl: 'https://a.example' }, 'options.attachmentUrl'],
    [{ attachmentUrl: () => 5 }, 'options.attachmentUrl'],
  ])('%# are no options', (options, path) => {
    const attachment = 'a'.repeat(64);
    expect(
      refused([{ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', source: { attachment } }] }], options),
    ).toBe(path);
  });

  test('an opaque part that only looks like a message of theirs is none', () => {
    const parts = [{ type: 'opaque' as const, kind: 'anthropic.message', value: 5 }];
    expect(anthropic.render([{ role: 'user', parts }])).toEqual({
      messages: [],
      leftOut: [{ message: 0, what: 'anthropic.message', why: 'private' }],
    });
  });

  test('what nests as deep as a value may comes back', () => {
    for (const depth of [150, 190, 197, 198]) {
      const value: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
      for (const native of [
        { role: 'user', content: value },
        { role: 'user', parts: value, content: 'x', y: value },
      ]) {
        for (const format of Object.values(FORMATS))
          expect(format.render(format.parse([native])).messages).toEqual([native]);
      }
    }
  });
});
