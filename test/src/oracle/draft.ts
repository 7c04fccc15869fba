import type { Change, Commit, Envelope, JsonObject, MemoryId, TaskId, TurnId } from 'turnkeep/core';
import { filesIn } from './attachments.ts';
import { callsAndAnswers } from './calls.ts';
import type { Conversation, Memory, Message, Note, Redaction, Spent, Stamp, Turn, Words } from './model.ts';
import type { Oracle } from './oracle.ts';
import { noteOn, pathTo } from './path.ts';
import { refuse } from './refusal.ts';
import { isTerminal, stateOf } from './turn-states.ts';

/**
 * A commit at work. Each change turns the conversation into another one; what the commit began with stays as it was, so
 * that a refusal leaves nothing behind.
 */
export class Draft {
  readonly oracle: Oracle;
  readonly commit: Commit;
  /** Milliseconds. */
  readonly now: number;
  readonly redactions: Map<Words, Redaction> = new Map();
  /** The words that this commit says or repeats, and that somebody may take away. */
  readonly words: Words[] = [];
  /** What it records of usage. */
  readonly spent: Spent[] = [];
  /** Of the whole namespace. */
  memories: ReadonlyMap<MemoryId, Memory>;
  conversation: Conversation;
  /** The index of the change at work. */
  index = 0;
  /** The turn that this commit records: it has ended, and yet takes what follows it in its commit. */
  recording: TurnId | null = null;

  constructor(oracle: Oracle, envelope: Envelope, conversation: Conversation) {
    this.oracle = oracle;
    this.commit = envelope.commit;
    this.now = envelope.now;
    this.conversation = conversation;
    this.memories = oracle.memories;
  }

  get stamp(): Stamp {
    return { version: this.conversation.version + 1, index: this.index };
  }

  /** The place of the change at work, for a person. */
  get where(): string {
    return `commit.changes[${this.index}]`;
  }

  become(fields: Partial<Conversation>): void {
    this.conversation = { ...this.conversation, ...fields };
  }

  /** The conversation was active now; its last activity never goes back. */
  touch(): void {
    this.become({ lastActivityAt: Math.max(this.conversation.lastActivityAt, this.now) });
  }

  replaceTurn(turn: Turn): void {
    const turns = this.conversation.turns.map((known) => (known.turnId === turn.turnId ? turn : known));
    this.become({ turns });
  }

  addEntry(turnId: TurnId | null, note: Note): void {
    const { conversationId, entries } = this.conversation;
    this.become({ entries: [...entries, { conversationId, turnId, stamp: this.stamp, note }] });
  }

  /** A call id occurs once in a turn; a message's task is known on its path. The message gets the next sequence. */
  addMessage(message: NewMessage, taskId: TaskId | undefined): number {
    const { conversationId, messages, lastSequence } = this.conversation;
    const { calls, answers, answered } = callsAndAnswers(message.words.content);
    const { turnId } = message;
    for (const callId of calls) {
      const known = messages.some((other) => other.turnId === turnId && other.calls.includes(callId));
      if (known) refuse('call_exists', { callId, turnId });
    }
    if (taskId !== undefined && !noteOn(pathTo(this.conversation, turnId), `task:${taskId}`, 'task'))
      refuse('no_task', { taskId });
    this.words.push(message.words);
    const sequence = lastSequence + 1;
    const committedAt = new Date(this.now).toISOString();
    const place = { conversationId, sequence, stamp: this.stamp, committedAt, taskId: taskId ?? null };
    const placed = { ...message, ...place, calls, answers, answered };
    this.become({ messages: [...messages, placed], lastSequence: sequence });
    this.touch();
    return sequence;
  }

  /** Words that this commit says; `partsAt` is where their parts stand, which name only files that are there. */
  say(content: object, partsAt?: string): Words {
    if (partsAt !== undefined) {
      for (const { digest, path } of filesIn((content as JsonObject)['parts'], partsAt))
        if (!this.oracle.attachments.has(digest)) refuse('attachment_missing', { digest, path });
    }
    return { conversationId: this.conversation.conversationId, content: content as JsonObject, redaction: null };
  }

  /** The words as this commit sees them; `null` where they were taken away. */
  contentOf(words: Words): Words['content'] {
    return this.redactions.has(words) ? null : words.content;
  }

  hasEnded(turn: Turn): boolean {
    return isTerminal(stateOf(turn)) && this.recording !== turn.turnId;
  }

  /** A turn that an attempt holds is written only under that attempt's fence. */
  requireFence(turn: Turn): void {
    if (!turn.attempt || this.commit.fence?.attempt === turn.attempt.attempt) return;
    refuse('fence_required', { turnId: turn.turnId, change: this.where });
  }
}

export type NewMessage = Pick<Message, 'messageId' | 'turnId' | 'role' | 'words' | 'late'>;

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>;

/** The mark that a change leaves in its receipt. */
export type Mark = object;
