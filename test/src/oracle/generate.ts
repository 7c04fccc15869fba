import type { Change, Commit, ConversationId, Expect, Fence } from 'turnkeep/core';
import { changesAtRandom } from './changes-at-random.ts';
import type { Conversation } from './model.ts';
import type { Oracle } from './oracle.ts';
import { lastSequenceOn, messagesOn, pathTo, visibleMessages } from './path.ts';
import { Random } from './random.ts';
import type { Item } from './trace.ts';
import { isTerminal, stateOf } from './turn-states.ts';
import { NAMESPACE } from './world.ts';

const MOST_CONVERSATIONS = 9;
const SOME_TIME = 1_700_000_000_000;

/** Makes up histories: what it says next follows from the seed and from what the oracle knows. */
export class Generator {
  readonly random: Random;
  readonly oracle: Oracle;
  readonly #past: Commit[] = [];
  #ids = 0;
  #clock = SOME_TIME;
  #attention: ConversationId | undefined;

  constructor(seed: number, oracle: Oracle) {
    this.random = new Random(seed);
    this.oracle = oracle;
  }

  /** An id that was not there before. */
  fresh(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${this.#ids}`;
  }

  /** Some earlier id, or one of the future. */
  known(prefix: string): string {
    return `${prefix}${1 + this.random.below(this.#ids + 2)}`;
  }

  /** The next commit. */
  next(): Item {
    const { random } = this;
    // Now and then the clock goes back.
    this.#clock += random.oneIn(9) ? -random.below(5_000) : random.below(1_000);
    const living = this.oracle.everyLiving();
    const replay = random.oneIn(25) ? this.#replay() : undefined;
    const item = replay ?? this.#commit(living);
    this.#past.push(item.commit);
    return { ...item, now: this.#clock };
  }

  #commit(living: readonly Conversation[]): Omit<Item, 'now'> {
    const { random } = this;
    const conversation = this.#attended(living);
    if (!conversation || (living.length < 3 && random.oneIn(15))) return this.#create();
    if (living.length > 3 && random.oneIn(60)) return this.#erase(living);
    if (living.length < MOST_CONVERSATIONS && random.oneIn(18))
      return this.#fork(conversation) ?? this.#change(conversation);
    if (living.length < MOST_CONVERSATIONS && random.oneIn(20))
      return this.#spawn(conversation) ?? this.#change(conversation);
    if (random.oneIn(90)) return this.#toTheErased() ?? this.#change(conversation);
    return this.#change(conversation);
  }

  /** Mostly one conversation for a while, so that trees grow. */
  #attended(living: readonly Conversation[]): Conversation | undefined {
    const { random } = this;
    if (random.oneIn(20) || !living.some((one) => one.conversationId === this.#attention)) {
      this.#attention = random.pick(living)?.conversationId;
    }
    return random.oneIn(4) ? random.pick(living) : living.find((one) => one.conversationId === this.#attention);
  }

  #item(conversationId: ConversationId, changes: readonly Change[], rest: Partial<Commit> = {}): Omit<Item, 'now'> {
    const commit = { commitId: this.fresh('k'), namespace: NAMESPACE, conversationId, changes, ...rest };
    return { commit, sawIt: false };
  }

  #create(): Omit<Item, 'now'> {
    const { random } = this;
    const id = random.oneIn(20) ? this.known('c') : this.fresh('c');
    // A conversation begins with its first commit, whatever that is.
    if (random.oneIn(3)) return this.#item(id, [{ kind: 'state.update', objective: this.fresh('w') }]);
    return this.#item(id, [{ kind: 'conversation.create', title: `${this.fresh('w')} title`, owner: 'ann' }]);
  }

  #change(conversation: Conversation): Omit<Item, 'now'> {
    const changes = changesAtRandom(this, conversation);
    const { expect, sawIt } = this.#expect(conversation, changes);
    const fence = this.#fence(conversation, changes);
    const rest = { ...(expect ? { expect } : {}), ...(fence ? { fence } : {}) };
    return { ...this.#item(conversation.conversationId, changes, rest), sawIt };
  }

