import { expect, test } from 'vitest';
import type { RowReader } from '../backend.ts';
import { advance, record, resolve, submit } from '../changes.testkit.ts';
import { readableHeader } from '../readable.ts';
import { commit } from '../story.testkit.ts';
import { storyOfEverything } from '../verify/verify.testkit.ts';
import { RULES, ruleFor } from './index.ts';
import { LeftRows } from './left-rows.ts';
import { untold } from './rule.ts';

const STORY = storyOfEverything();
for (const phrase of [
  commit({ kind: 'input.deliver', inputId: 'q1', into: 't2' }),
  commit(submit('d1')).to('d'),
  commit(resolve('d1')).to('d'),
  commit({ kind: 'step.start', turnId: 'd1', key: 's' }).to('d'),
  commit({ kind: 'step.settle', turnId: 'd1', key: 's', outcome: { status: 'retry' } }).to('d'),
  commit(advance('d1', 'completed'), record('d2')).to('d'),
])
  STORY.write(phrase);

const NOTHING: RowReader = {
  head: () => undefined,
  get: () => undefined,
  scan: () => [],
  log: () => undefined,
  heads: () => [],
};

/** What is missing of each event, by kind: all that its rule looks for where nothing is there. */
function missingIn(rows: RowReader): ReadonlyMap<string, readonly string[]> {
  const missing = new Map<string, readonly string[]>();
  for (const owner of ['c', 'fork', 'sub', 'd']) {
    const { version: last = 0 } = STORY.rows.head(owner) ?? {};
    for (let version = 1; version <= last; version++) {
      const header = readableHeader(STORY.rows.log(owner, version));
      for (const [index, event] of header?.events.entries() ?? []) {
        const found = (['here', 'elsewhere'] as const).flatMap((where) => {
          const left = new LeftRows(rows, owner, version, where);
          ruleFor(event.kind).leaves(left, event, index);
          return left.missing;
        });
        missing.set(event.kind, [...(missing.get(event.kind) ?? []), ...found]);
      }
    }
  }
  return missing;
}

test('every kind finds the rows that it left', () => {
  expect([...missingIn(STORY.rows).values()].flat()).toEqual([]);
});

test('and names them where they are lost, unless its event leads to none', () => {
  const missing = missingIn(NOTHING);
  const told = Object.entries(RULES).filter(([, rule]) => rule.leaves !== untold);
  expect(
    [...missing]
      .filter(([, names]) => names.length > 0)
      .map(([kind]) => kind)
      .toSorted(),
  ).toEqual(told.map(([kind]) => kind).toSorted());
});
