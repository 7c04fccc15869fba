import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { MessageContent } from '../core/message.ts';
import { Ledger } from '../ledger/ledger.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { sealParts } from './log/frame.ts';
import { opened, temporaryDirectory } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/**
 * What other tools' files of lines are found in, each kind twice: as the damage of a journal's own lines, and as words that
 * a journal keeps.
 */
const CONVERSATION = 'c';

function ledgerOver(backend: Awaited<ReturnType<typeof openJournal>>): Ledger {
  return new Ledger(backend, systemSurroundings, mintCommitId);
}

function segment(directory: string): string {
  return `${directory}/segments/0001.jsonl`;
}

/** A closed journal of messages, one a line, whose segment `change` rewrites. */
async function journalOf(texts: readonly string[], change: (bytes: Buffer) => Buffer): Promise<string> {
  const directory = temporaryDirectory();
  const backend = await openJournal(directory);
  const conversation = ledgerOver(backend).namespace('n').conversation(CONVERSATION);
  for (const [at, text] of texts.entries())
    await conversation.append({ messageId: `m${at + 1}`, role: 'user', parts: [{ type: 'text', text }] });
  await backend.close();
  writeFileSync(segment(directory), change(readFileSync(segment(directory))));
  return directory;
}

/** What each message of a store looks like, the kinds of its faults, and how many lines it has once one more is written. */
async function look(directory: string, messages: number) {
  const backend = await opened(directory);
  const conversation = ledgerOver(backend).namespace('n').conversation(CONVERSATION);
  const found: string[] = [];
  for (let at = 1; at <= messages; at++) {
    const lookUp = await conversation.message(`m${at}`);
    found.push(lookUp.status === 'found_verified' ? 'whole' : lookUp.status);
  }
  const faults = (await backend.verify()).map(({ kind }) => kind);
  await conversation.append({ messageId: 'next', role: 'user', parts: [{ type: 'text', text: 'next' }] });
  const last = readdirSync(`${directory}/segments`).toSorted().at(-1) ?? '';
  const lines = readFileSync(`${directory}/segments/${last}`, 'utf8').split('\n');
  return { found: found.join(' '), faults, lastLine: lines.at(-2)?.startsWith('{"meta":[') };
}

const replaced = (bytes: Buffer, from: string, to: string | Buffer) => {
  const at = bytes.indexOf(from);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + Buffer.byteLength(from))]);
};
const latin1 = (change: (text: string) => string) => (bytes: Buffer) =>
  Buffer.from(change(bytes.toString('latin1')), 'latin1');
const linesOf = (text: string) => text.split(/(?<=\n)/);

const THREE = ['one', 'two', 'three'];

