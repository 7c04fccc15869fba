import type { TaskStatus } from '../../core/change.ts';
import type { Task } from '../../core/read/tasks.ts';
import { isOpenTask } from '../../core/read/tasks.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { JsonList } from '../output.ts';
import type { Colors } from '../output.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { clip, minuteOf, padEnd, safeLine } from '../terminal-text.ts';

export interface TasksOptions extends CommonOptions {
  readonly leaf?: string | undefined;
  readonly open?: boolean | undefined;
}

interface ConversationTasks {
  readonly conversationId: string;
  readonly tasks: readonly Task[];
}

/** `turnkeep tasks`: the tasks on the active path of one conversation, or of each. */
export async function runTasks(
  shell: Shell,
  conversationId: string | undefined,
  options: TasksOptions,
): Promise<ExitCode> {
  await readStore(shell, options, async (namespace) => {
    let count = 0;
    const list = options.json ? new JsonList(shell.out, 'tasks') : undefined;
    for await (const found of tasksOf(namespace, conversationId, options)) {
      shell.signal.throwIfAborted();
      if (list) for (const task of found.tasks) await list.add({ conversationId: found.conversationId, ...task });
      else await print(shell, found);
      count += found.tasks.length;
    }
    if (list) await list.end();
    else if (count === 0) await shell.out.line(options.open ? 'No open tasks.' : 'No tasks.');
    await shell.out.flush();
  });
  return EXIT.ok;
}

async function* tasksOf(
  namespace: Namespace,
  conversationId: string | undefined,
  options: TasksOptions,
): AsyncGenerator<ConversationTasks> {
  const path = options.leaf === undefined ? {} : { leaf: options.leaf };
  const read = async (id: string) => {
    const all = await namespace.conversation(id).tasks.list(path);
    return { conversationId: id, tasks: options.open ? all.filter(isOpenTask) : all };
  };
  if (conversationId !== undefined) {
    yield await read(conversationId);
    return;
  }
  for await (const info of namespace.conversations()) yield await read(info.conversationId);
}

const STATUS_COLUMNS = 'awaiting_approval'.length;
const ID_COLUMNS = 36;

async function print({ out }: Shell, { conversationId, tasks }: ConversationTasks): Promise<void> {
  if (tasks.length === 0) return;
  const { colors } = out;
  await out.line(colors.cyan(safeLine(conversationId)));
  for (const task of tasks) {
    const status = statusPaint(colors, task.status)(padEnd(task.status, STATUS_COLUMNS));
    const title = clip(safeLine(task.title), Math.max(24, (out.columns ?? 160) - STATUS_COLUMNS - ID_COLUMNS - 8));
    await out.line(`  ${status}  ${title}  ${colors.dim(detailsOf(task))}`);
  }
}

function statusPaint(colors: Colors, status: TaskStatus): (text: string) => string {
  if (status === 'completed') return colors.green;
  if (status === 'failed') return colors.red;
  return isOpenTask({ status } as Task) ? colors.yellow : colors.dim;
}

function detailsOf({ taskId, parentTaskId, assignee, updatedAt }: Task): string {
  const details = [
    safeLine(taskId),
    parentTaskId === undefined ? '' : `under ${safeLine(parentTaskId)}`,
    assignee === undefined ? '' : `for ${safeLine(assignee)}`,
    minuteOf(updatedAt),
  ];
  return details.filter((detail) => detail !== '').join(' · ');
}
