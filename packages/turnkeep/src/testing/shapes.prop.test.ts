import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ChangeKind } from '../core/change.ts';
import { RULES } from '../core/rules/index.ts';
import { KINDS } from './kinds.ts';

const PARTS = [
  { type: 'tool_result', callId: 'c', status: 'ok', content: [{ type: 'text', text: 'x' }] },
  { type: 'tool_result', callId: 'c', status: 'ok', content: [{ type: 'text' }] },
  { type: 'file', mediaType: 'a/b', source: { attachment: 'x' } },
];
const PROTO: unknown = JSON.parse('{"__proto__":{"x":1}}');
const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  0.5,
  2 ** 53,
  '',
  ' ',
  'a\0',
  '\ud83d',
  'x'.repeat(70_000),
  [],
  {},
  [[]],
  PROTO,
  ...PARTS.map((part) => [part]),
  PARTS,
];

/** All places of a value: the steps to each member and item. */
function placesIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const inner = Object.entries(value).flatMap(([key, member]) => placesIn(member).map((steps) => [key, ...steps]));
  return [[], ...inner];
}

function put(value: unknown, steps: readonly string[], wanted: unknown): unknown {
  const [step, ...deeper] = steps;
  if (step === undefined) return wanted;
  if (typeof value !== 'object' || value === null) return value;
  const copy = structuredClone(value) as Record<string, unknown>; // or a list, whose items have names as well
  copy[step] = put(copy[step], deeper, wanted);
  return copy;
}

const kinds = Object.keys(KINDS) as ChangeKind[];
const drawn = fc.record({
  kind: fc.constantFrom(...kinds),
  place: fc.nat(),
  member: fc.option(fc.constantFrom('kind', 'extra', 'parts', 'id', '0'), { freq: 3 }),
  value: fc.constantFrom(...VALUES),
});

test('every shape compiles, and says yes to what it says yes to when it is not compiled', () => {
  const compiled = new Map(kinds.map((kind) => [kind, z.compile(RULES[kind].shape as z.ZodType, { strict: true })]));
  let accepted = 0;
  const runs = 4_000;
  fc.assert(
    fc.property(drawn, ({ kind, place, member, value }) => {
      const { change } = KINDS[kind];
      const places = placesIn(change);
      const steps = places[place % places.length] ?? [];
      const wrong = put(change, member === null ? steps : [...steps, member], value);
      const shape: z.ZodType = RULES[kind].shape;
      const isRight = shape.safeParse(wrong).success;
      expect(compiled.get(kind)?.validate(wrong)).toBe(isRight);
      if (isRight) accepted += 1;
    }),
    { numRuns: runs },
  );
  expect(kinds.filter((kind) => compiled.get(kind)?.validate(KINDS[kind].change) !== true)).toEqual([]);
  expect(accepted / runs).toBeGreaterThan(0.05);
});