test.each<[what: string, change: (bytes: Buffer) => Buffer, found: string, faults: readonly string[]]>([
  [
    'a byte order mark',
    (bytes) => Buffer.concat([Buffer.from('\uFEFF'), bytes]),
    'whole whole whole',
    ['foreign_bytes'],
  ],
  [
    'CRLF at every line',
    latin1((text) => text.replaceAll('\n', '\r\n')),
    'whole whole whole',
    ['foreign_bytes', 'foreign_bytes'],
  ],
  [
    'blank lines',
    latin1((text) => text.replaceAll('\n', '\n\n   \n')),
    'whole whole whole',
    ['foreign_bytes', 'foreign_bytes'],
  ],
  ['no end of the last line', (bytes) => bytes.subarray(0, -1), 'whole whole whole', []],
  [
    'JSON that is no line of ours',
    latin1((text) => linesOf(text).join('null\n42\n"str"\n[]\n{}\n{"id":null}\n{"commit":{}}\n')),
    'whole whole whole',
    Array.from({ length: 14 }, () => 'foreign_bytes'),
  ],
  [
    'a frame with fitting digests around what is no line',
    latin1((text) => {
      const store = /"store":"([^"]*)"/.exec(text)?.[1] ?? '';
      const metas = ['', 'nul', '[1', '"a', '{"store":"x", words', `{"store":"${store}","n":"2","group":2,"ns":"n"`];
      const framed = metas.map((meta) => `${sealParts({ meta, words: meta === 'nul' ? 'l' : '}' })}\n`);
      return linesOf(text).join(framed.join(''));
    }),
    'whole whole whole',
    Array.from({ length: 12 }, () => 'foreign_bytes'),
  ],
  [
    'a line that stands twice',
    latin1((text) =>
      linesOf(text)
        .toSpliced(1, 0, linesOf(text)[0] ?? '')
        .join(''),
    ),
    'whole whole whole',
    ['foreign_bytes'],
  ],
  [
    'a run of NUL between lines',
    latin1((text) => linesOf(text).join('\0'.repeat(99))),
    'whole whole whole',
    ['foreign_bytes', 'foreign_bytes'],
  ],
  [
    'a separator that was written out',
    (bytes) => replaced(bytes, '"text":"two"', '"text":"tw\u2028"'),
    'whole source_corrupt whole',
    ['damaged'],
  ],
  [
    'bytes that are not UTF-8',
    (bytes) => replaced(bytes, 'two', Buffer.from([0xed, 0xa0, 0xbd])),
    'whole source_corrupt whole',
    ['damaged'],
  ],
  [
    'a surrogate that was replaced',
    (bytes) => replaced(bytes, 'two', '\ufffd'),
    'whole source_corrupt whole',
    ['damaged'],
  ],
  [
    'a number that was rounded',
    (bytes) => replaced(bytes, '"sequence":2,"record":0}', '"sequence":2.0,"record":0}'),
    'whole source_corrupt whole',
    ['damaged'],
  ],
])('%s in a journal’s own lines', async (_what, change, found, faults) => {
  const directory = await journalOf(THREE, change);
  const looked = await look(directory, THREE.length);
  // What stands behind the last line that was synced is set aside.
  const told = looked.faults.filter((kind) => kind !== 'set_aside');
  expect({ ...looked, faults: told }).toEqual({ found, faults, lastLine: true });
});

test('a tail that was torn beyond what was synced is set aside, and the next line is one of its own', async () => {
  const directory = await journalOf(
    THREE,
    latin1((text) => `${text}${(linesOf(text)[0] ?? '').slice(0, 300)}`),
  );
  expect(await look(directory, THREE.length)).toEqual({
    found: 'whole whole whole',
    faults: ['set_aside'],
    lastLine: true,
  });
});

// ---- As words

const NUMBERS =
  '{"id":"1","snowflake":2512292042121000001,"max":9007199254740993,"neg":-0,"tiny":5e-324,"huge":1e400,"price":19.90}';
const JOURNAL_LINE =
  '{"meta":[9,"x"],"words":[1,"y"],"commit":{"store":"s","n":1,"group":1,"ns":"n","heads":[],"rows":[]}}';

/** Files as the text that they hold. */
const FILES: readonly string[] = [
  '\uFEFF{"id":"1"}\r\n{"id":"2"}\r\n\r\n   \r\n{"id":"3"}',
  '{"id":"h","parentId":"A"}\n{"id":"u","parentId":"h"}\n{"id":"h","parentId":"u"}\n{"id":"x","text":"one"}\n{"id":"x","text":"two"}\n',
  'null\n42\n"str"\n[]\n{}\n{"id":null}\n{"id":7}\n{"id":""}\n{"id":"ok"}\n',
  '{"id":"a\\u0000b","text":"x\\u0000y","k\\u0000":1,"literal":"\\\\u0000"}\n',
  'a raw \0 and \u0001, \u001f, \u007f, \u0085 and \u009f',
  NUMBERS,
  '{"id":"1","text":"cut \\ud83d..."}\n{"id":"2","text":"\\udd25 low first"}\n{"id":"3","text":"ok \\ud83d\\udd25"}\n',
  'lone \ud83d and \udd25, whole \ud83d\udd25',
  '{"id":"1"}\n{"id":"2"}\n{"id":"3","text":"unfinis',
  '{"text":"a\u2028b\u2029c\u0085d"}\n{"text":"a\\u2028b\\u2029c\\u0085d\\u000be\\ff\\u001eg\\rh"}',
  JOURNAL_LINE,
];

