import type { Change } from '../../core/change.ts';
import type { Message } from '../../core/read/message.ts';
import { partsText } from '../../core/search-text.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, same } from '../check.ts';
import { answers, append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

/** Words of many scripts, each with a trap: one character long, wildcards, syntax of search engines, no spaces. */
const WORDS = [
  'deploy 🔥 done',
  'การประชุมพรุ่งนี้บ่ายสาม',
  '明天下午三点开会讨论',
  '修改youer服务端的计划',
  'multi-agent NEAR the end',
  '50% off foo_bar',
  'naïve café',
  'C++ and go',
  'ab',
  "don't panic",
  'path Downloads/transcripts',
  'say "hi" (now)',
  'straße STRASSE',
  'ＡＢＣ fullwidth',
  'family 👨‍👩‍👧 emoji',
  '100x axb',
  'back\\slash and ^caret* {brace} [x] ~tilde',
  'ΑΒΓ ς Σ σ',
  'İstanbul ISTANBUL ıI',
  'KELVIN \u212a',
  'e\u0301 is not é',
  'tab\there',
  '\ud83d alone',
] as const;

const QUERIES: readonly (readonly [query: string, ...places: readonly number[]])[] = [
  ['🔥', 1],
  ['三点', 3],
  ['点', 3],
  ['youer', 4],
  ['YOUER服', 4],
  ['NEAR', 5],
  ['near the', 5],
  ['50%', 6],
  ['%', 6],
  ['_', 6],
  ['C++', 8],
  ['ab', 9, 22],
  ["don't", 10],
  ['"hi"', 12],
  ['a_b'],
  ['*', 17],
  ['col:x'],
  ['\\', 17],
  ['^', 17],
  ['AND', 8, 17],
  ['multi-agent', 5],
  ['-agent', 5],
  ['(now)', 12],
  ['STRASSE', 13],
  ['straße', 13],
  ['ẞE', 13],
  ['ß', 13],
  ['ａｂｃ', 14],
  ['👩', 15],
  ['👨‍👩‍👧', 15],
  ['บ่าย', 2],
  ['บ', 2],
  ['axb', 16],
  ['A%b'],
  ['x a', 16],
  ['αβγ', 18],
  ['σ', 18],
  ['ς', 18],
  ['istanbul', 19],
  ['kelvin k', 20],
  ['é', 7, 21],
  ['e\u0301', 21],
  ['b\th', 22],
  ['\ud83d', 23],
  ['d Alone'],
  ['\ud83d ALONE', 23],
  ['CAFÉ', 7],
  ['NOT x'],
  [']', 17],
  ['OR'],
  ['.'],
  ['?'],
];

async function playWords(store: Store): Promise<void> {
  for (const [at, words] of WORDS.entries()) await store.commit('c', [append(says('user', words, `${at + 1}`))]);
}

async function find(store: Store, text: string, limit = 100): Promise<readonly string[]> {
  return findIn(await store.readSpace(), text, limit);
}

async function findIn(space: Namespace, text: string, limit = 100): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await space.search(text, { limit, after });
    for (const hit of page.hits) found.push(`${hit.conversationId}/${hit.messageId ?? 'title'}`);
    if (page.next === null) return found;
    after = page.next;
  }
}

const literal = (text: string): RegExp => new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'iu');

/** What a scan finds: another way to fold, over what another way of reading answers. */
async function scan(space: Namespace, text: string): Promise<readonly string[]> {
  const pattern = literal(text);
  const found = new Set<string>();
  for await (const info of space.conversations()) {
    const conversation = space.conversation(info.conversationId);
    if (info.title !== null && pattern.test(info.title)) found.add(`${info.conversationId}/title`);
    const leaves = [null, ...(await conversation.graph()).map((turn) => turn.turnId)];
    for (const leaf of leaves) {
      for await (const message of conversation.read({ leaf }))
        if (isHit(message, info.conversationId, pattern)) found.add(`${info.conversationId}/${message.messageId}`);
    }
  }
  return [...found].sort();
}

/** In a namespace a message counts once, where its owner lives. */
function isHit(message: Message, conversationId: string, pattern: RegExp): boolean {
  return (
    message.conversationId === conversationId &&
    message.redaction === undefined &&
    pattern.test(partsText(message.parts))
  );
}

