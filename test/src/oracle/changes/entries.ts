import type { CommitmentId, CommitmentSelector, JsonObject, MessageId, TaskId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import type { CommitmentNote, Step, TaskNote } from '../model.ts';
import { lastSequenceOn, messagesOn, noteOn, notesOn, pathTo } from '../path.ts';
import { refuse } from '../refusal.ts';
import { TASK_MOVES, isTaskOver } from '../turn-states.ts';
import { entryPlace } from './entry-place.ts';

/** Working state: absent keeps, `null` clears, a value replaces. */
export function updateState(draft: Draft, change: ChangeOf<'state.update'>): Mark {
  const { kind, turnId, ...fields } = change;
  const place = entryPlace(draft, turnId);
  const before = noteOn(place.path, 'state', 'state');
  const stateVersion = (before?.stateVersion ?? 0) + 1;
  const merged = Object.entries({ ...before?.words.content, ...withoutUndefined(fields) });
  const words = draft.say(Object.fromEntries(merged.filter(([, value]) => value !== null)));
  draft.addEntry(place.turnId, { kind: 'state', stateVersion, words });
  return { kind, stateVersion };
}

function withoutUndefined(fields: object): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The task of a path that was created last; it is the active one while it is not over. */
export function tasksOn(path: readonly Step[]): { readonly active: TaskId | null; readonly latest: TaskId | null } {
  const notes = path.flatMap((step) => step.entries).map((entry) => entry.note);
  const latest = notes.findLast((note) => note.kind === 'task' && note.first) as TaskNote | undefined;
  if (!latest) return { active: null, latest: null };
  const { taskId } = latest;
  const { status } = noteOn(path, `task:${taskId}`, 'task') ?? latest;
  return { active: isTaskOver(status) ? null : taskId, latest: taskId };
}

/** A path has one active task. */
export function createTask(draft: Draft, change: ChangeOf<'task.create'>): Mark {
  const { kind, title, parentTaskId, assignee, metadata } = change;
  const taskId = change.taskId as TaskId; // minted beforehand
  const place = entryPlace(draft, change.turnId);
  if (noteOn(place.path, `task:${taskId}`, 'task')) refuse('task_exists', { taskId });
  const { active } = tasksOn(place.path);
  if (active !== null) refuse('active_task', { taskId: active });
  if (parentTaskId !== undefined) taskOn(place.path, parentTaskId);
  const words = draft.say({ title, parentTaskId, assignee, metadata });
  const times = { createdAt: draft.now, updatedAt: draft.now };
  draft.addEntry(place.turnId, { kind: 'task', taskId, status: 'created', words, ...times, first: true });
  return { kind, taskId };
}

function taskOn(path: readonly Step[], taskId: TaskId): TaskNote {
  return noteOn(path, `task:${taskId}`, 'task') ?? refuse('no_task', { taskId });
}

/** New words for a task that is not over; its id and its status stay. */
export function amendTask(draft: Draft, change: ChangeOf<'task.amend'>): Mark {
  const { kind, taskId, turnId, ...given } = change;
  const place = entryPlace(draft, turnId);
  const task = taskOn(place.path, taskId);
  const { status } = task;
  if (isTaskOver(status)) refuse('illegal_transition', { machine: 'task', id: taskId, from: status, to: status });
  const { assignee, ...others } = { ...task.words.content, ...withoutUndefined(given) };
  const words = draft.say({ ...others, assignee: assignee ?? undefined });
  draft.addEntry(place.turnId, { ...task, words, updatedAt: draft.now, first: false });
  return { kind, taskId };
}

export function moveTask(draft: Draft, change: ChangeOf<'task.transition'>): Mark {
  const { kind, taskId, to, outcomeRef } = change;
  const place = entryPlace(draft, change.turnId);
  const task = taskOn(place.path, taskId);
  const from = task.status;
  if (!TASK_MOVES[from].includes(to)) refuse('illegal_transition', { machine: 'task', id: taskId, from, to });
  const words = outcomeRef === undefined ? task.words : draft.say({ ...task.words.content, outcomeRef });
  draft.addEntry(place.turnId, { ...task, status: to, words, updatedAt: draft.now, first: false });
  return { kind, taskId, from, to };
}

export function addCommitment(draft: Draft, change: ChangeOf<'commitment.add'>): Mark {
  const { kind, content } = change;
  const commitmentId = change.commitmentId as CommitmentId; // minted beforehand
  const place = entryPlace(draft, change.turnId);
  if (noteOn(place.path, `commitment:${commitmentId}`, 'commitment')) refuse('commitment_exists', { commitmentId });
  const words = draft.say({ content, type: typeOf(change.type, content) });
  const note = { commitmentId, status: 'open' as const, words, createdAt: draft.now, resolvedAt: null };
  draft.addEntry(place.turnId, { kind: 'commitment', ...note });
  return { kind, commitmentId };
}

/** A content that starts with `constraint:` or `decision:` counts as that kind, unless another is given. */
function typeOf(given: string | undefined, content: string): string | undefined {
  const start = /^\s*(constraint|decision):/i.exec(content)?.[1];
  return given?.trim().toLowerCase() || start?.toLowerCase();
}

/** Ends commitments of the path: the one with this id, or every open one whose content contains the text. */
export function endCommitments(draft: Draft, change: ChangeOf<'commitment.resolve' | 'commitment.expire'>): Mark {
  const { kind, which } = change;
  const status = kind === 'commitment.resolve' ? 'fulfilled' : 'expired';
  const place = entryPlace(draft, change.turnId);
  const chosen =
    'commitmentId' in which ? [openOne(place.path, which.commitmentId, status)] : openWith(place.path, which);
  for (const note of chosen) draft.addEntry(place.turnId, { ...note, status, resolvedAt: draft.now });
  return { kind, commitmentIds: chosen.map((note) => note.commitmentId) };
}

function openOne(path: readonly Step[], commitmentId: CommitmentId, to: string): CommitmentNote {
  const note = noteOn(path, `commitment:${commitmentId}`, 'commitment');
  if (!note) return refuse('no_commitment', { commitmentId });
  const from = note.status;
  if (from !== 'open') refuse('illegal_transition', { machine: 'commitment', id: commitmentId, from, to });
  return note;
}

function openWith(
  path: readonly Step[],
  which: Extract<CommitmentSelector, { matching: string }>,
): readonly CommitmentNote[] {
  const commitments = [...notesOn(path).values()].filter((note) => note.kind === 'commitment');
  return commitments.filter((note) => note.status === 'open' && contentOf(note).includes(which.matching));
}

function contentOf(note: CommitmentNote): string {
  return (note.words.content?.['content'] ?? '') as string;
}

/** A summary covers a longer prefix of its path than the last one; it says which messages its writer could see. */
export function commitSummary(draft: Draft, change: ChangeOf<'summary.commit'>): Mark {
  const { kind, summaryId, upTo, text, metadata } = change;
  if (!draft.commit.expect?.transcript) refuse('expect_required', { field: 'transcript', change: draft.where });
  const place = entryPlace(draft, change.turnId);
  const placeOf = (messageId: MessageId) =>
    messagesOn(place.path).findIndex((message) => message.messageId === messageId);
  if (placeOf(upTo) < 0) refuse('no_message', { messageId: upTo });
  const turn = draft.commit.expect?.transcript?.turn ?? null;
  if (!messagesOn(pathTo(draft.conversation, turn)).some((message) => message.messageId === upTo)) {
    return refuse('conflict', { field: 'transcript.turn', expected: turn, actual: draft.conversation.leaf });
  }
  const covered = noteOn(place.path, 'summary', 'summary')?.upTo;
  if (covered !== undefined && placeOf(upTo) <= placeOf(covered)) refuse('summary_not_longer', { upTo, covered });
  const seen = lastSequenceOn(place.path);
  draft.addEntry(place.turnId, { kind: 'summary', upTo, seen, words: draft.say({ summaryId, text, metadata }) });
  return { kind, summaryId, upTo, seen };
}