  /** What the caller saw: mostly what is, wherever it is asked for. */
  #expect(conversation: Conversation, changes: readonly Change[]): { expect?: Expect; sawIt: boolean } {
    const { random } = this;
    const { version, graphRevision, leaf } = conversation;
    const named = changes.some(
      (change) => change.kind === 'leaf.select' || ('parent' in change && change.parent !== undefined),
    );
    const summary = changes.some((change) => change.kind === 'summary.commit');
    const off = random.oneIn(12) ? 1 : 0;
    const lastSequence = lastSequenceOn(pathTo(conversation, leaf)) + off;
    const expect: Expect = {
      ...((named && !random.oneIn(25)) || random.oneIn(10) ? { graphRevision: graphRevision + off } : {}),
      ...((summary && !random.oneIn(25)) || random.oneIn(20) ? { transcript: { turn: leaf, lastSequence } } : {}),
      ...(random.oneIn(20) ? { version: version + off } : {}),
      ...(random.oneIn(20) ? { leaf: off ? this.known('t') : leaf } : {}),
    };
    return Object.keys(expect).length > 0 ? { expect, sawIt: off === 0 } : { sawIt: false };
  }

  /** The fence of a turn that an attempt holds: mostly the one that it was given last. */
  #fence(conversation: Conversation, changes: readonly Change[]): Fence | undefined {
    const { random } = this;
    const named = new Set(changes.flatMap((change) => ('turnId' in change && change.turnId) || []));
    const held = conversation.turns.filter(
      (turn) => turn.attempt && (named.has(turn.turnId) || turn.turnId === conversation.leaf),
    );
    const attempt = random.pick(held)?.attempt;
    if (random.oneIn(150)) return { attempt: this.known('a'), token: 1 + random.below(3) };
    if (!attempt || random.oneIn(6)) return undefined;
    return { ...attempt, token: attempt.token - (random.oneIn(12) ? 1 : 0) };
  }

  /** A fork, mostly at the last message of the active path or at a message that the source inherits. */
  #fork(source: Conversation): Omit<Item, 'now'> | undefined {
    const { random } = this;
    const ends = messagesOn(pathTo(source, source.leaf)).slice(-1);
    const inherited = source.inherited.flatMap((step) => step.messages);
    const at = random.pick(
      random.pick([ends, inherited.length > 0 ? inherited : ends, visibleMessages(source), visibleMessages(source)]),
    );
    if (!at) return undefined;
    const id = random.oneIn(30) ? this.known('c') : this.fresh('c');
    const first: Change = { kind: 'conversation.fork', source: source.conversationId, at: at.messageId };
    const fields = random.oneIn(3) ? { title: `${this.fresh('w')} fork` } : {};
    const more: readonly Change[] = random.oneIn(4) ? [{ kind: 'state.update', objective: this.fresh('w') }] : [];
    return this.#item(id, [{ ...first, ...fields }, ...more]);
  }

  /** A sub-agent, mostly under a turn that has not ended. */
  #spawn(above: Conversation): Omit<Item, 'now'> | undefined {
    const { random } = this;
    const open = above.turns.filter((turn) => !isTerminal(stateOf(turn)));
    const turn = random.pick(random.oneIn(6) ? above.turns : open);
    if (!turn) return undefined;
    const { turnId } = turn;
    const calls = above.messages.filter((message) => message.turnId === turnId).flatMap((message) => message.calls);
    const callId = random.oneIn(9) ? 'x9' : random.pick(calls);
    const parent = { conversationId: above.conversationId, turnId, ...(callId === undefined ? {} : { callId }) };
    const fields = random.oneIn(3) ? { title: `${this.fresh('w')} agent`, agent: 'finder' } : {};
    const id = random.oneIn(30) ? this.known('c') : this.fresh('c');
    return this.#item(id, [{ kind: 'conversation.spawn', parent, ...fields }]);
  }

  /** An erasure, mostly of a conversation between others: one that was forked and is a fork. */
  #erase(living: readonly Conversation[]): Omit<Item, 'now'> {
    const { random } = this;
    const sources = new Set(living.map((one) => one.source));
    const related = living.filter((one) => sources.has(one.conversationId));
    const between = related.filter((one) => one.source !== null);
    const target = random.pick(random.pick([between, between, related, living])) ?? random.pick(living);
    const more: readonly Change[] = random.oneIn(15) ? [{ kind: 'state.update', objective: 'x' }] : [];
    return this.#item(target?.conversationId ?? 'c1', [{ kind: 'conversation.erase' }, ...more]);
  }

  #toTheErased(): Omit<Item, 'now'> | undefined {
    const { random } = this;
    const erased = random.pick(this.oracle.all().filter((one) => 'erasedAt' in one));
    if (!erased) return undefined;
    const { conversationId } = erased;
    const kinds: readonly [Change, Change] = [{ kind: 'conversation.erase' }, { kind: 'state.update', objective: 'x' }];
    const fork: Change = { kind: 'conversation.fork', source: conversationId, at: this.known('m') };
    return random.oneIn(3) ? this.#item(this.fresh('c'), [fork]) : this.#item(conversationId, [random.pick(kinds)]);
  }

  /** A commit that was sent before; sometimes with other content, sometimes only its operation. */
  #replay(): Omit<Item, 'now'> | undefined {
    const { random } = this;
    const commit = random.pick(this.#past);
    if (!commit || random.below(5) > 0) return commit && { commit, sawIt: false };
    const submits = commit.changes.some((change) => change.kind === 'turn.submit');
    if (submits) return { commit: { ...commit, commitId: this.fresh('k') }, sawIt: false };
    return {
      commit: { ...commit, changes: [...commit.changes, { kind: 'state.update', objective: 'x' }] },
      sawIt: false,
    };
  }
}
