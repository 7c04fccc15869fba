import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ledgerOver, NAMESPACE, TestSchema, turn } from '../postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

const WORDS = [
  '100% sure_thing',
  'back\\slash',
  'İstanbul',
  '你好世界',
  '🔥 fire',
  'NUL \u0000 inside',
  'half \ud83d alone',
  'a "quote"',
];
const QUERIES = [
  '100%',
  '_',
  '%',
  'k\\s',
  'ISTAN',
  'stan',
  '好',
  '🔥',
  '\u0000',
  'NUL \u0000 in',
  '\ud83d',
  '"q',
  'nothing of the kind',
];

describe.each(['index', 'scan'] as const)('search by %s', (search) => {
  it('finds what a scan in memory finds, newest first, page by page', async () => {
    const backend = await schema.open({ search });
    for (const [at, words] of WORDS.entries()) await backend.commit(turn(`c${at % 3}`, words));
    const namespace = ledgerOver(backend).namespace(NAMESPACE);
    for (const query of QUERIES) {
      const expected = WORDS.flatMap((words, at) => (foldedIncludes(words, query) ? [`c${at % 3}`, `c${at % 3}`] : []));
      const found: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await namespace.search(query, { limit: 2, after });
        found.push(...page.hits.map(({ conversationId }) => conversationId));
        if (page.next === null) break;
        after = page.next;
      }
      expect([query, found]).toEqual([query, expected.toReversed()]);
    }
  });

  it('finds what else a commit says once one of its messages is redacted', async () => {
    const backend = await schema.open({ search });
    const namespace = ledgerOver(backend).namespace(NAMESPACE);
    const conversation = namespace.conversation('c');
    await backend.commit(turn('c', 'needle'));
    const { hits } = await namespace.search('needle');
    expect(hits.map(({ sequence }) => sequence)).toEqual([2, 1]);
    await conversation.redact(hits[1]?.messageId ?? '', { reason: 'a name' });
    expect((await namespace.search('needle')).hits.map(({ sequence }) => sequence)).toEqual([2]);
    await conversation.redact(hits[0]?.messageId ?? '', { reason: 'a name' });
    expect((await namespace.search('needle')).hits).toEqual([]);
  });

  it.each(['words = replace(words, $1, $1 || $1)', 'seals = left(seals, -3) || $1'])(
    'tells of a commit whose %s, since nobody knows what it said',
    async (damage) => {
      const backend = await schema.open({ search });
      await backend.commit(turn('whole', 'needle'));
      await backend.commit(turn('damaged', 'needle'));
      const client = await schema.client();
      const where = `WHERE words LIKE '%needle%' AND c = (SELECT c FROM "${schema.name}".heads WHERE id = 'damaged')`;
      await client.query(`UPDATE "${schema.name}".log SET ${damage} ${where}`, ['needle']);
      const namespace = ledgerOver(backend).namespace(NAMESPACE);
      for (const query of ['needle', 'nothing of the kind']) {
        const page = await namespace.search(query);
        const found = query === 'needle' ? ['whole', 'whole'] : [];
        expect(page.hits.map(({ conversationId }) => conversationId)).toEqual(found);
        expect(page.damage).toMatchObject(page.damage.map(() => ({ conversationId: 'damaged', version: 1 })));
        expect(page.damage).not.toEqual([]);
      }
    },
  );
});

/** What the words of these tests need of folding: `İ` folds to itself, and half of a pair matches only alone. */
function foldedIncludes(text: string, query: string): boolean {
  const fold = (value: string): string => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (query === '\ud83d') return text.includes('\ud83d alone');
  return fold(text).includes(fold(query));
}
