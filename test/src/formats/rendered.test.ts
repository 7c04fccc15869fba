import { expect, test } from 'vitest';
import type { Part } from 'turnkeep';
import { FORMATS } from 'turnkeep/formats';
import type { FormatName } from 'turnkeep/formats';
import { faultIn, publishedShapes } from './published-types.testkit.ts';

const MEDIA_TYPES = ['image/png', 'image/*', 'application/pdf', 'audio/wav', 'audio/mpeg', 'text/plain'];

const files = MEDIA_TYPES.flatMap((mediaType): Part[] => [
  { type: 'file', mediaType, source: { url: 'https://example.test/f' } },
  { type: 'file', mediaType, name: 'n', source: { url: `data:${mediaType};base64,AAAA` } },
  { type: 'file', mediaType, source: { providerFile: { openai: 'file-1' } } },
  { type: 'file', mediaType, source: { providerFile: { anthropic: 'file_1' } } },
  { type: 'file', mediaType, source: { attachment: 'a'.repeat(64) } },
]);

/** What a person or a system may say. */
const said: readonly Part[] = [
  { type: 'text', text: 't' },
  { type: 'text', text: '' },
  { type: 'refusal', text: 'no' },
  { type: 'data', name: 'note', data: { x: 1 } },
  { type: 'source', sourceId: 's', url: 'https://example.test/', title: 'T' },
  { type: 'source', sourceId: 's', url: 'https://example.test/' },
  { type: 'source', sourceId: 's', title: 'D', mediaType: 'application/pdf' },
  { type: 'source', sourceId: 's' },
  { type: 'opaque', kind: 'elsewhere.block', value: { a: 1 } },
  ...files,
];

const call = { type: 'tool_call', callId: 'c', name: 'look', input: { a: 1 } } as const;

const cited = {
  type: 'char_location',
  cited_text: 'x',
  document_index: 0,
  document_title: 'D',
  start_char_index: 0,
  end_char_index: 1,
};

/** What an assistant may say beside. */
const answered: readonly Part[] = [
  { type: 'text', text: 'c', citations: [{ type: 'url_citation', url: 'u', title: 'x' }] },
  { type: 'text', text: 'c', citations: [cited], phase: 'commentary' },
  { type: 'reasoning', text: 'r' },
  { type: 'reasoning', text: 'r', signature: 's' },
  { type: 'reasoning', text: '', signature: 'd', redacted: true },
  call,
  { type: 'tool_call', callId: 'c', name: 'look' },
  { type: 'tool_call', callId: 'c', name: 'look', input: [1] },
  { type: 'tool_call', callId: 'c', name: 'look', inputText: 'no JSON' },
  { ...call, executedBy: 'provider' },
];

const text: Part = { type: 'text', text: 'why' };
const results: readonly Part[] = (['ok', 'error', 'denied', 'interrupted'] as const).flatMap((status) =>
  [
    {},
    { output: 'w' },
    { output: '' },
    { output: { a: 1 } },
    { output: null },
    { content: [] },
    { content: [text] },
    ...[...files, ...said].map((part) => ({ content: [text, part] })),
  ].map((says) => ({ type: 'tool_result', callId: 'c', status, ...says }) as const),
);

const dialogues = [
  ...(['user', 'system', 'developer'] as const).flatMap((role) => said.map((part) => [{ role, parts: [part] }])),
  ...[...said, ...answered].map((part) => [{ role: 'assistant' as const, parts: [part] }]),
  ...results.flatMap((result) => [
    [
      { role: 'assistant' as const, parts: [call] },
      { role: 'tool' as const, parts: [result] },
    ],
    [{ role: 'assistant' as const, parts: [{ ...call, executedBy: 'provider' as const }, result] }],
  ]),
].map((messages) => messages.map((message, at) => ({ ...message, messageId: `m${at}` })));

const shapes = publishedShapes();

test.each(Object.keys(FORMATS) as FormatName[])('what %s makes of our messages is of its published type', (name) => {
  const shape = shapes.get(name);
  if (!shape) throw new Error(`no type is published of ${name}`);
  const faults = new Set<string>();
  for (const messages of dialogues) {
    for (const native of FORMATS[name].render(messages).messages) {
      const fault = faultIn(shape, native);
      if (fault !== undefined) faults.add(`${fault} in ${JSON.stringify(native)}`);
    }
  }
  expect([...faults]).toEqual([]);
});