/** The values that a file's lines say, those that can be read; of numbers what JSON can say of them again. */
function valuesIn(file: string) {
  return file.split('\n').flatMap((line): readonly unknown[] => {
    try {
      return [JSON.parse(JSON.stringify(JSON.parse(line))) as unknown];
    } catch {
      return [];
    }
  });
}

/** A file as text, as a tool's input in its own words, as data, and its ids as names of nothing but values. */
function contentOf(file: string, at: number): MessageContent {
  return {
    role: 'assistant',
    parts: [
      { type: 'text', text: file },
      { type: 'tool_call', callId: `call-${at}`, name: 'write', inputText: file },
      { type: 'data', name: 'lines', data: { lines: valuesIn(file), ['__proto__']: file } },
    ],
    metadata: { file },
  } as unknown as MessageContent; // built of JSON
}

test('every such file survives as words: written, read again, folded, built anew, found', async () => {
  const directory = temporaryDirectory();
  const contents = FILES.map(contentOf);
  const backend = await openJournal(directory);
  const conversation = ledgerOver(backend).namespace('n').conversation(CONVERSATION);
  for (const [at, content] of contents.entries()) await conversation.append({ ...content, messageId: `m${at}` });
  const check = async (store: Awaited<ReturnType<typeof openJournal>>) => {
    const { messages } = await ledgerOver(store).namespace('n').conversation(CONVERSATION).page({ limit: 100 });
    expect(messages.map(({ parts, metadata }) => ({ parts, metadata }))).toEqual(
      contents.map(({ parts, metadata }) => ({ parts, metadata })),
    );
    expect(await store.verify()).toEqual([]);
    const { hits } = await ledgerOver(store).namespace('n').search('9007199254740993');
    expect(new Set(hits.map(({ messageId }) => messageId))).toEqual(new Set([`m${FILES.indexOf(NUMBERS)}`]));
  };
  await check(backend);
  await backend.catchUp();
  await check(backend);
  await backend.rebuild();
  await check(backend);
  await backend.close();
  await check(await opened(directory));
  const bytes = readFileSync(segment(directory));
  expect(bytes.toString('utf8').split(/[\n\u2028\u2029\u0085]/)).toHaveLength(FILES.length + 1);
  expect(Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes)).toBe(true);
});

test('a journal’s own line as data is no line, even where the line that holds it is damaged', async () => {
  const directory = await journalOf(THREE, (bytes) => bytes);
  const own = readFileSync(segment(directory), 'utf8').split('\n')[2] ?? '';
  const backend = await openJournal(directory);
  const conversation = ledgerOver(backend).namespace('n').conversation('other');
  const parts = [{ type: 'data', name: 'line', data: JSON.parse(own) as never }] as const;
  await conversation.append({ messageId: 'holder', role: 'user', parts });
  await conversation.append({ messageId: 'after', role: 'user', parts: [] });
  await backend.close();
  writeFileSync(segment(directory), replaced(readFileSync(segment(directory)), '"name":"line"', '"name":"lime"'));
  const again = await opened(directory);
  const other = ledgerOver(again).namespace('n').conversation('other');
  expect((await other.message('holder')).status).toBe('source_corrupt');
  expect((await other.message('after')).status).toBe('found_verified');
  expect((await ledgerOver(again).namespace('n').conversation(CONVERSATION).page()).messages).toHaveLength(3);
  expect((await again.verify()).map(({ kind }) => kind)).toEqual(['damaged']);
});
