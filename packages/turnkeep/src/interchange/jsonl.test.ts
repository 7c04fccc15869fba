import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonlReader } from './jsonl.ts';
import type { JsonlEntry, JsonlOptions } from './jsonl.ts';

async function read(bytes: Uint8Array | string, options: JsonlOptions = {}, step = Infinity) {
  const data = Buffer.from(bytes as string);
  const reader = new JsonlReader(chunks(data, step), options);
  const entries: JsonlEntry[] = [];
  for await (const entry of reader) entries.push(entry);
  return { entries, counts: reader.counts, values: entries.flatMap((entry) => (entry.damage ? [] : [entry.value])) };
}

async function* chunks(data: Buffer, step: number): AsyncGenerator<Uint8Array> {
  // One buffer lent again and again, as streams do.
  const lent = Buffer.alloc(Math.min(step, data.length));
  for (let at = 0; at < data.length; at += lent.length) {
    const length = data.copy(lent, 0, at, at + lent.length);
    yield lent.subarray(0, length);
  }
}

const damageOf = (entries: readonly JsonlEntry[]) =>
  entries.flatMap(({ line, byte, damage }) => (damage ? [{ line, byte, ...damage }] : []));

describe('lines', () => {
  test('end at 0x0A and nowhere else', async () => {
    const raw = '{"text":"a\u2028b\u2029c\u0085d"}\n{"text":"a\\u2028b\\u000be\\ff\\rg"}\n';
    expect((await read(raw)).values).toEqual([{ text: 'a\u2028b\u2029c\u0085d' }, { text: 'a\u2028b\u000be\ff\rg' }]);
  });

  test('may carry a byte order mark, CRLF, blanks and no last end', async () => {
    const { values, counts, entries } = await read('\ufeff{"id":"1"}\r\n{"id":"2"}\r\n\r\n   \r\n{"id":"3"}');
    expect(values).toEqual([{ id: '1' }, { id: '2' }, { id: '3' }]);
    expect(counts).toEqual({ lines: 5, blank: 2, damaged: 0, records: 3, salvaged: 0, bytes: 44 });
    expect(entries.map(({ line, byte }) => [line, byte])).toEqual([
      [1, 3],
      [2, 15],
      [5, 34],
    ]);
  });

  test('a byte order mark elsewhere is none', async () => {
    expect((await read('{"a":1}\n\ufeff{"a":2}\n{"a":3}')).values).toContainEqual({ a: 3 });
  });

  test('come out the same however the bytes are handed over', async () => {
    const file = Buffer.from('\ufeff{"a":"é🔥"}\r\n\n{"b":[1,{"c":"\\n"}]}\n\0\0{"d":1}\n{"e":"torn{"f":2}\n{"g":');
    const whole = await read(file);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: file.length }), async (step) => {
        expect(await read(file, {}, step)).toEqual(whole);
      }),
    );
  });

  test('a record lies in the file where it says', async () => {
    const file = Buffer.from('\ufeff  {"a":"é"}\r\n\0\0{"d":1}\0\n{"e":"ü torn{"f":2}{"g":3}\n');
    for (const entry of (await read(file)).entries) {
      if (entry.damage) continue;
      expect(file.subarray(entry.byte, entry.byte + entry.bytes).toString()).toBe(entry.text);
    }
  });
});

