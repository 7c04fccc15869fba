import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { driverFault } from '../driver/driver-errors.ts';
import { type Block, BlockReader, BlockWriter } from './search-blocks.ts';

const MAX_TERM = 2 ** 48 - 1;

const ordinals = fc
  .uniqueArray(fc.oneof(fc.nat(40), fc.nat(20_000)), { minLength: 1, maxLength: 400 })
  .map((all) => Uint32Array.from(all).sort());
const entries = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(
        fc.nat(300),
        fc.maxSafeNat().map((n) => n % MAX_TERM),
      ),
      ordinals,
    ),
    {
      selector: ([term]) => term,
      maxLength: 60,
    },
  )
  .map((all) => all.sort(([a], [b]) => a - b));

test('blocks give back what was written', () => {
  fc.assert(
    fc.property(entries, (all) => {
      expect(all.map(([term, found]) => [term, [...found]])).toEqual(readAll(write(all)));
    }),
  );
});

test('terms can be passed over', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const terms = write(all).flatMap((block) => {
        const reader = new BlockReader(block);
        const found: number[] = [];
        while (reader.next()) found.push(reader.term);
        return found;
      });
      expect(terms).toEqual(all.map(([term]) => term));
    }),
  );
});

test('postings take the shortest form', () => {
  const bytes = (found: readonly number[]) => {
    const [block] = write([[0, Uint32Array.from(found)]]);
    return (block?.data.length ?? 0) - 4 - 1; // without the checksum and the term
  };
  const every = (step: number) => Array.from({ length: 1_024 / step }, (_, i) => i * step);
  expect(bytes([5])).toBe(1);
  expect(bytes([5, 900])).toBe(1 + 3);
  expect(bytes(every(1))).toBe(2 + 128);
  expect(bytes(every(4))).toBe(2 + 128);
  expect(bytes(every(16))).toBe(2 + 64);
});

test('every flipped bit is found', () => {
  const [block] = write([
    [1, Uint32Array.of(1, 2)],
    [9, Uint32Array.of(7)],
  ]);
  const data = block?.data ?? new Uint8Array();
  const survivors = Array.from({ length: data.length * 8 }, (_, bit) => bit).filter((bit) => {
    const flipped = data.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    return faultKind(() => new BlockReader({ firstTerm: 1, data: flipped })) !== 'corrupt';
  });
  expect(survivors).toEqual([]);
  expect(faultKind(() => new BlockReader({ firstTerm: 1, data: new Uint8Array(2) }))).toBe('corrupt');
});

function write(all: readonly (readonly [number, Uint32Array])[]): Block[] {
  const blocks: Block[] = [];
  const writer = new BlockWriter((block) => void blocks.push(block));
  for (const [term, found] of all) writer.add(term, found);
  writer.end();
  return blocks;
}

function readAll(blocks: readonly Block[]): (readonly [number, number[]])[] {
  return blocks.flatMap((block) => {
    const reader = new BlockReader(block);
    const all: (readonly [number, number[]])[] = [];
    while (reader.next()) {
      const found: number[] = [];
      reader.ordinals((ordinal) => void found.push(ordinal));
      all.push([reader.term, found]);
    }
    return all;
  });
}

function faultKind(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return driverFault(error).kind;
  }
}
