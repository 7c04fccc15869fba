import { again, brokenInvariant, everyQuestion, exhaustively, someQuestions } from './asking.ts';
import { FILES, withFile } from './attachments.ts';
import type { Shelving } from './attachments.ts';
import { count, countErasure, countPlayed } from './coverage.ts';
import type { Coverage } from './coverage.ts';
import { Generator } from './generate.ts';
import { inOrder } from './same.ts';
import type { Conversation } from './model.ts';
import { messagesOn, notesOn, pathTo, visibleTurns } from './path.ts';
import type { Pin } from './questions.ts';
import { Random } from './random.ts';
import type { Item } from './trace.ts';
import { World } from './world.ts';
import type { Difference, Played, Subject } from './world.ts';

export interface Driven {
  readonly operations: number;
  readonly comparisons: number;
  readonly trace: readonly Item[];
  readonly difference?: Difference | undefined;
}

/** A random history of so many commits, told to the oracle and to a store, until they differ. */
export async function drive(seed: number, operations: number, subject: Subject, coverage: Coverage): Promise<Driven> {
  const opened = await subject.open();
  try {
    return await new Drive(seed, new World(opened.backend, subject.without), coverage).run(operations);
  } finally {
    await opened.close();
  }
}

const ALL_EVERY = 40;
const MOST_PINS = 200;
const COOLED_EVERY = 25;
const SHELVED_EVERY = 4;

class Drive {
  readonly #world: World;
  readonly #generator: Generator;
  readonly #random: Random;
  readonly #cooling: Random;
  readonly #shelving: Random;
  readonly #coverage: Coverage;
  readonly #trace: Item[] = [];
  readonly #pins: { conversation: string; pin: Pin }[] = [];

  constructor(seed: number, world: World, coverage: Coverage) {
    this.#world = world;
    this.#generator = new Generator(seed, world.oracle);
    this.#random = new Random(seed + 0x5eed);
    this.#cooling = new Random(seed + 0xc001);
    this.#shelving = new Random(seed + 0xf11e);
    this.#coverage = coverage;
  }