/** Numbers that look like chance and are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

const ALPHABET = [
  'a',
  'B',
  'ß',
  's',
  'S',
  'é',
  'e',
  '\u0301',
  'ı',
  'İ',
  'i',
  'K',
  '\u212a',
  '明',
  '天',
  '🔥',
  '👨',
  '\u200d',
  ' ',
  '-',
  '%',
  '_',
  "'",
  '*',
  'σ',
  'ς',
  '1',
  'ﬁ',
  'Ａ',
  'ａ',
  'บ',
  '่',
];

function randomText(next: (below: number) => number, length: number): string {
  return Array.from({ length }, () => ALPHABET[next(ALPHABET.length)]).join('');
}

export const search: readonly ConformanceCase[] = [
  given('R4', 'it finds every text where it stands, and nowhere else', async (store) => {
    await playWords(store);
    const space = await store.readSpace();
    for (const [query, ...places] of QUERIES) {
      const found = await findIn(space, query);
      same(found.toSorted(), places.map((place) => `c/${place}`).toSorted(), `the hits of ${JSON.stringify(query)}`);
    }
  }),
  given('R4', 'a blank text finds nothing', async (store) => {
    await playWords(store);
    for (const query of ['', ' ', '\t', '\u3000', '\n'])
      same(await find(store, query), [], `hits of ${JSON.stringify(query)}`);
  }),
  given('R4', 'it finds what a scan finds, by random texts of every length', async (store) => {
    const next = numbers(7);
    for (let at = 0; at < 60; at++) {
      const id = `c${next(5)}`;
      await store.commit(id, [append(says('user', randomText(next, 1 + next(40))))]);
      if (at % 9 === 0) await store.commit(id, [{ kind: 'conversation.update', title: randomText(next, 12) }]);
    }
    const space = await store.readSpace();
    let hits = 0;
    for (let at = 0; at < 60; at++) {
      const query = randomText(next, 1 + (at % 4));
      if (query.trim() === '') continue;
      const found = await findIn(space, query, 7);
      same(found.toSorted(), await scan(space, query), `the hits of ${JSON.stringify(query)}`);
      hits += found.length;
    }
    holds(hits > 50, 'this case finds something');
  }),
  given('R4', 'hits come newest first, in pages of every size, each once', async (store) => {
    for (let at = 0; at < 30; at++)
      await store.commit(`c${at % 3}`, [append(says('user', `needle ${at}`, `n${at}`)), append(says('user', 'hay'))]);
    const expected = Array.from({ length: 30 }, (_, at) => `c${(29 - at) % 3}/n${29 - at}`);
    for (const limit of [1, 7, 29, 30, 31]) same(await find(store, 'needle', limit), expected, `pages of ${limit}`);
  }),
  given('R4', 'a page holds no more than its limit, also within one commit of many hits', async (store) => {
    const turn: Change[] = [{ kind: 'turn.record', origin: 'test' }];
    for (let at = 0; at < 9; at++) turn.push(append(says('user', `needle ${at}`, `n${at}`)));
    await store.commit('c', [append(says('user', 'needle before', 'before'))]);
    await store.commit('c', turn);
    await store.commit('c', [{ kind: 'turn.record', origin: 'test' }, append(says('user', 'a needle after', 'after'))]);
    const expected = ['c/after', ...Array.from({ length: 9 }, (_, at) => `c/n${8 - at}`), 'c/before'];
    const space = await store.readSpace();
    for (const limit of [1, 2, 3, 5, 10, 11]) {
      same(await find(store, 'needle', limit), expected, `pages of ${limit}`);
      const { hits } = await space.search('needle', { limit });
      same(hits.length, limit, 'the hits of the first page');
    }
  }),
  given('R4', 'it finds a text at once, and across many commits', async (store) => {
    for (let at = 0; at < 300; at++)
      await store.commit('c', [append(says('user', at === 3 ? 'an early needle' : `hay ${at}`, `n${at}`))]);
    same(await find(store, 'NEEDLE'), ['c/n3'], 'the hits');
    await store.commit('c', [append(says('user', 'a late needle', 'last'))]);
    same(await find(store, 'needle'), ['c/last', 'c/n3'], 'the hits later');
  }),
  given('R4', 'it finds what a commit says once words of it were redacted', async (store) => {
    await store.commit('c', [append(says('user', 'a needle', 'a')), append(says('user', 'another needle', 'b'))]);
    same(await find(store, 'needle'), ['c/b', 'c/a'], 'the hits');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'a', reason: 'a name' }]);
    same(await find(store, 'needle'), ['c/b'], 'the hits without what was redacted');
  }),
  given(
    'R4',
    'it looks into text, reasoning, refusals, tool names, inputs, outputs, sources and titles',
    async (store) => {
      await store.commit('c', [
        { kind: 'conversation.create', title: 'titleneedle' },
        { kind: 'turn.submit', turnId: 't', prompt: [{ type: 'text', text: 'promptneedle' }], messageId: 'p' },
        append(
          {
            role: 'assistant',
            messageId: 'x',
            parts: [
              { type: 'reasoning', text: 'reasoningneedle' },
              { type: 'refusal', text: 'refusalneedle' },
              { type: 'tool_call', callId: 'k', name: 'nameneedle', input: { keyneedle: ['valueneedle', 4711] } },
              { type: 'source', sourceId: 's', title: 'sourceneedle' },
            ],
          },
          't',
        ),
        append({
          role: 'tool',
          messageId: 'y',
          parts: [
            { type: 'tool_result', callId: 'k', status: 'ok', content: [{ type: 'text', text: 'outputneedle' }] },
          ],
        }),
      ]);
      const expected = {
        titleneedle: ['c/title'],
        promptneedle: ['c/p'],
        reasoningneedle: ['c/x'],
        refusalneedle: ['c/x'],
        nameneedle: ['c/x'],
        keyneedle: ['c/x'],
        valueneedle: ['c/x'],
        '4711': ['c/x'],
        sourceneedle: ['c/x'],
        outputneedle: ['c/y'],
      };
      for (const [query, hits] of Object.entries(expected))
        same(await find(store, query), hits, `the hits of ${query}`);
      await store.commit('c', [{ kind: 'conversation.update', title: 'other' }]);
      same(await find(store, 'titleneedle'), [], 'hits of a title that was replaced');
    },
  ),
  given('R4', 'a snippet shows the match, and never half a character', async (store) => {
    for (let length = 0; length < 60; length += 7)
      await store.commit('c', [
        append(says('user', `${'🔥'.repeat(100)}${'x'.repeat(length)}NEEDLE${'x'.repeat(length)}${'🔥'.repeat(100)}`)),
      ]);
    const { hits } = await (await store.readSpace()).search('needle');
    for (const { snippet, matchStart, matchLength } of hits) {
      same(snippet.slice(matchStart, matchStart + matchLength), 'NEEDLE', 'the match');
      holds(snippet.isWellFormed(), 'a snippet ends in half a character');
    }
  }),
  given('R4', 'in a conversation it looks at all paths, or at one', async (store) => {
    await play(store, 'idle', 'c');
    await play(store, 'idle', 'other');
    await store.commit(
      'c',
      [
        { kind: 'turn.record', turnId: 'r', parent: { turnId: 't1' }, origin: 'x' },
        append(says('user', 'a question on a branch', 'b')),
      ],
      { expect: { graphRevision: 4 } },
    );
    const conversation = await store.look('c');
    const ids = async (leaf?: string) =>
      (await conversation.search('question', leaf === undefined ? {} : { leaf })).hits.map((hit) => hit.messageId);
    same(await ids(), ['b', 'm3', 'm1'], 'on all paths');
    same(await ids('r'), ['b', 'm1'], 'on the path to r');
    same(await ids('t2'), ['m3', 'm1'], 'on the path to t2');
  }),
  given('R4', 'a fork finds what it inherits, and what it says itself', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]);
    await store.commit('f', [
      { kind: 'turn.record', turnId: 'r', origin: 'x' },
      append(says('user', 'a question of the fork', 'f1')),
    ]);
    await store.commit('c', [
      { kind: 'turn.record', turnId: 'r', origin: 'x' },
      append(says('user', 'a question of the source', 's1')),
    ]);
    same(
      (await (await store.look('f')).search('question')).hits.map((hit) => hit.messageId),
      ['f1', 'm1'],
      'what the fork finds',
    );
    same(
      (await (await store.look('c')).search('question')).hits.map((hit) => hit.messageId),
      ['s1', 'm3', 'm1'],
      'what the source finds',
    );
    same(await find(store, 'question'), ['c/s1', 'f/f1', 'c/m3', 'c/m1'], 'what the namespace finds');
  }),
  given('R4', 'what was redacted or erased is found no more', async (store) => {
    await play(store, 'idle', 'c');
    await play(store, 'idle', 'd');
    await store.commit('c', [
      { kind: 'message.redact', messageId: 'm1', reason: 'r', replacement: [{ type: 'text', text: 'a replacement' }] },
    ]);
    same(await find(store, 'first question'), ['d/m1'], 'after the redaction');
    same(await find(store, 'replacement'), ['c/m1'], 'the replacement');
    await store.commit('d', [{ kind: 'conversation.erase' }]);
    same(await find(store, 'question'), ['c/m3'], 'after the erasure');
    await (await store.space()).collect();
    same(await find(store, 'question'), ['c/m3'], 'after the collection');
    await (await store.backend()).rebuild();
    same(await find(store, 'question'), ['c/m3'], 'after a rebuild');
  }),
  given('R4', 'a late result is found in its turn', async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('c', [
      append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l9', name: 'f' }] }, 't3'),
      { kind: 'turn.advance', turnId: 't3', to: 'completed' },
    ]);
    await store.commit('c', [append(answers('l9', 'late'))]);
    const [hit] = (await (await store.readSpace()).search('found l9')).hits;
    same([hit?.messageId, hit?.turnId, hit?.sequence], ['late', 't3', 8], 'the hit');
  }),
];
