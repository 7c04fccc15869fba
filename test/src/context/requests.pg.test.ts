import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isTurnkeepError, openLedger } from 'turnkeep';
import type { ContextPolicy, Ledger } from 'turnkeep';
import { testPostgresUrl } from 'turnkeep/testing';
import { tell, told } from './conversations.testkit.ts';

/** What holds of requests is shown in memory (`requests.prop.test.ts`); every other backend makes the same requests. */

const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const;
const counter = { count: (text: string) => text.length };

const ledgers = new Map<string, Ledger>();
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnkeep-requests-'));
  const server = new URL(await testPostgresUrl());
  server.searchParams.set('schema', `requests_${randomUUID().slice(0, 8)}`);
  const urls = ['memory:', `sqlite:${join(folder, 'sqlite')}`, `journal:${join(folder, 'journal')}`, server.href];
  for (const url of urls) ledgers.set(url.slice(0, url.indexOf(':')), await openLedger(url));
});

afterAll(async () => {
  for (const ledger of ledgers.values()) await ledger.close();
  rmSync(folder, { recursive: true });
});

/** A request and what it says of itself, or the refusal: without ids, which are each store's own. */
async function answerOf(ledger: Ledger, id: string, policy: ContextPolicy): Promise<unknown> {
  try {
    const answer = await ledger.namespace('n').conversation(id).context(policy);
    if (answer.status !== 'ready') throw new Error('no summary was asked for');
    const { request, cacheBreakpoints, report } = answer;
    return { request, cacheBreakpoints, tokens: report.tokens, shown: report.shown };
  } catch (error) {
    if (isTurnkeepError(error)) return error.toData();
    throw error;
  }
}

test('every backend makes the requests of the one in memory', async () => {
  let count = 0;
  const compared = fc.asyncProperty(
    told,
    fc.integer({ min: 1, max: 30 }),
    fc.integer({ min: 60, max: 3_000 }),
    async (story, window, budgetTokens) => {
      const id = `c${(count += 1)}`;
      for (const ledger of ledgers.values()) await tell(ledger, id, story);
      for (const format of FORMATS) {
        for (const policy of [
          { budgetTokens: 50_000 },
          { budgetTokens: 50_000, window },
          { budgetTokens, window, notesTokens: 0 },
        ]) {
          const answers = new Map<string, unknown>();
          for (const [name, ledger] of ledgers) {
            answers.set(name, await answerOf(ledger, id, { format, counter, tools: [{ name: 'look' }], ...policy }));
          }
          const expected = answers.get('memory');
          for (const [name, answer] of answers) expect([name, answer]).toEqual([name, expected]);
        }
      }
    },
  );
  await fc.assert(compared, { numRuns: 8 });
  expect([...ledgers.keys()]).toEqual(['memory', 'sqlite', 'journal', 'postgres']);
}, 180_000);
