import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { openLedger } from '../../ledger/open.ts';
import { Output } from '../output.ts';
import type { Shell } from '../shell.ts';
import { columnsOf } from '../terminal-text.ts';
import { drawnTree } from './tree.ts';

const WORDS = [
  { type: 'text' as const, text: 'Where is my parcel? It was sent a week ago from the office at the harbour. 📦' },
];

/** A conversation of two branches, with ids as they are minted. */
async function twoBranches() {
  const conversation = (await openLedger('memory:')).namespace('n').conversation('c');
  const first = await conversation.submit({ prompt: WORDS });
  await conversation.advance(first.turnId, 'completed');
  const { graphRevision } = await conversation.info();
  const edited = await conversation.edit(first.turnId, { prompt: WORDS }, { expect: { graphRevision } });
  await conversation.advance(edited.turnId, 'completed');
  return { turns: await conversation.graph(), leaf: edited.turnId };
}

function drawn(columns: number | undefined, turns: Parameters<typeof drawnTree>[1], leaf: string): readonly string[] {
  const stream = Object.assign(new Writable(), columns === undefined ? {} : { isTTY: true, columns });
  const shell: Pick<Shell, 'out'> = { out: new Output(stream, { NO_COLOR: '1' }) };
  return [...drawnTree(shell, turns, { conversationId: 'c', leaf })];
}

test('a tree fits its terminal, with every id whole: beside its turn, or below where there is no room', async () => {
  const { turns, leaf } = await twoBranches();
  for (let columns = 50; columns <= 200; columns++) {
    const lines = drawn(columns, turns, leaf);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    for (const { turnId } of turns) expect(lines.join('\n')).toContain(turnId);
    const heights = columns <= 80 ? [4] : columns < 100 ? [2, 4] : [2];
    expect(heights).toContain(lines.length);
  }
});

test('a tree that goes to no terminal has one line a turn', async () => {
  const { turns, leaf } = await twoBranches();
  expect(drawn(undefined, turns, leaf)).toHaveLength(2);
});

test('an id below its turn hangs on the same rails', async () => {
  const { turns, leaf } = await twoBranches();
  const lines = drawn(60, turns, leaf);
  expect(lines.map((line) => line.slice(0, 6))).toEqual(['├─● [1', '│   tu', '● [2 e', '  turn']);
});
