import type { MemoryUpsert } from '../core/change.ts';
import { TurnkeepError } from '../core/errors.ts';
import { assertId } from '../core/ids.ts';
import type { MemoryId, NamespaceId } from '../core/ids.ts';
import { Bodies } from '../core/read/bodies.ts';
import { memoryAt, readMemories, readMemory } from '../core/read/memories.ts';
import type { Memory } from '../core/read/memories.ts';
import { countTerms, scoresOf } from '../core/read/memory-rank.ts';
import type { Receipt } from '../core/receipt.ts';
import type { Access, WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import {
  anything,
  assertChecked,
  assertFits,
  assertPageLimit,
  assertQuery,
  callback,
  count,
  text,
  withFields,
} from './given.ts';
import type { Checks } from './given.ts';
import { eventOf } from './receipt-event.ts';

/** A memory that was written. */
export interface WrittenMemory extends Receipt {
  readonly memoryId: MemoryId;
  /** Pass it as `from` for the next change. */
  readonly revision: number;
}

export type MemoryWords = Omit<MemoryUpsert, 'kind' | 'memoryId' | 'from' | 'text'> & { readonly text: string };

/** The memories made in a conversation: its messages are their sources, and they go when it is erased. */
export class ConversationMemories {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /** A new memory of the namespace, of revision 0. `sources` are messages that the conversation sees. */
  async create(
    memory: MemoryWords & { readonly memoryId?: MemoryId | undefined },
    options?: WriteOptions,
  ): Promise<WrittenMemory> {
    return written(await this.#access.write([withFields(memory, 'memory', { kind: 'memory.upsert' })], options));
  }

  /** Replaces a memory whole, wherever it was made, from exactly the revision that was read. */
  async replace(memoryId: MemoryId, from: number, memory: MemoryWords, options?: WriteOptions): Promise<WrittenMemory> {
    assertFits(from, count, 'from'); // without a revision it would be a new memory
    const upsert = withFields(memory, 'memory', { kind: 'memory.upsert', memoryId, from });
    return written(await this.#access.write([upsert], options));
  }

  /** Forgets a memory: the words of all its revisions are removed. */
  async forget(memoryId: MemoryId, from: number, options?: WriteOptions): Promise<Receipt> {
    return this.#access.write([{ kind: 'memory.upsert', memoryId, from, text: null }], options);
  }
}

function written(receipt: Receipt): WrittenMemory {
  const event = eventOf(receipt, 'memory.upsert');
  if ('forgotten' in event) throw new TurnkeepError('commit_id_reused', { commitId: receipt.commitId });
  return { ...receipt, memoryId: event.memoryId, revision: event.revision };
}

/** Which memories: those that fit all that is said. */
export interface MemoryFilter {
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
}

/** One vector for each text, in their order, all of one length. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

export interface MemorySearch extends MemoryFilter {
  /** 10 when absent. */
  readonly limit?: number | undefined;
  /**
   * Texts as vectors: the query's first, then each memory's. Then a memory is found by its words, by its vector, or by
   * both, and its rank is that of both (reciprocal ranks). Nothing of it is stored: keep what is expensive to compute.
   */
  readonly embed?: Embed | undefined;
}

/** A memory that was found, the best first. Scores compare within one search only. */
export interface FoundMemory extends Memory {
  readonly score: number;
}

const FILTER: Checks<MemoryFilter> = { type: text, subject: text };
// A limit is checked elsewhere, with its own errors.
const SEARCH: Checks<MemorySearch> = { ...FILTER, limit: anything, embed: callback };
const GET: Checks<{ readonly revision?: number | undefined }> = { revision: count };

/** The memories of a namespace. Every reading is of one snapshot; a search reads all of them. */
export class NamespaceMemories {
  readonly #access: Access;
  readonly #namespace: NamespaceId;

  constructor(access: Access, namespace: NamespaceId) {
    this.#access = access;
    this.#namespace = namespace;
  }

  /** A memory as it is, or as an earlier revision was; `undefined` if it is forgotten or never existed. */
  async get(memoryId: MemoryId, options: { readonly revision?: number | undefined } = {}): Promise<Memory | undefined> {
    assertId(memoryId, 'memoryId');
    assertChecked(options, GET);
    return this.#read((bodies) => readMemory(bodies, memoryId, options.revision));
  }

  /** All memories, in the order in which they were made, whatever the clock said. `LIMITS.memories` at most. */
  async list(filter: MemoryFilter = {}): Promise<readonly Memory[]> {
    assertChecked(filter, FILTER, 'filter');
    const all = await this.#read(readMemories);
    return all.filter((memory) => fits(memory, filter));
  }

  /**
   * The memories that answer a query best, in any language and script: by BM25 over words (pairs of characters in scripts
   * without spaces), case folded; equal ranks in the order in which they were made. A query has at most
   * `LIMITS.queryBytes`. Only those that have a term of the query are found, unless vectors say more.
   */
  async search(query: string, options: MemorySearch = {}): Promise<readonly FoundMemory[]> {
    assertQuery(query, 'query');
    assertChecked(options, SEARCH);
    const { limit = 10, embed, ...filter } = options;
    assertPageLimit(limit);
    return embed ? this.#searchBySense(query, embed, filter, limit) : this.#searchByWords(query, filter, limit);
  }

  /** The words of memories that are not found are not read if an earlier search has counted their terms. */
  async #searchByWords(query: string, filter: MemoryFilter, limit: number): Promise<readonly FoundMemory[]> {
    const { memoryTerms } = this.#access;
    return this.#read((bodies) => {
      const known = memoryTerms.of(this.#namespace, bodies).filter((one) => fits(one, filter));
      const scores = scoresOf(known, query);
      return best(known, scores, limit).flatMap(({ item, score }) => {
        const memory = memoryAt(bodies, item.held);
        return memory ? [{ ...memory, score }] : [];
      });
    });
  }

  async #searchBySense(
    query: string,
    embed: Embed,
    filter: MemoryFilter,
    limit: number,
  ): Promise<readonly FoundMemory[]> {
    const memories = await this.list(filter);
    if (memories.length === 0) return [];
    const texts = memories.map((memory) => memory.text);
    const byWords = scoresOf(
      texts.map((one) => countTerms(one)),
      query,
    );
    const scores = fused(byWords, await similarities(embed, query, texts));
    return best(memories, scores, limit).map(({ item, score }) => ({ ...item, score }));
  }

  async #read<Result>(reading: (bodies: Bodies) => Result): Promise<Result> {
    return this.#access.read(this.#namespace, (rows) => reading(new Bodies(rows, this.#access.surroundings.sha256)));
  }
}

