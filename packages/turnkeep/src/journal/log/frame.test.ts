import { expect, test } from 'vitest';
import { readFrame, readLine, sealPadded, sealParts } from './frame.ts';
import type { LineParts } from './frame.ts';
import { LineBuffer } from './line-buffer.ts';

const bodies: readonly LineParts[] = [
  { meta: '{"a":1', words: '}' },
  { meta: '{"b":"ü\\n"', words: ',"header":"ü"}' },
  { meta: '{"x":{"meta":[2,"y"],"words":[1,"z"],"commit":{}}', words: '}' },
];
const [one, two] = bodies.map((body) => sealParts(body)) as [string, string, string];

function parts(bytes: Buffer): readonly string[] {
  return readLine(bytes, 0, bytes.length).map((part) => {
    if ('words' in part) return `${part.meta.toString()}|${part.words.toString()}`;
    return `${part.start}-${part.end}${part.soundMeta ? ` ${part.soundMeta.toString()}` : ''}`;
  });
}

test('a frame comes back as it went in, and ends with a line feed', () => {
  const lines = new LineBuffer();
  for (const body of bodies) {
    const length = lines.add(body);
    const line = lines.take().toString();
    expect(line).toBe(`${sealParts(body)}\n`);
    expect(Buffer.byteLength(line)).toBe(length + 1);
    expect(parts(Buffer.from(line.slice(0, -1)))).toEqual([`${body.meta}|${body.words}`]);
    expect(JSON.parse(line)).toHaveProperty('commit', JSON.parse(body.meta + body.words));
  }
});

test('a frame cut anywhere, or with any bit turned, is no frame; its meta is kept where that is whole', () => {
  const whole = Buffer.from(two);
  const meta = whole.indexOf('{"b"');
  const words = whole.indexOf(',"header"');
  for (let end = 1; end < whole.length; end++) {
    const isSound = end > words;
    expect(parts(whole.subarray(0, end))).toEqual([isSound ? `0-${end} {"b":"ü\\n"` : `0-${end}`]);
  }
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const found = parts(flipped);
    expect(found.every((part) => /^\d/.test(part))).toBe(true);
    const isOfMeta = bit >> 3 >= meta && bit >> 3 < words;
    const isOfWords = bit >> 3 >= words;
    // A length that is damaged may leave the meta whole, or not.
    const isSound = found[0]?.includes('{"b"') === true;
    expect(isOfMeta && isSound).toBe(false);
    expect(isOfWords && !isSound).toBe(false);
  }
});

test('glued frames are taken apart, and what stands between them is named', () => {
  const whole = bodies.map(({ meta, words }) => `${meta}|${words}`);
  expect(parts(Buffer.from(one + two))).toEqual([whole[0], whole[1]]);
  const nul = '\u0000'.repeat(300);
  expect(parts(Buffer.from(nul + one))).toEqual(['0-300', whole[0]]);
  const torn = one.slice(0, 40);
  expect(parts(Buffer.from(torn + two))).toEqual(['0-40', whole[1]]);
  expect(parts(Buffer.from(`${one}x${two}`))).toEqual([whole[0], `${one.length}-${one.length + 1}`, whole[1]]);
});

test('a frame is filled up to any length, and still JSON', () => {
  const body = { meta: '{"a":1', words: '}' };
  const least = sealParts(body).length;
  for (let length = least; length < least + 1_050; length++) {
    const text = sealPadded(body, length) ?? '';
    expect(text.length).toBe(length);
    expect('reason' in readFrame(Buffer.from(text), 0, length)).toBe(false);
    expect(JSON.parse(text)).toHaveProperty('commit', JSON.parse(body.meta + body.words));
  }
  expect(sealPadded(body, least - 1)).toBeUndefined();
});

test('lines stand one behind the other, however long they are', () => {
  const lines = new LineBuffer();
  const long = { meta: `{"a":"${'é'.repeat(200_000)}"`, words: `,"b":"${'\ud83d\udd25'.repeat(90_000)}"}` };
  for (let round = 0; round < 3; round++) {
    for (const body of [...bodies, long, ...bodies]) lines.add(body);
    const expected = [...bodies, long, ...bodies].map((body) => `${sealParts(body)}\n`).join('');
    expect(lines.take().toString() === expected).toBe(true);
  }
});