  async run(operations: number): Promise<Driven> {
    let difference: Difference | undefined;
    while (this.#trace.length < operations && !difference) difference = await this.#step();
    const { comparisons } = this.#world;
    return { operations: this.#trace.length, comparisons, trace: this.#trace, difference };
  }

  /** One commit, and questions about what it was to change and what it was not. */
  async #step(): Promise<Difference | undefined> {
    const { oracle } = this.#world;
    const next = this.#generator.next();
    const commit = withFile(next.commit);
    const item = { ...next, commit, cool: this.#coolingNow(), shelving: this.#shelvingNow() };
    this.#trace.push(item);
    const before = oracle.find(item.commit.conversationId);
    if (item.commit.changes[0]?.kind === 'conversation.erase' && before && !('erasedAt' in before)) {
      countErasure(this.#coverage, oracle, before);
    }
    const dump = this.#random.oneIn(20) ? await this.#dump(item) : undefined;
    const played = await this.#world.play(item);
    if (played.difference) return played.difference;
    countPlayed(this.#coverage, oracle, played);
    return (await this.#unchanged(item, played, dump)) ?? this.#compare(item, played);
  }

  /** Now and then all that may cool does, but for a few messages. */
  #coolingNow(): number | undefined {
    if (!this.#cooling.oneIn(COOLED_EVERY)) return undefined;
    count(this.#coverage, 'cooling');
    return this.#cooling.below(6);
  }

  /** Now and then a file is put, and sometimes what nothing refers to is collected. */
  #shelvingNow(): Shelving | undefined {
    if (!this.#shelving.oneIn(SHELVED_EVERY)) return undefined;
    if (this.#shelving.oneIn(3)) {
      count(this.#coverage, 'collection of files');
      return 'collect';
    }
    return { put: this.#shelving.below(FILES.length) };
  }

  async #compare(item: Item, played: Played): Promise<Difference | undefined> {
    const { oracle } = this.#world;
    const conversation = oracle.find(item.commit.conversationId);
    if (!conversation) return undefined;
    const erased = 'erasedAt' in conversation;
    const all = erased || this.#trace.length % ALL_EVERY === 0;
    const questions = all ? everyQuestion(oracle) : someQuestions(this.#random, conversation);
    const difference = (await this.#world.compare(questions)) ?? (await this.#comparePin());
    if (difference || erased) return difference;
    await this.#pin(conversation);
    return this.#invariants(conversation, item, played);
  }

  #invariants(conversation: Conversation, item: Item, played: Played): Difference | undefined {
    const about = brokenInvariant(conversation) ?? this.#forkStartsElsewhere(conversation, item, played);
    return about === undefined ? undefined : { about, oracle: '', store: '' };
  }

  /** A fork at the end of its source's active path starts with exactly its source's context and messages. */
  #forkStartsElsewhere(fork: Conversation, item: Item, played: Played): string | undefined {
    const [first, ...others] = item.commit.changes;
    if (first?.kind !== 'conversation.fork' || others.length > 0 || played.outcome.refused !== undefined)
      return undefined;
    const source = this.#world.oracle.find(first.source);
    if (!source || 'erasedAt' in source || played.outcome.replayed === true) return undefined;
    const path = pathTo(source, source.leaf);
    const lastTurn = path.findLastIndex((step) => step.turn !== null);
    const end = path.findLastIndex((step) => step.messages.length > 0);
    if (messagesOn(path).at(-1)?.messageId !== first.at || end < lastTurn) return undefined;
    count(this.#coverage, 'fork at the end of the active path');
    const told = (steps: typeof path) => inOrder([messagesOn(steps).map((one) => one.messageId), [...notesOn(steps)]]);
    return told(path) === told(pathTo(fork, fork.leaf))
      ? undefined
      : 'a fork does not start with the context of its source';
  }

  /** Begins a reading in pages that is gone on with long after. */
  async #pin(conversation: Conversation): Promise<void> {
    if (!this.#random.oneIn(3)) return;
    const leaf =
      this.#random.pick([conversation.leaf, ...visibleTurns(conversation).map((turn) => turn.turnId)]) ?? null;
    const limit = 1 + this.#random.below(3);
    const { conversationId } = conversation;
    const cursor = await this.#world.store.pageCursor(conversationId, leaf, limit);
    const messageId = messagesOn(pathTo(conversation, leaf))[limit - 1]?.messageId;
    if (!cursor || messageId === undefined) return;
    this.#pins.push({
      conversation: conversationId,
      pin: { leaf, lastSequence: conversation.lastSequence, messageId, cursor },
    });
    if (this.#pins.length > MOST_PINS) this.#pins.splice(this.#random.below(MOST_PINS), 1);
  }

  async #comparePin(): Promise<Difference | undefined> {
    const pinned = this.#random.pick(this.#pins);
    const conversation = pinned && this.#world.oracle.find(pinned.conversation);
    if (!pinned || !conversation || 'erasedAt' in conversation) return undefined;
    count(this.#coverage, 'pinned reading');
    return this.#world.compare(again(pinned.conversation, pinned.pin));
  }

  async #dump(item: Item): Promise<string> {
    const source = item.commit.changes[0]?.kind === 'conversation.fork' ? [item.commit.changes[0].source] : [];
    return this.#world.store.dump([item.commit.conversationId, ...source]);
  }

  /** I4: a commit that was refused, or replayed, leaves every row and byte as it was. */
  async #unchanged(item: Item, played: Played, before: string | undefined): Promise<Difference | undefined> {
    const { refused, replayed } = played.outcome;
    if (before === undefined || (refused === undefined && replayed !== true)) return undefined;
    count(this.#coverage, 'rows compared around a refusal or a replay');
    const after = await this.#dump(item);
    return before === after
      ? undefined
      : { about: 'I4: a refused commit changed something', oracle: before, store: after };
  }
}

/** The difference that a trace leads to, every question asked at its end; or where an outcome differs. */
export async function replay(trace: readonly Item[], subject: Subject): Promise<Difference | undefined> {
  const opened = await subject.open();
  const world = new World(opened.backend, subject.without);
  const pins: { conversation: string; pin: Pin }[] = [];
  try {
    for (const item of trace) {
      const { difference } = await world.play(item);
      if (difference) return difference;
      pins.push(...(await shortPins(world, item)));
    }
    const broken = world.oracle
      .everyLiving()
      .map(brokenInvariant)
      .find((about) => about !== undefined);
    return broken === undefined
      ? await world.compare(exhaustively(world.oracle, pins))
      : { about: broken, oracle: '', store: '' };
  } finally {
    await opened.close();
  }
}

/** A pin after the first message of each path of the conversation that was written to. */
async function shortPins(world: World, item: Item): Promise<readonly { conversation: string; pin: Pin }[]> {
  const conversation = world.oracle.find(item.commit.conversationId);
  if (!conversation || 'erasedAt' in conversation) return [];
  const { conversationId, lastSequence } = conversation;
  const pins = [];
  for (const leaf of [null, ...visibleTurns(conversation).map((turn) => turn.turnId)]) {
    const cursor = await world.store.pageCursor(conversationId, leaf, 1);
    const messageId = messagesOn(pathTo(conversation, leaf))[0]?.messageId;
    if (cursor && messageId !== undefined)
      pins.push({ conversation: conversationId, pin: { leaf, lastSequence, messageId, cursor } });
  }
  return pins;
}