describe('damage', () => {
  test('a torn tail is reported at every cut, and loses no earlier record', async () => {
    const whole = '{"id":"1"}\n{"id":"2"}\n{"id":"3","text":"a{}é"}';
    const bytes = Buffer.from(whole);
    for (let cut = 23; cut < bytes.length; cut++) {
      const { values, entries, counts } = await read(bytes.subarray(0, cut));
      expect(values).toEqual([{ id: '1' }, { id: '2' }]);
      expect(damageOf(entries)).toMatchObject([{ line: 3, byte: 22 }]);
      expect(counts).toMatchObject({ lines: 3, damaged: 1, records: 2 });
    }
    expect((await read(bytes.subarray(0, 22))).counts).toMatchObject({ lines: 2, damaged: 0 });
  });

  test('a record in the middle that was cut leaves the ten around it', async () => {
    const good = Array.from({ length: 5 }, (_, at) => `{"id":${at}}`).join('\n');
    const { values, entries } = await read(`${good}\n{"id":"torn","text":"cut at byte 40, no end\n${good}\n`);
    expect(values).toHaveLength(10);
    expect(damageOf(entries)).toMatchObject([{ line: 6, byte: 45, kind: 'not_json', bytes: 43 }]);
  });

  test.each([
    ['within a text', '{"id":"3","text":"unfinis'],
    ['within a name', '{"id":"3","te'],
    ['behind a text', '{"id":"3","text":"x"'],
    ['behind a number', '{"id":"3","n":12'],
    ['behind an object', '{"id":"3","o":{"p":1}'],
    ['with a text of braces', '{"id":"3","text":"a } b { c'],
  ])('a whole record behind one that was torn %s is salvaged', async (_, torn) => {
    const { values, entries, counts } = await read(`{"id":"1"}\n${torn}{"id":"4","o":{"p":[1]}}\n{"id":"5"}\n`);
    expect(values).toEqual([{ id: '1' }, { id: '4', o: { p: [1] } }, { id: '5' }]);
    expect(damageOf(entries)).toMatchObject([{ line: 2, byte: 11, kind: 'glued', bytes: torn.length }]);
    expect(counts).toMatchObject({ lines: 3, damaged: 1, records: 3, salvaged: 1 });
  });

  test('a part of a torn record is no record', async () => {
    for (const torn of ['{"type":"x","message":{"role":"user"}', '{"a":[{"b":1},{"c":2}', '{"a":{"b":{"c":1}}']) {
      expect((await read(`${torn}\n{"id":1}\n`)).values).toEqual([{ id: 1 }]);
    }
  });

  test('records that lost the line end between them are both there', async () => {
    const { values, entries } = await read('{"id":"1"}{"id":"2"}\n');
    expect(values).toEqual([{ id: '1' }, { id: '2' }]);
    expect(damageOf(entries)).toMatchObject([{ kind: 'glued', bytes: 0 }]);
  });

  test('a run of zero bytes costs nothing but itself', async () => {
    const run = '\0'.repeat(700);
    const { values, entries, counts } = await read(`{"id":1}\n${run}{"id":2}\n${run}\n{"id":3}\n{"id":4,"t":"${run}`);
    expect(values).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(damageOf(entries).map(({ line, kind, bytes }) => [line, kind, bytes])).toEqual([
      [2, 'nul_run', 700],
      [3, 'nul_run', 700],
      [5, 'torn_tail', 13],
      [5, 'nul_run', 700],
    ]);
    expect(counts.lines).toBe(counts.blank + counts.damaged + counts.records - counts.salvaged);
  });

  test('bytes that are not UTF-8 are refused, or replaced for a caller who says so, and told either way', async () => {
    const file = Buffer.concat([
      Buffer.from('{"id":1}\n{"t":"a'),
      Buffer.from([0xed, 0xa0, 0xbd, 0xff]),
      Buffer.from('b"}\n{"id":2}\n'),
    ]);
    const refused = await read(file);
    expect(refused.values).toEqual([{ id: 1 }, { id: 2 }]);
    expect(damageOf(refused.entries)).toMatchObject([{ line: 2, kind: 'invalid_utf8', bytes: 14 }]);
    const replaced = await read(file, { invalidUtf8: 'replace' });
    expect(replaced.values).toEqual([{ id: 1 }, { t: 'a\ufffd\ufffd\ufffd\ufffdb' }, { id: 2 }]);
    expect(damageOf(replaced.entries)).toMatchObject([{ line: 2, kind: 'invalid_utf8', bytes: 0 }]);
  });

  test('records that lie behind each other on a line with bytes that are not UTF-8 lie where they say', async () => {
    const bytes = Buffer.from('{"t":"torn #{"a":"x#}{y","b":[{}]} #{"c":"é🔥"}###{"d":"#"} 12\n');
    const bad = [0xff, 0xf0, 0xe2, 0xc3, 0x80, 0xed, 0xff];
    bad.forEach((byte) => (bytes[bytes.indexOf('#')] = byte));
    const { entries, values } = await read(bytes, { invalidUtf8: 'replace' });
    expect(values).toEqual([{ a: 'x\ufffd}{y', b: [{}] }, { c: 'é🔥' }, { d: '\ufffd' }]);
    for (const entry of entries) {
      if (entry.damage) continue;
      const own = bytes.subarray(entry.byte, entry.byte + entry.bytes);
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(own)).toBe(entry.text);
    }
  });

  test('many records on one line are found in a time that grows with the line', async () => {
    const line = Array.from({ length: 30_000 }, (_, at) => `{"at":${at},"text":"é"}`).join('');
    const { values, entries, counts } = await read(line);
    expect(values.at(-1)).toEqual({ at: 29_999, text: 'é' });
    expect(counts).toMatchObject({ records: 30_000, salvaged: 30_000 });
    const last = entries.at(-1);
    expect(last?.byte).toBe(Buffer.byteLength(line) - Buffer.byteLength('{"at":29999,"text":"é"}'));
  });

  test('text of another encoding is one damage a line, and its digits are no records', async () => {
    const rows = '{"id":1234567890,"text":"of some length, so that zero bytes are everywhere"}\n'.repeat(3);
    const { entries, values } = await read(Buffer.from(rows, 'utf16le'));
    expect(values).toEqual([]);
    expect(damageOf(entries).map(({ line, kind }) => [line, kind])).toEqual([
      [1, 'nul_run'],
      [2, 'nul_run'],
      [3, 'nul_run'],
      [4, 'nul_run'],
    ]);
    expect(damageOf((await read('\0 7\0{"id":1}\n')).entries)).toHaveLength(3);
  });

  test('a line past the limit is told with its length and not held', async () => {
    const { values, entries } = await read(`{"id":1}\n{"t":"${'x'.repeat(100)}"}\n{"id":2}\n`, { maxLineBytes: 50 }, 7);
    expect(values).toEqual([{ id: 1 }, { id: 2 }]);
    expect(damageOf(entries)).toMatchObject([{ line: 2, byte: 9, kind: 'too_long', bytes: 108 }]);
  });

  test('a long line of nothing but openings ends soon', async () => {
    expect((await read(`${'{"a'.repeat(300_000)}\n{"id":1}`)).values).toEqual([{ id: 1 }]);
  });
});
