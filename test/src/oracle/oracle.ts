import type { ChangeEvent, Commit, ConversationId, Envelope, Expect, Json, MemoryId, Receipt } from 'turnkeep/core';
import { filesReferredTo } from './attachments.ts';
import { apply } from './changes/index.ts';
import { checkFence } from './changes/attempt.ts';
import { settle } from './changes/operation.ts';
import { checkParents, descendants } from './changes/sub-agent.ts';
import { Draft } from './draft.ts';
import { newConversation, withMember } from './model.ts';
import type { Conversation, Memory, Spent, Tombstone } from './model.ts';
import { lastSequenceOn, pathTo } from './path.ts';
import { refuse } from './refusal.ts';

/**
 * Turnkeep by definition: what every commit is answered and what every reading sees, said as plainly as it can be said
 * and as slowly. A fork is a copy of the path that it was cut from, every reading is a filter over everything, and there
 * are no branches, no ranges, no rows. The library must agree with it on every random history that `main.ts` makes up.
 */
export class Oracle {
  readonly #conversations = new Map<ConversationId, Conversation | Tombstone>();
  /** All usage that was ever recorded: what was paid is paid, whatever is erased. */
  readonly spent: Spent[] = [];
  memories: ReadonlyMap<MemoryId, Memory> = new Map();
  /** The digests of files that were put, or that somebody refers to. */
  attachments: ReadonlySet<string> = new Set();

  /** Answers the receipt, or throws a `Refusal` and has changed nothing. */
  commit(envelope: Envelope): Receipt {
    const { commit } = envelope;
    const known = this.#conversations.get(commit.conversationId);
    if (known && 'erasedAt' in known) return commitToErased(known, commit);
    const replay = known && (commitReplay(known, envelope) ?? operationReplay(known, commit));
    if (replay) return { ...replay, replayed: true };
    const draft = new Draft(this, envelope, known ?? newConversation(commit.conversationId, envelope.now));
    if (commit.fence) checkFence(draft, commit.fence);
    if (commit.expect) checkExpect(draft.conversation, commit.expect);
    checkParents(draft);
    const events = commit.changes.map((change, index) => {
      draft.index = index;
      return apply(draft, change);
    });
    settle(draft);
    return this.#accept(draft, envelope, events);
  }

  /** From here on the commit is seen by all: the conversation counts it, and words that it took away are gone. */
  #accept(draft: Draft, envelope: Envelope, events: readonly ChangeEvent[]): Receipt {
    const { commit, now } = envelope;
    const { commitId, conversationId } = commit;
    const before = draft.conversation;
    const version = before.version + 1;
    const committedAt = new Date(now).toISOString();
    const receipt = {
      commitId,
      conversationId,
      version,
      graphRevision: before.graphRevision,
      committedAt,
      events,
      replayed: false,
    };
    for (const [words, redaction] of draft.redactions) Object.assign(words, { content: null, redaction });
    this.spent.push(...draft.spent);
    this.memories = draft.memories;
    const erases = commit.changes[0]?.kind === 'conversation.erase';
    for (const one of erases ? descendants(this, before) : [])
      this.#conversations.set(one.conversationId, tombstone(one, now));
    const moments = [
      ...before.moments,
      { receipt, asked: envelope.contentDigest, leaf: before.leaf, words: draft.words },
    ];
    const after = { ...before, version, moments, versions: withMember(before.versions, commitId, version) };
    this.#conversations.set(conversationId, erases ? tombstone(after, now) : after);
    return receipt;
  }

  put(digest: string): void {
    this.attachments = new Set([...this.attachments, digest]);
  }

  /** Files that nobody can see any words of are gone. */
  collectAttachments(): void {
    const referredTo = filesReferredTo(this.everyLiving());
    this.attachments = new Set([...this.attachments].filter((digest) => referredTo.has(digest)));
  }

  /**
   * Words that a living conversation said before the commit which brought the oldest of its newest messages, so many of
   * them, are cool from here on, whoever shows them.
   */
  cool(hotMessages: number): void {
    for (const { conversationId, messages, moments } of this.everyLiving()) {
      if (messages.length <= hotMessages) continue;
      const newest = messages.toSorted((left, right) => right.sequence - left.sequence);
      const oldestHot = newest[hotMessages - 1]?.stamp.version ?? Infinity;
      const said = moments.slice(0, oldestHot - 1).flatMap(({ words }) => words);
      for (const words of said) if (words.conversationId === conversationId) words.isCool = true;
    }
  }

  /** The conversation; `conversation_not_found` or `erased` where it does not live. */
  living(conversationId: ConversationId): Conversation {
    const conversation = this.#conversations.get(conversationId);
    if (!conversation) return refuse('conversation_not_found', { conversationId });
    return 'erasedAt' in conversation ? refuseErased(conversation) : conversation;
  }

  find(conversationId: ConversationId): Conversation | Tombstone | undefined {
    return this.#conversations.get(conversationId);
  }

  everyLiving(): readonly Conversation[] {
    return this.all().filter((conversation) => !('erasedAt' in conversation)) as readonly Conversation[];
  }

  all(): readonly (Conversation | Tombstone)[] {
    return [...this.#conversations.values()];
  }
}

