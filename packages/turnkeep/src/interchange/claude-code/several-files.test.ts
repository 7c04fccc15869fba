import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import { importClaudeCode } from './import.ts';
import { jsonl, MemoryTarget, SESSION, SessionWriter, sorted, withFiles } from './session.testkit.ts';

/** Sessions whose rows stand in several files, which may be imported in any order, and at the same time. */
const OTHER = SESSION.replace(/.$/, 'b');
const write = new SessionWriter();
const other = new SessionWriter(OTHER);
const begun = [write.user(1, null, 'one'), write.says(2, 1, 'm1', 'two'), write.user(3, 2, 'three')];
const forked = begun.map((row) => ({
  ...row,
  sessionId: OTHER,
  forkedFrom: { sessionId: SESSION, messageUuid: row['uuid'] ?? '' },
}));

type Files = { readonly [path: string]: readonly JsonObject[] };

const CASES: { readonly [what: string]: Files } = {
  'one session that grew in two folders, each in its own way': {
    [`here/${SESSION}.jsonl`]: [...begun, write.says(4, 3, 'm2', 'here'), write.user(5, 4, 'and here')],
    [`there/${SESSION}.jsonl`]: [...begun, write.says(6, 3, 'm3', 'there'), write.user(7, 6, 'and there')],
  },
  'a session that begins with rows of another, under that one’s name': {
    [`${SESSION}.jsonl`]: begun,
    [`${OTHER}.jsonl`]: [...begun, other.says(8, 3, 'm4', 'goes on')],
  },
  'a fork, which has its rows under its own name': {
    [`${SESSION}.jsonl`]: [...begun, write.says(4, 3, 'm2', 'the first')],
    [`${OTHER}.jsonl`]: [...forked, other.says(9, 3, 'm5', 'the fork')],
  },
};

const WAYS: { readonly [how: string]: (target: MemoryTarget, paths: readonly string[]) => Promise<unknown> } = {
  'by folder': async (target, paths) => importClaudeCode(target, paths),
  'one by one': async (target, paths) => {
    for (const path of paths) await importClaudeCode(target, [path]);
  },
  'the last first': async (target, paths) => {
    for (const path of paths.toReversed()) await importClaudeCode(target, [path]);
  },
  'at the same time': async (target, paths) =>
    Promise.all([...paths, ...paths].map(async (path) => importClaudeCode(target, [path]))),
};

const EACH = Object.keys(CASES).flatMap((what) => Object.keys(WAYS).map((how) => [what, how] as const));

test.each(EACH)('%s, imported %s, has each row of its files once', async (what, how) => {
  const files = CASES[what] ?? {};
  await withFiles(
    Object.fromEntries(Object.entries(files).map(([path, rows]) => [path, jsonl(rows)])),
    async (folder) => {
      const target = new MemoryTarget();
      const paths = Object.keys(files).map((path) => join(folder, path));
      await WAYS[how]?.(target, paths);
      const { files: reports, conversations, refused } = await importClaudeCode(target, paths);

      expect(refused).toEqual([]);
      expect(conversations.map(({ commits, replayed }) => commits - replayed)).toEqual(conversations.map(() => 0));
      const wanted = new Map<string, Set<string>>();
      for (const { file, conversationIds } of reports) {
        const [id = ''] = conversationIds;
        const rows = wanted.get(id) ?? new Set();
        sorted(files[file.slice(folder.length + 1)] ?? []).forEach((row) => rows.add(row));
        wanted.set(id, rows);
      }
      for (const [id, rows] of wanted) expect(await target.rows(id)).toEqual([...rows].sort());
    },
  );
});
