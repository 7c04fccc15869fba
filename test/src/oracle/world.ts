import { hash } from 'node:crypto';
import { isTurnkeepError, prepareCommit } from 'turnkeep/core';
import type { Backend, Commit, Surroundings } from 'turnkeep/core';
import { DIGESTS, FILES } from './attachments.ts';
import type { Shelving } from './attachments.ts';
import { Oracle } from './oracle.ts';
import type { Question } from './questions.ts';
import { answerOf } from './reads.ts';
import { Refusal } from './refusal.ts';
import { inOrder } from './same.ts';
import { Store, withoutRecord } from './store.ts';
import { commitOf } from './trace.ts';
import type { Item } from './trace.ts';

export const NAMESPACE = 'oracle';
export const sha256 = (text: string): string => hash('sha256', text, 'base64url');

/** A backend under test, and what lets go of it. */
export interface Opened {
  readonly backend: Backend;
  readonly close: () => Promise<void>;
}

export type Open = () => Promise<Opened>;

/** What is compared with the oracle. */
export interface Subject {
  readonly open: Open;
  readonly without?: readonly string[] | undefined;
}

/** Where the oracle and the store do not agree. */
export interface Difference {
  readonly about: string;
  readonly oracle: string;
  readonly store: string;
  /** The question that they answer differently, where it was one. */
  readonly question?: Question | undefined;
}

export interface Played {
  readonly commit: Commit;
  /** A receipt, or `{ refused, … }` with the error's details. */
  readonly outcome: { readonly refused?: string; readonly replayed?: boolean };
  readonly difference?: Difference | undefined;
}

/** The oracle and a store that are told the same. */
export class World {
  readonly oracle: Oracle = new Oracle();
  readonly store: Store;
  comparisons = 0;
  /** Kinds of questions that are left out, to look past a difference that is known. */
  readonly #without: ReadonlySet<string>;
  #nonces = 0;
  #now = 0;

  constructor(backend: Backend, without: readonly string[] = []) {
    this.#without = new Set(without);
    this.store = new Store(backend, NAMESPACE, this.#surroundings);
  }

  get #surroundings(): Surroundings {
    return { sha256, now: () => this.#now, nonce: () => this.#nonce() };
  }

  /** 16 bytes that follow from their number. */
  #nonce(): string {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32BE(++this.#nonces);
    return bytes.toString('base64url');
  }

  /** Sends a commit to both, removes at once what an erasure leaves, and compares what they answer. */
  async play(item: Item): Promise<Played> {
    const commit = commitOf(item, this.oracle.find(item.commit.conversationId));
    this.#now = item.now;
    const cooled = await this.#cool(item.cool);
    const shelved = await this.#shelve(item.shelving);
    const envelope = prepareCommit(commit, this.#surroundings);
    const expected = outcomeOfOracle(() => this.oracle.commit(envelope));
    const actual = await outcomeOfStore(async () => {
      const receipt = await this.store.backend.commit(envelope);
      return { ...receipt, events: receipt.events.map(withoutRecord) };
    });
    const erases = commit.changes[0]?.kind === 'conversation.erase' && !('refused' in expected);
    const collected = erases ? await outcomeOfStore(() => this.store.backend.collect(NAMESPACE)) : 0;
    const about = `the outcome of ${commit.changes.map((change) => change.kind).join(', ')}`;
    return {
      commit,
      outcome: expected,
      difference: this.#difference(about, expected, actual) ?? cooled ?? shelved ?? broken(collected),
    };
  }

  /** Cooling changes nothing but tiers, and never fails. */
  async #cool(hotMessages: number | undefined): Promise<Difference | undefined> {
    if (hotMessages === undefined) return undefined;
    this.oracle.cool(hotMessages);
    return broken(await outcomeOfStore(() => this.store.backend.cool(NAMESPACE, { hotMessages })), 'the cooling');
  }

  /** Puts a file, or collects, and compares which files are there. */
  async #shelve(shelving: Shelving | undefined): Promise<Difference | undefined> {
    if (shelving === undefined) return undefined;
    if (shelving === 'collect') {
      this.oracle.collectAttachments();
      const grace = { now: this.#now, graceMs: 0 };
      const collected = await outcomeOfStore(() => this.store.backend.attachments.collect(NAMESPACE, grace));
      const failure = broken(collected, 'the collection of files');
      if (failure) return failure;
    } else {
      this.oracle.put(DIGESTS[shelving.put] ?? '');
      await this.store.put(FILES[shelving.put] ?? Buffer.alloc(0));
    }
    const expected = DIGESTS.filter((digest) => this.oracle.attachments.has(digest));
    return this.#difference('the files that are there', expected, await this.store.filesAmong(DIGESTS));
  }

  /** The first question that they answer differently. */
  async compare(asked: readonly Question[]): Promise<Difference | undefined> {
    const questions = asked.filter((question) => !this.#without.has(question.ask));
    const answers = await this.store.answer(questions);
    for (const [at, question] of questions.entries()) {
      const expected = outcomeOfOracle(() => answerOf(this.oracle, question));
      const difference = this.#difference(`the answer to ${JSON.stringify(question)}`, expected, answers[at]);
      if (difference) return { ...difference, question };
    }
    return undefined;
  }

  #difference(about: string, expected: unknown, actual: unknown): Difference | undefined {
    this.comparisons += 1;
    const oracle = inOrder(expected);
    const store = inOrder(actual);
    return oracle === store ? undefined : { about, oracle, store };
  }
}

/** Maintenance never fails. */
function broken(answer: unknown, about = 'the removal of what was erased'): Difference | undefined {
  return typeof answer === 'number' ? undefined : { about, oracle: 'done', store: inOrder(answer) };
}

function outcomeOfOracle(ask: () => unknown): Played['outcome'] {
  try {
    return ask() as Played['outcome'];
  } catch (error) {
    if (error instanceof Refusal) return refused(error.code, error.details);
    throw error;
  }
}

async function outcomeOfStore(ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    // What is no error of the library's is a difference too: the oracle never breaks.
    return isTurnkeepError(error) ? refused(error.code, error.details) : { broken: String(error) };
  }
}

/** The reason is for people, and each says it in his own words. */
function refused(code: string, details: object) {
  return { refused: code, ...details, reason: undefined };
}
