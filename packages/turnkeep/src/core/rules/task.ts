import { z } from 'zod';
import { TASK_STATUSES } from '../change.ts';
import type { TaskStatus } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { RecordRef } from '../head.ts';
import type { TaskId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { ENTRIES, packTask, unpackTask } from '../rows.ts';
import type { TaskEntry, TaskPointer } from '../rows.ts';
import { id, json, meaningfulText, shortText } from '../shapes.ts';
import { EntryPlace } from './on-path.ts';
import { one, untold } from './rule.ts';
import type { Rule } from './rule.ts';

/**
 * The life of a task. `created → running → awaiting_approval`, back to `running`, and to an end; the last four are
 * terminal. A move that is not in this table is `illegal_transition`.
 */
export const TASK_TRANSITIONS: { readonly [Status in TaskStatus]: readonly TaskStatus[] } = {
  created: ['running', 'failed', 'cancelled', 'superseded'],
  running: ['awaiting_approval', 'completed', 'failed', 'cancelled', 'superseded'],
  awaiting_approval: ['running', 'completed', 'failed', 'cancelled', 'superseded'],
  completed: [],
  failed: [],
  cancelled: [],
  superseded: [],
};

export function isTerminalTask(status: TaskStatus): boolean {
  return TASK_TRANSITIONS[status].length === 0;
}

export function taskPointer(value: readonly Json[] | undefined): TaskPointer {
  const [active, latest] = value ?? [];
  return {
    active: (active as TaskId | null | undefined) ?? null,
    latest: (latest as TaskId | null | undefined) ?? null,
  };
}

function pointTo(place: EntryPlace, pointer: TaskPointer): void {
  place.write(ENTRIES.tasks, [pointer.active, pointer.latest]);
}

function heldTask(place: EntryPlace, taskId: TaskId): TaskEntry {
  const entry = place.holding(ENTRIES.task(taskId));
  if (!entry) throw new TurnkeepError('no_task', { taskId });
  return unpackTask(entry.value, entry.owner);
}

function write(draft: Draft, place: EntryPlace, taskId: TaskId, entry: TaskEntry): void {
  place.write(ENTRIES.task(taskId), packTask(entry, draft.conversationId));
}

/** A record of the task's words with some of them replaced. */
function amendedRecord(draft: Draft, before: RecordRef, words: JsonObject, path: string): number {
  return draft.addRecord({ ...draft.body(before), ...words }, path);
}

/** Creates a task and makes it the active one of its path. */
export const taskCreate: Rule<'task.create'> = {
  shape: z.strictObject({
    kind: z.literal('task.create'),
    taskId: id.optional(),
    title: meaningfulText,
    parentTaskId: id.optional(),
    assignee: shortText.optional(),
    metadata: json.optional(),
    turnId: id.optional(),
  }),
  complete: (change, mint) => ({ ...change, taskId: change.taskId ?? mint('task') }),
  records: one,
  apply(draft, change, path) {
    const place = new EntryPlace(draft, change.turnId);
    const taskId = change.taskId as TaskId;
    if (place.holding(ENTRIES.task(taskId))) throw new TurnkeepError('task_exists', { taskId });
    const { active } = taskPointer(place.holding(ENTRIES.tasks)?.value);
    if (active !== null) throw new TurnkeepError('active_task', { taskId: active });
    if (change.parentTaskId !== undefined) heldTask(place, change.parentTaskId);
    const { kind, title, parentTaskId, assignee, metadata } = change;
    const record = draft.addRecord({ title, parentTaskId, assignee, metadata }, path);
    const { now } = draft.envelope;
    write(draft, place, taskId, { status: 'created', ref: draft.refTo(record), createdAt: now, updatedAt: now });
    pointTo(place, { active: taskId, latest: taskId });
    return { kind, taskId, record };
  },
  leaves: untold,
};

/** New words for a task; its id and its status stay. */
export const taskAmend: Rule<'task.amend'> = {
  shape: z.strictObject({
    kind: z.literal('task.amend'),
    taskId: id,
    title: meaningfulText.optional(),
    assignee: shortText.nullable().optional(),
    metadata: json.optional(),
    turnId: id.optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, taskId, title, assignee, metadata } = change;
    const place = new EntryPlace(draft, change.turnId);
    const task = heldTask(place, taskId);
    if (isTerminalTask(task.status)) {
      throw new TurnkeepError('illegal_transition', {
        machine: 'task',
        id: taskId,
        from: task.status,
        to: task.status,
      });
    }
    const words = {
      ...(title === undefined ? {} : { title }),
      ...(assignee === undefined ? {} : { assignee: assignee ?? undefined }),
      ...(metadata === undefined ? {} : { metadata }),
    };
    const record = amendedRecord(draft, task.ref, words, path);
    write(draft, place, taskId, { ...task, ref: draft.refTo(record), updatedAt: draft.envelope.now });
    return { kind, taskId, record };
  },
  leaves: untold,
};

/** Moves a task along {@link TASK_TRANSITIONS}; a terminal status clears the active task of the path. */
export const taskTransition: Rule<'task.transition'> = {
  shape: z.strictObject({
    kind: z.literal('task.transition'),
    taskId: id,
    to: z.enum(TASK_STATUSES),
    outcomeRef: shortText.optional(),
    turnId: id.optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, taskId, to, outcomeRef } = change;
    const place = new EntryPlace(draft, change.turnId);
    const task = heldTask(place, taskId);
    if (!TASK_TRANSITIONS[task.status].includes(to)) {
      throw new TurnkeepError('illegal_transition', { machine: 'task', id: taskId, from: task.status, to });
    }
    const record = outcomeRef === undefined ? undefined : amendedRecord(draft, task.ref, { outcomeRef }, path);
    const ref = record === undefined ? task.ref : draft.refTo(record);
    write(draft, place, taskId, { ...task, status: to, ref, updatedAt: draft.envelope.now });
    const pointer = taskPointer(place.holding(ENTRIES.tasks)?.value);
    if (isTerminalTask(to) && pointer.active === taskId) pointTo(place, { ...pointer, active: null });
    return { kind, taskId, from: task.status, to, ...(record === undefined ? {} : { record }) };
  },
  leaves: untold,
};
