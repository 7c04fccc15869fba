import type { Draft } from '../draft.ts';
import { TurnkeepError, assert } from '../errors.ts';
import { fieldOf } from '../event.ts';
import type { ChangeEvent } from '../event.ts';
import type { RecordRef } from '../head.ts';
import type { MessageId, TaskId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import type { Role } from '../message.ts';
import { ENTRIES, packMessage, WHOLE } from '../rows.ts';
import type { TurnRow } from '../rows.ts';
import { entryOn } from '../tree/entries.ts';
import { findMessage } from '../tree/messages.ts';
import { segmentsFrom } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { ownCallsAt } from '../tree/calls.ts';
import type { LeftRows } from './left-rows.ts';

/** Where a message will stand, in one of this conversation's own branches. */
export interface Target {
  readonly branch: number;
  readonly position: number;
  readonly turnId: TurnId | null;
  /** The row of that turn. */
  readonly turn?: TurnRow | undefined;
  /** True for a tool result that comes after its turn has ended. */
  readonly late: boolean;
}

export interface PlacedWords {
  readonly messageId: MessageId;
  readonly role: Role;
  readonly ref: RecordRef;
  readonly calls: readonly string[];
  readonly answers: readonly string[];
  /** Those of its calls whose result is in the same message. */
  readonly answered?: readonly string[] | undefined;
  readonly taskId?: TaskId | undefined;
  /** True for bookkeeping that no list shows as the last message. */
  readonly background?: boolean | undefined;
}

/** Writes a message's rows, gives it the next sequence, and moves the head's counters. */
export function placeMessage(draft: Draft, target: Target, words: PlacedWords): number {
  const { branch, position } = target;
  for (const callId of words.calls) {
    if (ownCallsAt(draft.tree, callId, branch, position).some((call) => call.kind === 'call')) {
      throw new TurnkeepError('call_exists', { callId, turnId: target.turnId });
    }
  }
  if (words.taskId !== undefined) assertTaskOnPath(draft, target, words.taskId);
  const sequence = draft.head.lastSequence + 1;
  assert(sequence < Number.MAX_SAFE_INTEGER, 'sequences stay within 2^53');
  writeRows(draft, target, words, sequence);
  draft.head.lastSequence = sequence;
  draft.head.messages += 1;
  if (!words.background) draft.head.lastMessage = { role: words.role, sequence, ref: words.ref };
  touch(draft);
  return sequence;
}

/** The record of the message that an event names: the `saidBefore` of kinds that bring a message. */
export function wordsOfMessage(tree: Tree, event: ChangeEvent): RecordRef | undefined {
  const messageId = fieldOf(event, 'messageId');
  return messageId === undefined ? undefined : findMessage(tree, messageId)?.row.ref;
}

/** The conversation was active at this commit's time; its last activity never goes back. */
export function touch(draft: Draft): void {
  draft.head.lastActivityAt = Math.max(draft.head.lastActivityAt, draft.envelope.now);
}

function writeRows(draft: Draft, target: Target, words: PlacedWords, sequence: number): void {
  const { branch, position } = target;
  const own = draft.conversationId;
  const row = {
    messageId: words.messageId,
    stamp: draft.stamp,
    ref: words.ref,
    calls: words.calls,
    answers: words.answers,
  };
  draft.put(KEYS.message(branch, position, sequence), packMessage(row, own));
  draft.put(KEYS.messageId(words.messageId), [branch, position, sequence]);
  if (target.late) draft.put(KEYS.late(branch, sequence), [position, draft.version]);
  for (const callId of words.calls) {
    const isAnswered = words.answered?.includes(callId) ? [1] : [];
    draft.put(KEYS.call(callId, sequence), ['call', branch, position, draft.version, ...isAnswered]);
  }
  for (const callId of words.answers)
    draft.put(KEYS.call(callId, sequence), ['result', branch, position, draft.version]);
  if (words.taskId !== undefined) draft.put(KEYS.taskMessage(words.taskId, sequence), [branch, position]);
}

/** The rows that a message leaves, whatever kind of change brought it. */
export function leavesMessage(left: LeftRows, messageId: MessageId, sequence: number, late?: boolean): void {
  const what = `the id of message ${messageId}`;
  const place = left.here(KEYS.messageId(messageId), what, ([, , at]) => at === sequence);
  if (late && place) left.here(KEYS.late(place[0] as number, sequence), `that message ${messageId} came late`);
}

function assertTaskOnPath(draft: Draft, target: Target, taskId: TaskId): void {
  const place = { branch: target.branch, position: target.position, sequence: WHOLE };
  const task = entryOn(draft.tree, segmentsFrom(draft.tree, place), ENTRIES.task(taskId));
  if (!task) throw new TurnkeepError('no_task', { taskId });
}