/** To erase what was erased changes nothing and says when it was done; anything else is refused. */
function commitToErased(tombstone: Tombstone, commit: Commit): Receipt {
  const isErasure = commit.changes.length === 1 && commit.changes[0]?.kind === 'conversation.erase';
  if (!isErasure) return refuseErased(tombstone);
  const { conversationId, version, graphRevision } = tombstone;
  const committedAt = new Date(tombstone.erasedAt).toISOString();
  const events = [{ kind: 'conversation.erase' as const }];
  return { commitId: commit.commitId, conversationId, version, graphRevision, committedAt, events, replayed: true };
}

function refuseErased({ conversationId, erasedAt }: Tombstone): never {
  return refuse('erased', { conversationId, erasedAt: new Date(erasedAt).toISOString() });
}

/** Nothing of it is left but that it was there. */
function tombstone(conversation: Conversation, now: number): Tombstone {
  const { conversationId, version, graphRevision, createdAt, lastActivityAt } = conversation;
  return { conversationId, version, graphRevision, createdAt, lastActivityAt, erasedAt: now };
}

/**
 * A commit sent twice is done once; the same id with other content is refused. Once words that it said were taken away,
 * nothing may tell whether some other words are those: its id alone answers.
 */
function commitReplay(conversation: Conversation, envelope: Envelope): Receipt | undefined {
  const { commitId } = envelope.commit;
  const moment = conversation.moments[(conversation.versions.get(commitId) ?? 0) - 1];
  const isWhole = moment?.words.every((words) => words.content !== null);
  if (moment && isWhole && moment.asked !== envelope.contentDigest) refuse('commit_id_reused', { commitId });
  return moment?.receipt;
}

/** A repeated operation is answered what its first commit was answered, before anything else is checked. */
function operationReplay(conversation: Conversation, commit: Commit): Receipt | undefined {
  for (const change of commit.changes) {
    const operationId = change.kind === 'turn.submit' ? change.operationId : undefined;
    if (operationId === undefined) continue;
    // An input that waits, or waited, is the operation that it will become.
    const { operations, inputs } = conversation;
    const acceptedAt = operations.get(operationId)?.openedAt ?? inputs.get(operationId)?.cameAt;
    if (acceptedAt !== undefined) return conversation.moments[acceptedAt - 1]?.receipt;
  }
  return undefined;
}

/** What the caller saw must still be so. */
function checkExpect(conversation: Conversation, expect: Expect): void {
  const { version, graphRevision, leaf } = conversation;
  same('version', expect.version, version);
  same('graphRevision', expect.graphRevision, graphRevision);
  same('leaf', expect.leaf, leaf);
  if (!expect.transcript) return;
  const { turn, lastSequence } = expect.transcript;
  same('transcript.lastSequence', lastSequence, lastSequenceOn(pathTo(conversation, turn)));
}

function same(field: string, expected: Json | undefined, actual: Json): void {
  if (expected !== undefined && expected !== actual) refuse('conflict', { field, expected, actual });
}
