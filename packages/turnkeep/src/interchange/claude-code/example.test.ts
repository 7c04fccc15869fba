import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importClaudeCode } from './import.ts';
import { inShort, MemoryTarget } from './session.testkit.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/claude-code', import.meta.url));

test('the bundled example has parallel calls, an edit, a compaction, a sub-agent and a fork, and no fault', async () => {
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, [EXAMPLE]);
  expect(report.refused).toEqual([]);
  expect(report.ignored).toEqual([]);
  expect(report.files.flatMap(({ damage, notes, openCalls }) => [...damage, ...notes, ...openCalls])).toEqual([]);
  expect(report.conversations.map(({ title, turns, summaries }) => [title, turns, summaries])).toEqual([
    ['Tide heights in metres 🌊', 5, 1],
    [null, 1, 0],
    ['Tide heights, documented only', 2, 0],
  ]);
  const id = report.conversations[0]?.conversationId ?? '';
  const graph = await target.graph(id);
  expect(graph.map(({ ordinal, why }) => [ordinal, why])).toEqual([
    [1, 'start'],
    [1, 'start'],
    [2, 'edit'],
    [1, 'start'],
    [1, 'start'],
  ]);
  expect((await target.path(id)).map(inShort).slice(2, 5)).toEqual([
    expect.stringMatching(/call toolu_01Tides, call toolu_02Stations$/),
    'tool: result toolu_01Tides',
    'tool: result toolu_02Stations',
  ]);
});
