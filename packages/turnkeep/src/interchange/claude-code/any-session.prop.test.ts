import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Message } from '../../core/read/message.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { openLedger } from '../../ledger/open.ts';
import type { ImportReport } from '../report.ts';
import { anySession } from './any-session.testkit.ts';
import { importClaudeCode } from './import.ts';
import { rowsOfMessages } from './message.ts';
import { isObject } from './row.ts';
import { bytesOf, sorted } from './session.testkit.ts';

/**
 * The law, in a store that people use: whatever a session file holds and whatever happened to it, and in whatever stages it
 * came, every row that is whole comes back equal and once, nothing else does, every word of its dialogue is found by a search
 * or the report tells of its line, the same file again and older stages of it change nothing, and the store verifies.
 */
const WORD = /w\d+z/g;

interface WholeLine {
  readonly line: number;
  readonly row: JsonObject;
  readonly text: string;
}

/** The lines that are a record, with nothing to be salvaged. */
function wholeLines(lines: readonly Buffer[]): readonly WholeLine[] {
  return lines.flatMap((data, at) => {
    const text = data
      .toString()
      .trim()
      .replace(/^\ufeff/, '');
    const isText = !data.includes(0) && Buffer.from(data.toString()).equals(data);
    const row = isText ? parsed(text) : undefined;
    return isObject(row) ? [{ line: at + 1, row, text }] : [];
  });
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The words that a row says in dialogue. */
function saidIn({ row }: WholeLine): readonly string[] {
  if (typeof row['uuid'] !== 'string') return [];
  if (row['type'] === 'system') return wordsIn(row['content']);
  const content = isObject(row['message']) ? row['message']['content'] : undefined;
  const blocks = Array.isArray(content) ? (content as readonly Json[]) : [];
  return [...(typeof content === 'string' ? wordsIn(content) : []), ...blocks.flatMap(saidInBlock)];
}

function saidInBlock(block: Json): readonly string[] {
  if (!isObject(block)) return [];
  const said = {
    text: block['text'],
    thinking: block['thinking'],
    tool_use: block['input'],
    tool_result: block['content'],
  };
  const type = block['type'];
  return typeof type === 'string' && Object.hasOwn(said, type) ? wordsIn(said[type as keyof typeof said]) : [];
}

function wordsIn(value: unknown): readonly string[] {
  return JSON.stringify(value ?? '').match(WORD) ?? [];
}

/** Every message of the conversations, whatever branch it stands on. */
async function messagesOf(
  namespace: Namespace,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Message[]>> {
  const all = new Map<string, readonly Message[]>();
  for (const id of ids) {
    const conversation = namespace.conversation(id);
    const found = new Map<string, Message>();
    for await (const { events } of conversation.watch({ untilNow: true })) {
      for (const event of events) {
        if (event.kind !== 'message.append' || 'noop' in event) continue;
        const answer = await conversation.message(event.messageId);
        if (answer.status !== 'found_verified') throw new Error(answer.status);
        found.set(event.messageId, answer.message);
      }
    }
    all.set(id, [...found.values()]);
  }
  return all;
}

/** Lines of which something was kept as an opaque part or as its own text: a search does not find it, the report tells. */
function toldLines(report: ImportReport): ReadonlySet<number> {
  return new Set(report.files.flatMap(({ notes }) => notes.map(({ line }) => line)));
}

function fileOf(lines: readonly Buffer[], isEnded = true): Buffer {
  const end = Buffer.from('\n');
  return Buffer.concat(lines.flatMap((line, at) => (at === lines.length - 1 && !isEnded ? [line] : [line, end])));
}

test('any session file, in any stages, is there once and whole, is found, and verifies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (drawn) => {
      const { lines, stages, isEnded } = anySession((end) => drawn(fc.nat, { max: end - 1 }));
      const ledger = await openLedger('memory:');
      const namespace = ledger.namespace('imports');
      const ids = new Set<string>();
      const told = new Set<string>();
      const imported = async (file: readonly Buffer[], ended?: boolean) => {
        const report = await importClaudeCode(namespace, bytesOf(fileOf(file, ended)));
        expect(report.refused).toEqual([]);
        for (const { conversationId } of report.conversations) ids.add(conversationId);
        const lineNumbers = toldLines(report);
        for (const [at, line] of file.entries())
          if (lineNumbers.has(at + 1)) wordsIn(line.toString()).forEach((word) => told.add(word));
        return report;
      };
      const versions = async () => {
        const infos = [...ids].map((id) => namespace.conversation(id).info());
        return (await Promise.all(infos)).map(({ version }) => version);
      };

      for (const stage of stages) await imported(lines.slice(0, stage));
      const [file] = (await imported(lines, isEnded)).files;
      if (!file) throw new Error('a file has its report');
      expect(file.lines).toBe(file.blank + file.damaged + file.records - file.salvaged);
      expect(file.records).toBe(file.imported + file.opaque + file.repeated + file.unusable);

      const whole = file.conversationIds.length > 0 ? wholeLines(lines) : [];
      const messages = await messagesOf(namespace, ids);
      const there = [...messages.values()].map((some) => sorted(rowsOfMessages(some)));
      const known = new Set(sorted(whole.map(({ row }) => row)));
      expect([...known].filter((row) => !there.flat().includes(row))).toEqual([]);
      for (const rows of there) {
        const named = rows.filter((row) => row.includes('"uuid":"'));
        expect(named).toHaveLength(new Set(named).size);
      }
      // A stage may end within a row that is whole later.
      const isGrown = stages.length > 0;
      const others = there.flat().filter((row) => !known.has(row)).length;
      expect(isGrown || others <= file.salvaged).toBe(true);

      for (const word of whole.flatMap(saidIn).filter((one) => !told.has(one)))
        expect({ word, hits: (await namespace.search(word)).hits }).not.toEqual({ word, hits: [] });
      const before = await versions();
      await imported(lines, isEnded);
      for (const stage of stages) await imported(lines.slice(0, stage));
      expect(await versions()).toEqual(before);
      expect((await ledger.verify()).faults).toEqual([]);
      await ledger.close();
    }),
    { numRuns: 150 },
  );
});
