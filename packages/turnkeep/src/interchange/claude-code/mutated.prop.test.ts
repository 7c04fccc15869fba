import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../core/json.ts';
import { setOwn } from '../../core/json.ts';
import { importClaudeCode } from './import.ts';
import { bytesOf, MemoryTarget, SESSION, SessionWriter, sorted } from './session.testkit.ts';

/**
 * The law: whatever happens to a session file, an import ends with a report that accounts for every line, every record that
 * is whole comes back equal, nothing else does, nothing is refused, and the same file again changes nothing.
 */
const write = new SessionWriter();
const LINES = [
  { type: 'summary', summary: 'old', leafUuid: 'x' },
  write.user(1, null, 'caveat', { isMeta: true }),
  write.user(2, 1, 'read both'),
  write.assistant(3, 2, 'm1', [{ type: 'thinking', thinking: 'two', signature: 's' }]),
  write.calls(4, 3, 'm1', 'A', { prompt: 'look' }),
  write.calls(5, 4, 'm1', 'B'),
  write.result(6, 4, 'A', 'a', { toolUseResult: { agentId: 'agent' } }),
  write.result(7, 5, 'B', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }]),
  write.says(8, 7, 'm2', 'both'),
  write.system(9, 8, 'api_error', { content: 'printed' }),
  { ...write.user(10, null, 'look'), isSidechain: true, agentId: 'agent' },
  write.boundary(11, 9, { preservedSegment: { headUuid: 'x' } }),
  write.summary(12, 11, 'sum'),
  write.says(13, 12, 'm3', 'on'),
  { type: 'custom-title', customTitle: 'title', sessionId: SESSION },
  { type: 'last-prompt', leafUuid: 'x', sessionId: SESSION },
].map((row) => JSON.stringify(row));

/** Values as a file may hold them, as text: some say more than a value of JavaScript can. */
const VALUES = `null true 0 -0 1e400 9007199254740993 "" [] {} [[]] {"a":1,"a":2} {"__proto__":{"x":1},"constructor":1}
  "user" "assistant" "system" "tool_use" "tool_result" "A" "__proto__" "\\ud83d" "\\ud83e" "a\\u0000b" "2026-13-99"
  [{"type":"text"}] [{"type":"document","source":null}] [{"type":"tool_use","id":"A","name":"T","input":{}}]
  [{"type":"tool_use","id":"B","input":1e400}] [{"type":"tool_result","tool_use_id":"A","content":"z"}]
  ${'['.repeat(300)}${']'.repeat(300)} ${'{"a":'.repeat(140)}1${'}'.repeat(140)} "${'x'.repeat(600)}"`.split(/\s+/);

type Mutation = (lines: string[]) => void;

const at = fc.nat({ max: 40 });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  at.map(
    (line): Mutation =>
      (lines) =>
        void lines.splice(line % lines.length, 1),
  ),
  fc.tuple(at, at).map(
    ([from, to]): Mutation =>
      (lines) =>
        void lines.splice(to % lines.length, 0, lines[from % lines.length] ?? ''),
  ),
  fc
    .tuple(at, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean())
    .map(([line, share, isGlued]): Mutation => (lines) => {
      const index = line % lines.length;
      const text = lines[index] ?? '';
      const torn = text.slice(0, Math.floor(text.length * share));
      lines.splice(index, isGlued ? 2 : 1, isGlued ? `${torn}${lines[index + 1] ?? ''}` : torn);
    }),
  fc
    .tuple(at, fc.constantFrom('', ' ', '\ufeff', 'null', '42', '[]', '\0\0\0', '{"uuid":7}', 'x\0{"type":"mode"}'))
    .map(
      ([line, text]): Mutation =>
        (lines) =>
          void lines.splice(line % lines.length, 0, text),
    ),
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(at, fc.nat(), fc.option(fc.constantFrom(...VALUES), { freq: 6 }))
      .map(([line, member, value]): Mutation => (lines) => {
        const index = line % lines.length;
        lines[index] = changed(lines[index] ?? '', member, value);
      }),
  ),
);

/** The line with one of its members, however deep, replaced or taken away. */
function changed(line: string, member: number, value: string | null): string {
  const row = parsed(line);
  if (!row) return line;
  const places: (readonly [Json, string])[] = [];
  const visit = (container: Json | undefined) => {
    if (typeof container !== 'object' || container === null) return;
    for (const [key, inner] of Object.entries(container)) {
      places.push([container, key]);
      visit(inner);
    }
  };
  visit(row);
  const [container, key] = places[member % places.length] ?? [];
  if (container === undefined || key === undefined) return line;
  if (value === null) Reflect.deleteProperty(container as object, key);
  else setOwn(container as Record<string, Json>, key, 'VALUE');
  return JSON.stringify(row).replace('"VALUE"', () => value ?? '');
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line.trim()) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

async function rowsOf(target: MemoryTarget, ids: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(ids.map((id) => target.rows(id)))).flat();
}

test('whatever happens to a session file, its whole records come back, and the report accounts for the rest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 6 }), fc.boolean(), async (mutations, isEnded) => {
      const lines = [...LINES];
      for (const mutate of mutations) if (lines.length > 1) mutate(lines);
      const file = `${lines.join('\n')}${isEnded ? '\n' : ''}`;
      const target = new MemoryTarget();
      const report = await importClaudeCode(target, bytesOf(file));
      const [one] = report.files;
      if (!one) throw new Error('a file has its report');
      expect(report.refused).toEqual([]);
      expect(one.lines).toBe(one.blank + one.damaged + one.records - one.salvaged);
      expect(one.records).toBe(one.imported + one.opaque + one.repeated + one.unusable);
      if (report.conversations.length === 0) return;
      const rows = await rowsOf(
        target,
        report.conversations.map(({ conversationId }) => conversationId),
      );
      expect(rows).toHaveLength(one.imported + one.opaque);
      const whole = new Set(sorted(lines.flatMap((line) => parsed(line) ?? [])));
      expect([...whole].filter((row) => !rows.includes(row))).toEqual([]);
      expect(rows.filter((row) => !whole.has(row)).length).toBeLessThanOrEqual(one.salvaged);
      const before = await target.backend.feed('imports', 0, 1e6);
      await importClaudeCode(target, bytesOf(file));
      expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
    }),
    { numRuns: 120 },
  );
});
