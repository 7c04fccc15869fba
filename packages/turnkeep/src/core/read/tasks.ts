import type { TaskStatus } from '../change.ts';
import type { MessageId, TaskId } from '../ids.ts';
import type { Json } from '../json.ts';
import { afterSeparator, KEYS, numbersIn } from '../keys.ts';
import { ENTRIES, unpackTask } from '../rows.ts';
import { isTerminalTask, taskPointer } from '../rules/task.ts';
import { entriesOn, entryOn } from '../tree/entries.ts';
import type { AtVersion, Entry } from '../tree/entries.ts';
import { placed, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { inheritedSegments, scanPrefix } from '../tree/path.ts';
import type { Segment, Tree } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** A task as it holds on a path. */
export interface Task {
  readonly taskId: TaskId;
  readonly status: TaskStatus;
  readonly title: string;
  readonly parentTaskId?: TaskId | undefined;
  readonly assignee?: string | undefined;
  readonly outcomeRef?: string | undefined;
  readonly metadata?: Json | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type PathOf = () => Iterable<Segment>;

export function readTask(
  tree: Tree,
  bodies: Bodies,
  path: PathOf,
  taskId: TaskId,
  at: AtVersion = {},
): Task | undefined {
  const entry = entryOn(tree, path(), ENTRIES.task(taskId), at);
  return entry && taskOf(bodies, taskId, entry);
}

/** The active task of a path. */
export function readActiveTask(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): Task | undefined {
  const { active } = taskPointer(entryOn(tree, path(), ENTRIES.tasks, at)?.value);
  return active === null ? undefined : readTask(tree, bodies, path, active, at);
}

/** The task that was created last on a path. */
export function readLatestTask(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): Task | undefined {
  const { latest } = taskPointer(entryOn(tree, path(), ENTRIES.tasks, at)?.value);
  return latest === null ? undefined : readTask(tree, bodies, path, latest, at);
}

/** Every task of a path, in the order they were created. */
export function readTasks(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): readonly Task[] {
  const start = ENTRIES.task('');
  return [...entriesOn(tree, path(), start, at)].map(([name, entry]) =>
    taskOf(bodies, name.slice(start.length), entry),
  );
}

export function isOpenTask(task: Task): boolean {
  return !isTerminalTask(task.status);
}

function taskOf(bodies: Bodies, taskId: TaskId, entry: Entry): Task {
  const { status, ref, createdAt, updatedAt } = unpackTask(entry.value, entry.owner);
  const words = (bodies.body(ref) ?? {}) as unknown as Pick<
    Task,
    'title' | 'parentTaskId' | 'assignee' | 'outcomeRef' | 'metadata'
  >;
  return {
    ...words,
    taskId,
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

/** The messages of a task that a conversation sees, on every path, inherited ones first, by sequence. */
export function messagesOfTask(tree: Tree, taskId: TaskId): readonly PlacedMessage[] {
  const own = { owner: tree.head.conversationId, sees: () => true };
  const inherited = inheritedSegments(tree).map((segment) => ({
    owner: segment.owner,
    sees: (message: PlacedMessage) => segmentSees(segment, message),
  }));
  const found = new Map<MessageId, PlacedMessage>();
  for (const source of [...inherited, own]) {
    for (const row of scanPrefix(tree.rows, source.owner, KEYS.taskMessagesOf(taskId))) {
      const sequence = numbersIn(afterSeparator(row.key), 0)[0] as number;
      const [branch, position] = row.value as readonly [number, number];
      const key = KEYS.message(branch, position, sequence);
      const value = tree.rows.get(source.owner, key);
      const message = value && placed(source.owner, key, value);
      if (message && source.sees(message)) found.set(message.row.messageId, message);
    }
  }
  return [...found.values()].sort((left, right) => left.sequence - right.sequence);
}
