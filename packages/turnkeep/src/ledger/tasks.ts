import type { TaskAmend, TaskCreate, TaskTransition } from '../core/change.ts';
import { assertId } from '../core/ids.ts';
import type { TaskId } from '../core/ids.ts';
import type { Message } from '../core/read/message.ts';
import { readMessage } from '../core/read/message.ts';
import { isOpenTask, messagesOfTask, readActiveTask, readLatestTask, readTask, readTasks } from '../core/read/tasks.ts';
import type { Task } from '../core/read/tasks.ts';
import type { Receipt } from '../core/receipt.ts';
import { eventOf } from './receipt-event.ts';
import type { WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { pathOf } from './path-reads.ts';
import type { PathOptions } from './path-reads.ts';
import { withFields } from './given.ts';

/** The tasks of a conversation. Readings follow one path: the active one unless a leaf is named. */
export class Tasks {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /** Creates a task and makes it active; `active_task` while the path has one. Returns the task's id. */
  async create(task: Omit<TaskCreate, 'kind'>, options?: WriteOptions): Promise<Receipt & { readonly taskId: TaskId }> {
    const receipt = await this.#access.write([withFields(task, 'task', { kind: 'task.create' })], options);
    return { ...receipt, taskId: eventOf(receipt, 'task.create').taskId };
  }

  /** New words for a task that has not ended; its id and status stay. */
  async amend(taskId: TaskId, words: Omit<TaskAmend, 'kind' | 'taskId'>, options?: WriteOptions): Promise<Receipt> {
    return this.#access.write([withFields(words, 'words', { kind: 'task.amend', taskId })], options);
  }

  /** Moves a task along `TASK_TRANSITIONS`; `illegal_transition` otherwise. */
  async transition(
    taskId: TaskId,
    to: TaskTransition['to'],
    more: Omit<TaskTransition, 'kind' | 'taskId' | 'to'> = {},
    options?: WriteOptions,
  ): Promise<Receipt> {
    return this.#access.write([withFields(more, 'more', { kind: 'task.transition', taskId, to })], options);
  }

  /** A task as it stands on a path; `undefined` if the path has none of this id. */
  async get(taskId: TaskId, options: PathOptions = {}): Promise<Task | undefined> {
    assertId(taskId, 'taskId');
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readTask(view.tree, view.bodies, path, taskId, at);
    });
  }

  /** The task that has not ended; a path has at most one. */
  async active(options: PathOptions = {}): Promise<Task | undefined> {
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readActiveTask(view.tree, view.bodies, path, at);
    });
  }

  /** The task that was created last. */
  async latest(options: PathOptions = {}): Promise<Task | undefined> {
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readLatestTask(view.tree, view.bodies, path, at);
    });
  }

  /** All tasks, in the order they were created. */
  async list(options: PathOptions = {}): Promise<readonly Task[]> {
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readTasks(view.tree, view.bodies, path, at);
    });
  }

  /** Those of {@link list} that have not ended. */
  async listOpen(options: PathOptions = {}): Promise<readonly Task[]> {
    return (await this.list(options)).filter(isOpenTask);
  }

  /** The messages of a task that the conversation sees, on every path, by sequence. */
  async messages(taskId: TaskId): Promise<readonly Message[]> {
    assertId(taskId, 'taskId');
    return this.#access.view(({ tree, bodies }) =>
      messagesOfTask(tree, taskId).map((message) => readMessage(tree, bodies, message)),
    );
  }
}
