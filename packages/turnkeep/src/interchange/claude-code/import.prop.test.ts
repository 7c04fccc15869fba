import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import { importClaudeCode } from './import.ts';
import { bytesOf, jsonl, MemoryTarget, SESSION, SessionWriter, sorted } from './session.testkit.ts';

const write = new SessionWriter();

/** A row to be written, by what it is and which of few ids and parents it takes: they collide and miss often. */
interface Draw {
  readonly kind:
    | 'user'
    | 'meta'
    | 'says'
    | 'calls'
    | 'calls two'
    | 'result'
    | 'results of two'
    | 'system'
    | 'progress'
    | 'boundary'
    | 'summary'
    | 'nameless'
    | 'again';
  readonly id: number;
  readonly parent: number | null;
  readonly which: number;
}

const draw: fc.Arbitrary<Draw> = fc.record({
  kind: fc.constantFrom<Draw['kind']>(
    'user',
    'meta',
    'says',
    'calls',
    'calls',
    'calls two',
    'result',
    'result',
    'results of two',
    'system',
    'progress',
    'boundary',
    'summary',
    'nameless',
    'again',
  ),
  id: fc.integer({ min: 0, max: 30 }),
  parent: fc.option(fc.integer({ min: 0, max: 32 }), { freq: 8 }),
  which: fc.integer({ min: 0, max: 4 }),
});

/** Mostly a chain: a row's id is its place and its parent the row before, unless the draw says other. */
const session = fc.array(fc.tuple(draw, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 24 }).map((draws) => {
  const rows: JsonObject[] = [];
  for (const [at, [drawn, ownId, ownParent]] of draws.entries()) {
    const id = ownId && drawn.which === 0 ? drawn.id : at;
    const parent = ownParent ? drawn.parent : at === 0 ? null : at - 1;
    rows.push(rowOf({ ...drawn, id, parent }, rows));
  }
  return rows;
});

const call = (which: number): JsonObject => ({ type: 'tool_use', id: `call_${which % 5}`, name: 'Read', input: {} });
const answer = (which: number): JsonObject => ({
  type: 'tool_result',
  tool_use_id: `call_${which % 5}`,
  content: 'done',
});

function rowOf({ kind, id, parent, which }: Draw, before: readonly JsonObject[]): JsonObject {
  switch (kind) {
    case 'user':
      return write.user(id, parent, `prompt ${which}`);
    case 'meta':
      return write.user(id, parent, [{ type: 'text', text: `meta ${which}` }], { isMeta: true });
    case 'says':
      return write.says(id, parent, `msg_${which}`, `answer ${which}`);
    case 'calls':
      return write.calls(id, parent, `msg_${which}`, `call_${which}`);
    case 'result':
      return write.result(id, parent, `call_${which}`, which === 0 ? null : [{ type: 'text', text: 'x' }], {
        toolUseResult: { which },
      });
    case 'calls two':
      return write.assistant(id, parent, `msg_${which}`, [call(which), { type: 'text', text: 'and' }, call(which + 1)]);
    case 'results of two':
      return write.user(id, parent, [answer(which), answer(which + 1)]);
    case 'system':
      return write.system(id, parent, 'local_command', which > 2 ? { content: 'printed' } : {});
    case 'progress':
      return { ...write.envelope(id, parent), type: 'progress', data: { which } };
    case 'boundary':
      return write.boundary(
        id,
        parent,
        which === 0 ? { preservedSegment: { headUuid: write.envelope(which, null)['uuid'] } } : {},
      );
    case 'summary':
      return write.summary(id, parent, which === 0 ? ' ' : `summary ${which}`);
    case 'nameless':
      return { type: which === 0 ? 'custom-title' : 'mode', customTitle: `title ${which}`, sessionId: SESSION, which };
    default:
      return before[which] ?? write.user(id, parent, 'again');
  }
}

/** Rows as an import keeps them: repeated ones once, a bookkeeping row unless its type said the same last. */
function kept(rows: readonly JsonObject[]): readonly JsonObject[] {
  const seen = new Set<string>();
  const last = new Map<unknown, string>();
  return rows.filter((row) => {
    const text = JSON.stringify(row);
    const isRepeated = row['uuid'] === undefined ? last.get(row['type']) === text : seen.has(text);
    if (row['uuid'] === undefined) last.set(row['type'], text);
    else seen.add(text);
    return !isRepeated;
  });
}