/** Those with a score, best first; equal scores in the order given. */
function best<Item>(
  items: readonly Item[],
  scores: readonly number[],
  limit: number,
): readonly { readonly item: Item; readonly score: number }[] {
  return items
    .flatMap((item, at) => {
      const score = scores[at] ?? 0;
      return score > 0 ? [{ item, score }] : [];
    })
    .sort((left, right) => right.score - left.score)
    .slice(0, limit);
}

function fits(memory: MemoryFilter, { type, subject }: MemoryFilter): boolean {
  return (type ?? memory.type) === memory.type && (subject ?? memory.subject) === memory.subject;
}

/** The cosine of each text's vector to the query's. */
async function similarities(embed: Embed, query: string, texts: readonly string[]): Promise<readonly number[]> {
  const vectors: unknown = await embed([query, ...texts]);
  if (!areVectors(vectors, texts.length + 1)) {
    throw new TurnkeepError('invalid_value', {
      path: 'options.embed',
      reason: 'expected one vector for each text',
    });
  }
  const [asked = [], ...rest] = vectors;
  return rest.map((vector) => dot(asked, vector) / (Math.sqrt(dot(asked, asked) * dot(vector, vector)) || 1));
}

/** True for the expected number of lists of numbers, all of the same length. */
function areVectors(vectors: unknown, length: number): vectors is readonly (readonly number[])[] {
  if (!Array.isArray(vectors) || vectors.length !== length || !vectors.every((vector) => Array.isArray(vector)))
    return false;
  const lists = vectors as readonly (readonly unknown[])[];
  return lists.every((vector) => vector.length === lists[0]?.length && vector.every(Number.isFinite));
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

/** Ranks count, not scores, since scores of words and of vectors have no common measure. The usual constant. */
const RANK_DAMPING = 60;

function fused(byWords: readonly number[], bySense: readonly number[]): readonly number[] {
  const words = reciprocalRanks(byWords);
  const sense = reciprocalRanks(bySense);
  return byWords.map((_, at) => (words[at] ?? 0) + (sense[at] ?? 0));
}

function reciprocalRanks(scores: readonly number[]): readonly number[] {
  const ranked = scores
    .map((score, at) => ({ score, at }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
  const ranks = scores.map(() => 0);
  for (const [rank, { at }] of ranked.entries()) ranks[at] = 1 / (RANK_DAMPING + rank + 1);
  return ranks;
}
