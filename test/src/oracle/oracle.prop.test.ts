import { expect, test } from 'vitest';
import { BACKENDS } from './backends.ts';
import type { Coverage } from './coverage.ts';
import { drive } from './drive.ts';

/** A sample of the long run that `main.ts` describes. */
const SEEDS = [1, 2, 3, 4, 5, 6];
const OPERATIONS = 250;

/** What a sample must have tried, or it proves little. */
const TRIED = [
  'late result',
  'result in place',
  'rewind mid-turn',
  'rewind into an inherited turn',
  'turn under an inherited turn',
  'fork at an inherited message',
  'fork at the end of the active path',
  'fork that brings a tail along',
  'entry in the tail of a fork',
  'redaction of an inherited message',
  'erasure between a source and a fork',
  'regeneration',
  'replay',
  'pinned reading',
  'a change refused, and its whole commit with it',
  'rows compared around a refusal or a replay',
  'refused: conflict',
  'refused: busy',
  'refused: fenced',
  'refused: fence_required',
  'refused: turn_terminal',
  'refused: turn_open',
  'refused: already_answered',
  'refused: commit_id_reused',
  'refused: erased',
  'refused: redacted',
  'refused: illegal_transition',
];

async function differences(name: string, seeds: readonly number[], coverage: Coverage): Promise<readonly unknown[]> {
  const open = BACKENDS[name];
  if (!open) throw new Error(`no backend is called ${name}`);
  const found: unknown[] = [];
  for (const seed of seeds) {
    const { difference } = await drive(seed, OPERATIONS, { open }, coverage);
    if (difference) found.push({ seed, difference });
  }
  return found;
}

test('memory agrees with the oracle on random histories', { timeout: 240_000 }, async () => {
  const coverage: Coverage = new Map();
  expect(await differences('memory', SEEDS, coverage)).toEqual([]);
  expect(TRIED.filter((what) => !coverage.has(what))).toEqual([]);
});

test.each(['sqlite', 'journal'])(
  '%s agrees with the oracle on random histories',
  { timeout: 240_000 },
  async (name) => {
    expect(await differences(name, SEEDS.slice(0, 2), new Map())).toEqual([]);
  },
);
