import type { ConversationId, MessageId, TurnId } from 'turnkeep/core';
import { isBefore } from './model.ts';
import type { Conversation, Message, Note, Stamp, Step, Turn } from './model.ts';
import { refuse } from './refusal.ts';

/**
 * What a path is, by definition.
 *
 * A path runs from the root to a leaf, turn by turn. Each step holds a turn with the messages and entries that the path
 * sees of it. A fork's paths begin with the steps that it copied; what the fork writes before its first turn (its tail)
 * is one more step without a turn, and belongs to the turn that the fork was cut at.
 */

/** Own messages and entries beyond these are not seen: a conversation as it was, a reading that is pinned. */
export interface Seen {
  readonly version?: number | undefined;
  readonly sequence?: number | undefined;
}

/** The steps from the root to a leaf; `null` is the root itself. */
export function pathTo(conversation: Conversation, leaf: TurnId | null, seen: Seen = {}): readonly Step[] {
  if (leaf === null) return [...conversation.inherited, ownStep(conversation, null, seen)];
  const turn = ownTurn(conversation, leaf);
  if (turn) return [...pathAbove(conversation, turn, seen), ownStep(conversation, turn, seen)];
  const at = conversation.inherited.findIndex((step) => step.turn?.turnId === leaf);
  if (at < 0) refuse('no_turn', { turnId: leaf });
  return inheritedWhole(conversation, at, seen);
}

/** All that a conversation itself wrote in a turn: messages by sequence, entries by stamp. */
function ownStep(conversation: Conversation, turn: Turn | null, seen: Seen): Step {
  const turnId = turn?.turnId ?? null;
  const { version = Infinity, sequence = Infinity } = seen;
  const messages = conversation.messages.filter(
    (message) => message.turnId === turnId && message.stamp.version <= version && message.sequence <= sequence,
  );
  const entries = conversation.entries.filter((entry) => entry.turnId === turnId && entry.stamp.version <= version);
  return { turn, messages, entries };
}

/** An inherited step whole: with the tails that follow it, this fork's own too where they reach that far. */
export function inheritedWhole(conversation: Conversation, at: number, seen: Seen = {}): readonly Step[] {
  const { inherited } = conversation;
  const next = inherited.findIndex((step, index) => index > at && step.turn !== null);
  return next < 0 ? pathTo(conversation, null, seen) : inherited.slice(0, next);
}

/** What a turn sees above itself. */
function pathAbove(conversation: Conversation, turn: Turn, seen: Seen): readonly Step[] {
  const { turnId, cut } = turn.under;
  if (cut) {
    const above = pathWithMessage(conversation, cut.messageId, seen);
    return withLast(above, (last) => ({
      ...last,
      messages: last.messages.filter((message) => message.sequence <= cut.sequence),
      entries: last.entries.filter((entry) =>
        cut.firstLeftOut ? isBefore(entry.stamp, cut.firstLeftOut) : isBelowBase(turn, entry),
      ),
    }));
  }
  const above = turnId === null ? pathToRoot(conversation, seen) : pathTo(conversation, turnId, seen);
  return withLast(above, (last) => ({ ...last, entries: last.entries.filter((entry) => isBelowBase(turn, entry)) }));
}

/**
 * A turn sees of its ancestors only what they wrote before it left `preparing` and `dispatching`. What it inherits is
 * older than any turn of its own.
 */
function isBelowBase(turn: Turn, entry: { readonly conversationId: ConversationId; readonly stamp: Stamp }): boolean {
  return turn.base === null || entry.conversationId !== turn.conversationId || isBefore(entry.stamp, turn.base);
}

/** The root that a first turn stands under: in a fork that inherits turns, the root that it inherits. */
function pathToRoot(conversation: Conversation, seen: Seen): readonly Step[] {
  return inheritsTurns(conversation) ? inheritedWhole(conversation, 0, seen) : pathTo(conversation, null, seen);
}

/** The path down to the step that holds a message, that step whole but without what follows it. */
export function pathWithMessage(conversation: Conversation, messageId: MessageId, seen: Seen = {}): readonly Step[] {
  const at = stepInherited(conversation, messageId);
  if (at >= 0) return conversation.inherited.slice(0, at + 1);
  return pathTo(conversation, findMessage(conversation, messageId)?.turnId ?? null, seen);
}

export function withLast(steps: readonly Step[], change: (last: Step) => Step): readonly Step[] {
  return steps.map((step, at) => (at === steps.length - 1 ? change(step) : step));
}

export function inheritsTurns(conversation: Conversation): boolean {
  return conversation.inherited.some((step) => step.turn !== null);
}

/** The turn that a fork was cut at: the last one that it inherits. */
export function cutTurn(conversation: Conversation): TurnId | null {
  return conversation.inherited.findLast((step) => step.turn !== null)?.turn?.turnId ?? null;
}

export function ownTurn(conversation: Conversation, turnId: TurnId): Turn | undefined {
  return conversation.turns.find((turn) => turn.turnId === turnId);
}

/** The turns that a conversation sees: those that it inherits, then its own as they were made. */
export function visibleTurns(conversation: Conversation): readonly Turn[] {
  return [...conversation.inherited.flatMap((step) => step.turn ?? []), ...conversation.turns];
}

export function findTurn(conversation: Conversation, turnId: TurnId): Turn | undefined {
  return visibleTurns(conversation).find((turn) => turn.turnId === turnId);
}

/** The messages that a conversation sees: those that it inherits, then its own by sequence. */
export function visibleMessages(conversation: Conversation): readonly Message[] {
  return [...conversation.inherited.flatMap((step) => step.messages), ...conversation.messages];
}

export function findMessage(conversation: Conversation, messageId: MessageId): Message | undefined {
  return visibleMessages(conversation).find((message) => message.messageId === messageId);
}

/** The index of the inherited step that holds a message; -1 where none does. */
export function stepInherited(conversation: Conversation, messageId: MessageId): number {
  return conversation.inherited.findIndex((step) => step.messages.some((message) => message.messageId === messageId));
}

/** Along a path messages stand by turn, then by sequence. */
export function messagesOn(path: readonly Step[]): readonly Message[] {
  return path.flatMap((step) => step.messages);
}

/** The highest sequence on a path, late tool results included; 0 on an empty path. */
export function lastSequenceOn(path: readonly Step[]): number {
  return Math.max(0, ...messagesOn(path).map((message) => message.sequence));
}

/** The key of an entry: on a path the last entry of a key holds. */
export function keyOf(note: Note): string {
  if (note.kind === 'task') return `task:${note.taskId}`;
  return note.kind === 'commitment' ? `commitment:${note.commitmentId}` : note.kind;
}

/** What holds on a path, in the order in which the keys were first written. */
export function notesOn(path: readonly Step[]): ReadonlyMap<string, Note> {
  return new Map(path.flatMap((step) => step.entries).map(({ note }) => [keyOf(note), note]));
}

export function noteOn<Kind extends Note['kind']>(
  path: readonly Step[],
  key: string,
  kind: Kind,
): NoteOf<Kind> | undefined {
  const note = notesOn(path).get(key);
  return note?.kind === kind ? (note as NoteOf<Kind>) : undefined;
}

type NoteOf<Kind extends Note['kind']> = Extract<Note, { kind: Kind }>;
