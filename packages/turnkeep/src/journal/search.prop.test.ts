import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Backend, Envelope } from '../core/backend.ts';
import { Ledger } from '../ledger/ledger.ts';
import { MemoryBackend } from '../memory/index.ts';
import { sha256 } from '../platform/hash.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { commitOf, opened, says, temporaryDirectory } from './journal.testkit.ts';

const SETTINGS = { foldCommits: 2, foldBytes: 1, segmentBytes: 12_000, filterBytes: 2_500, mergeRuns: 3 };
const CONVERSATIONS = ['a', 'b'] as const;

/** Units that fold, share codes, are escaped in a line, or stand for half a character. */
const unit = fc.constantFrom(...Array.from('aAbBßsS\u212akσςé明天三🔥👩"\\\n İ\u2028\u0085'), '\ud83d');
const text = fc.string({ unit, minLength: 1, maxLength: 24 });

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('say'), on: fc.constantFrom(...CONVERSATIONS), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('redact'), on: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('fold', 'cool', 'collect', 'reopen', 'lose', 'spoil') }) },
) as fc.Arbitrary<Step>;

type Step =
  | { readonly kind: 'say'; readonly on: string; readonly text: string }
  | { readonly kind: 'redact'; readonly on: number }
  | { readonly kind: 'fold' | 'cool' | 'collect' | 'reopen' | 'lose' | 'spoil' };

function filtersIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.words'))
    .map((name) => `${directory}/${name}`);
}

async function found(backend: Backend, query: string, conversation: string | undefined): Promise<readonly string[]> {
  const space = new Ledger(backend, systemSurroundings, mintCommitId).namespace('ns');
  const where = conversation === undefined ? space : space.conversation(conversation);
  const hits: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await where.search(query, { limit: 5, after });
    hits.push(
      ...page.hits.map(({ conversationId, messageId, snippet }) => `${conversationId} ${messageId} ${snippet}`),
    );
    if (page.next === null) return hits;
    after = page.next;
  }
}

test('I9: a search with filters finds what a scan of everything finds, whatever became of the filters', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60 }),
      fc.array(text, { minLength: 6 }),
      async (steps, queries) => {
        const directory = temporaryDirectory();
        let journal = await opened(directory, { settings: SETTINGS });
        const memory = new MemoryBackend(sha256);
        const said: (readonly [on: string, messageId: string])[] = [];
        const both = async (envelope: Envelope) => {
          await journal.commit(envelope);
          await memory.commit(envelope);
        };
        for (const [at, one] of steps.entries()) {
          if (one.kind === 'say') {
            said.push([one.on, `m${at}`]);
            await both(commitOf(one.on, `c${at}`, [says(`m${at}`, 'user', one.text)]));
          } else if (one.kind === 'redact') {
            const [on, messageId] = said.splice(one.on, 1)[0] ?? [];
            if (on === undefined || messageId === undefined) continue;
            await both(commitOf(on, `c${at}`, [{ kind: 'message.redact', messageId, reason: 'asked' }]));
          } else if (one.kind === 'reopen') {
            await journal.close();
            journal = await opened(directory, { settings: SETTINGS });
          } else await upset(one.kind, directory, journal);
        }
        await journal.catchUp();
        const pieces = queries.flatMap((query) => [query, query.slice(0, 1), query.slice(0, 2), query.slice(0, 3)]);
        for (const query of [...pieces, ...steps.flatMap((one) => (one.kind === 'say' ? one.text.slice(2, 10) : []))]) {
          for (const conversation of [undefined, ...said.slice(0, 1).map(([on]) => on)])
            expect(await found(journal, query, conversation)).toEqual(await found(memory, query, conversation));
        }
      },
    ),
    { numRuns: 12 },
  );
});

async function upset(kind: string, directory: string, journal: Awaited<ReturnType<typeof opened>>): Promise<void> {
  if (kind === 'fold') await journal.catchUp();
  if (kind === 'cool') await journal.cool('ns', { hotMessages: 3 });
  if (kind === 'collect') await journal.collect('ns');
  const [first, last] = [filtersIn(directory)[0], filtersIn(directory).at(-1)];
  if (kind === 'lose' && first !== undefined) rmSync(first);
  if (kind === 'spoil' && last !== undefined) writeFileSync(last, readFileSync(last).fill(0, 40, 3_000));
}
