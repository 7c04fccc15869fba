import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../core/json.ts';
import type { MessageContent } from '../core/message.ts';
import { newMessage } from '../core/shapes.ts';
import { FORMATS } from './index.ts';

/** Names and words that formats know, so that what is made looks like a message more often than not. */
const KEYS = [
  'role',
  'content',
  'type',
  'text',
  'id',
  'name',
  'parts',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'function',
  'arguments',
  'custom',
  'input',
  'image_url',
  'url',
  'input_audio',
  'data',
  'format',
  'file',
  'file_id',
  'file_data',
  'filename',
  'source',
  'media_type',
  'tool_use_id',
  'is_error',
  'thinking',
  'signature',
  'citations',
  'call_id',
  'output',
  'summary',
  'status',
  'phase',
  'encrypted_content',
  'toolCallId',
  'toolName',
  'value',
  'mediaType',
  'state',
  'errorText',
  'sourceId',
  'title',
  'metadata',
  'providerOptions',
  'detail',
  'annotations',
  '__proto__',
  'patch',
];
const WORDS = [
  'user',
  'assistant',
  'system',
  'developer',
  'tool',
  'function',
  'custom',
  'text',
  'image',
  'image_url',
  'input_audio',
  'file',
  'refusal',
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'shell_call',
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'thinking',
  'redacted_thinking',
  'document',
  'base64',
  'url',
  'tool-call',
  'tool-result',
  'tool-look',
  'dynamic-tool',
  'data-chart',
  'source-url',
  'json',
  'error-text',
  'execution-denied',
  'content',
  'output-available',
  'output-error',
  'input-available',
  'completed',
  'incomplete',
  'data:image/png;base64,AAAA',
  'https://a.example/x',
  '{"a":1}',
  '{"a": 1}',
  '',
  '\u0000',
  '\ud800',
  'c',
];

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(fc.constantFrom(...WORDS), fc.constantFrom(null, true, false, 0, 7)),
    fc.array(tie('json'), { maxLength: 3 }),
    objectOf(tie('json')),
  ),
}));

function objectOf(value: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const entries = fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 7, selector: ([key]) => key });
  return entries.map((pairs) => Object.fromEntries(pairs));
}

const roles = fc.constantFrom('user', 'assistant', 'tool', 'system');
/** Objects that are nothing, and such as have a role, a type and content. */
const native = fc.oneof(
  objectOf(json),
  fc
    .tuple(objectOf(json), roles, fc.oneof(json, fc.array(objectOf(json), { maxLength: 3 })))
    .map(([rest, role, content]) => {
      return { ...(rest as object), role, content, parts: content };
    }),
);

test.each(Object.values(FORMATS))('$name gives back whatever it reads, and what it reads can be stored', (format) => {
  fc.assert(
    fc.property(fc.array(native, { minLength: 1, maxLength: 4 }), (messages) => {
      const parsed = format.parse(messages);
      for (const one of parsed) expect(newMessage.safeParse(one).success).toBe(true);
      expect(format.render(parsed)).toEqual({ messages, leftOut: [] });
    }),
    { numRuns: 600 },
  );
});

test.each(Object.values(FORMATS))('what $name reads can be rendered for every other', (format) => {
  fc.assert(
    fc.property(fc.array(native, { maxLength: 3 }), (messages) => {
      const parsed = format.parse(messages);
      for (const other of Object.values(FORMATS)) {
        const { messages: rendered, leftOut } = other.render(parsed);
        expect(() => other.parse(rendered)).not.toThrow();
        for (const { message } of leftOut) expect(message).toBeLessThan(messages.length);
      }
    }),
    { numRuns: 150 },
  );
});

/** A part of each kind, whose every text is a word of its own: `w1`, `w2`, … where `W` stands. */
const part = fc.constantFrom<Json>(
  { type: 'text', text: 'W' },
  { type: 'text', text: 'W', citations: [{ type: 'url_citation', url: 'W' }] },
  { type: 'text', text: 'W', citations: [{ type: 'char_location', cited_text: 'W' }], phase: 'W' },
  { type: 'refusal', text: 'W' },
  { type: 'reasoning', text: 'W' },
  { type: 'reasoning', text: 'W', signature: 'signed' },
  { type: 'data', name: 'note', data: { x: 'W' } },
  { type: 'source', sourceId: 'W', url: 'https://example.test/W' },
  { type: 'file', mediaType: 'image/png', source: { url: 'https://example.test/W' } },
  ...['image/png', 'application/pdf', 'audio/wav'].flatMap((mediaType): Json[] => [
    { type: 'file', mediaType, name: 'W', source: { url: 'https://example.test/W' } },
    { type: 'file', mediaType, name: 'W', source: { url: `data:${mediaType};base64,AAAA` } },
    { type: 'file', mediaType, name: 'W', source: { providerFile: { openai: 'file-1', anthropic: 'file_1' } } },
  ]),
  { type: 'opaque', kind: 'anthropic.block', value: { type: 'x', v: 'W' } },
  { type: 'opaque', kind: 'ai-sdk.part', value: { type: 'x', v: 'W' } },
  { type: 'opaque', kind: 'openai-chat.part', value: { type: 'x', v: 'W' } },
  ...['c0', 'c1'].flatMap((callId) => [
    { type: 'tool_call', callId, name: 'W', input: { a: 'W' } },
    { type: 'tool_call', callId, name: 'W', inputText: 'no JSON W', executedBy: 'provider' },
    { type: 'tool_result', callId, status: 'ok', output: 'W' },
    { type: 'tool_result', callId, status: 'error', content: [{ type: 'text', text: 'W' }] },
    {
      type: 'tool_result',
      callId,
      status: 'ok',
      content: [
        { type: 'text', text: 'W', citations: ['W'] },
        { type: 'file', mediaType: 'image/png', name: 'W', source: { url: 'https://example.test/W' } },
      ],
    },
    { type: 'tool_result', callId, status: 'denied', output: { why: 'W' } },
    { type: 'tool_result', callId, status: 'denied', content: [{ type: 'text', text: 'W' }] },
  ]),
);
const message = fc.record({
  role: fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool'),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
});

test.each(Object.values(FORMATS))(
  '$name shows each word of our messages, or says that it leaves something out',
  (format) => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (drawn) => {
        let words = 0;
        const messages = JSON.parse(
          JSON.stringify(drawn).replace(/\bW\b/g, () => `w${words++}w`),
        ) as readonly MessageContent[];
        const { messages: rendered, leftOut } = format.render(messages);
        const shown = JSON.stringify(rendered);
        for (const [at, { parts }] of messages.entries()) {
          for (const one of parts) {
            const missing = (JSON.stringify(one).match(/w\d+w/g) ?? []).filter((word) => !shown.includes(word));
            // What is left out of a result that is shown with its call is told of the call's message.
            const isTold = leftOut.some((left) => left.message === at || one.type === 'tool_result');
            expect(isTold ? [] : missing).toEqual([]);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  },
);