test('no row of any session is lost, invented or refused; each comes back equal; again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(session, async (rows) => {
      const target = new MemoryTarget();
      const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
      expect(report.refused).toEqual([]);
      const [file] = report.files;
      const { lines = 0, imported = 0, opaque = 0, repeated = 0 } = file ?? {};
      expect([lines, imported + opaque, repeated]).toEqual([
        rows.length,
        kept(rows).length,
        rows.length - kept(rows).length,
      ]);
      const id = report.conversations[0]?.conversationId ?? '';
      expect(await target.rows(id)).toEqual(sorted(kept(rows)));
      const before = await target.backend.feed('imports', 0, 1e6);
      await importClaudeCode(target, bytesOf(jsonl(rows)));
      expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

test('a session whose parents stand before their children may be imported as it grows', async () => {
  const older = (rows: readonly JsonObject[]) => {
    const ids = new Set<unknown>([null]);
    return rows.filter((row) => {
      const parents = [row['parentUuid'] ?? null, row['logicalParentUuid'] ?? null];
      const isFine = row['uuid'] === undefined || parents.every((parent) => ids.has(parent));
      if (isFine) ids.add(row['uuid']);
      return isFine;
    });
  };
  await fc.assert(
    fc.asyncProperty(session.map(older), fc.array(fc.nat({ max: 24 }), { maxLength: 4 }), async (rows, cuts) => {
      const target = new MemoryTarget();
      for (const cut of [...cuts.sort((left, right) => left - right), rows.length]) {
        const report = await importClaudeCode(target, bytesOf(jsonl(rows.slice(0, cut))));
        expect(report.refused).toEqual([]);
      }
      if (rows.length === 0) return;
      const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
      const id = report.conversations[0]?.conversationId ?? '';
      expect(await target.rows(id)).toEqual(sorted(kept(rows)));
    }),
    { numRuns: 300 },
  );
});

/** The stages of a file: how it grew, or where it was cut, lost lines, was edited, or came as an older copy. */
const grown = fc.array(fc.nat({ max: 24 }), { maxLength: 4 }).map((ends): readonly Stage[] => {
  return [...ends.sort((left, right) => left - right)].map((end) => (rows) => rows.slice(0, end));
});
const changed = fc.array(
  fc.oneof(
    fc.tuple(fc.nat({ max: 24 }), fc.nat({ max: 24 })).map(
      ([from, to]): Stage =>
        (rows) =>
          rows.slice(from, to),
    ),
    fc.array(fc.nat({ max: 24 }), { maxLength: 5 }).map((lost): Stage => {
      return (rows) => rows.filter((_, at) => !lost.includes(at));
    }),
    fc.array(fc.nat({ max: 24 }), { maxLength: 5 }).map((edited): Stage => {
      return (rows) => rows.map((row, at) => (edited.includes(at) ? { ...row, edited: true } : row));
    }),
  ),
  { maxLength: 3 },
);
type Stage = (rows: readonly JsonObject[]) => readonly JsonObject[];

test.each([
  ['grows', grown, 'one after the other'],
  ['is cut, loses lines, is edited, or comes as an older copy', changed, 'one after the other'],
  ['grows, its stages imported at the same time', grown, 'together'],
])('a session that %s, in any order, is there once, and nothing of it is refused', async (_, stagesOf, how) => {
  await fc.assert(
    fc.asyncProperty(session, stagesOf, fc.nat({ max: 24 }), async (rows, stages, last) => {
      const target = new MemoryTarget();
      const files = [...stages.map((stage) => stage(rows)), rows, rows.slice(0, last)];
      const ids = new Set<string>();
      const imported = async (file: readonly JsonObject[]) => {
        const report = await importClaudeCode(target, bytesOf(jsonl(file)));
        expect(report.refused).toEqual([]);
        for (const { conversationId } of report.conversations) ids.add(conversationId);
      };
      const rowsThere = async () => (await Promise.all([...ids].map((id) => target.rows(id)))).flat();
      // Grown to its end it is what one import makes of it, bookkeeping rows included.
      const isGrown = stagesOf === grown && how !== 'together';
      if (how === 'together') await Promise.all(files.map(imported));
      for (const file of how === 'together' ? [] : files.slice(0, -1)) await imported(file);
      expect(isGrown ? await rowsThere() : []).toEqual(isGrown ? sorted(kept(rows)) : []);
      if (how !== 'together') await imported(rows.slice(0, last));
      const there = await rowsThere();
      expect(new Set(there)).toEqual(new Set(sorted(files.flat())));
      const named = there.filter((row) => row.includes('"uuid"'));
      expect(named).toHaveLength(new Set(named).size);
      // Which of several moved the leaf last is settled by the next import.
      if (how === 'together') await imported(rows);
      const before = await target.backend.feed('imports', 0, 1e6);
      for (const file of files) await imported(file);
      expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
    }),
    { numRuns: 300 },
  );
});
