import { expect, test } from 'vitest';
import { frameLine, readLine, sealBody } from './frame.ts';

const bodies = ['{"a":1}', '{"b":"ü\\n"}', '{"len":7,"sha":"x","commit":{}}'];

function parts(bytes: Buffer): readonly string[] {
  return readLine(bytes, 0, bytes.length).map((part) =>
    'body' in part ? part.body.toString() : `${part.start}-${part.end}`,
  );
}

test('a frame comes back as it went in, and ends with a line feed', () => {
  for (const body of bodies) {
    const line = frameLine(body);
    expect(line.endsWith('}\n')).toBe(true);
    expect(parts(Buffer.from(line.slice(0, -1)))).toEqual([body]);
    expect(JSON.parse(line)).toHaveProperty('commit');
  }
});

test('a frame cut anywhere, or with any bit turned, is no frame', () => {
  const whole = Buffer.from(sealBody(bodies[0] ?? ''));
  for (let end = 1; end < whole.length; end++) expect(parts(whole.subarray(0, end))).toEqual([`0-${end}`]);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(parts(flipped).every((part) => /^\d/.test(part))).toBe(true);
  }
});

test('glued frames are taken apart, and what stands between them is named', () => {
  const [one = '', two = ''] = bodies.map(sealBody);
  expect(parts(Buffer.from(one + two))).toEqual([bodies[0], bodies[1]]);
  const nul = '\u0000'.repeat(300);
  expect(parts(Buffer.from(nul + one))).toEqual(['0-300', bodies[0]]);
  const torn = one.slice(0, 40);
  expect(parts(Buffer.from(torn + two))).toEqual(['0-40', bodies[1]]);
  expect(parts(Buffer.from(`${one}x${two}`))).toEqual([bodies[0], `${one.length}-${one.length + 1}`, bodies[1]]);
});
