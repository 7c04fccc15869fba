import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId, MessageId, TaskId, TurnId } from '../../core/ids.ts';
import type { TurnState } from '../../core/change.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Role } from '../../core/message.ts';
import { readWaitingInputs } from '../../core/read/inputs.ts';
import { readMessage } from '../../core/read/message.ts';
import type { Message } from '../../core/read/message.ts';
import { isOpenTask, readActiveTask, readLatestTask, readTasks } from '../../core/read/tasks.ts';
import type { Task } from '../../core/read/tasks.ts';
import { placedWindow } from '../../core/read/window.ts';
import { partsText } from '../../core/search-text.ts';
import { ownTurn, pathTo } from '../../core/tree/path.ts';
import type { View } from '../access.ts';

/** A message as a terminal shows it. */
export interface ViewLine {
  readonly messageId: MessageId;
  readonly role: Role;
  readonly text: string;
  readonly taskId: TaskId | null;
  /** False if the answer was cut short. */
  readonly complete: boolean;
  readonly at: string;
}

/** What a terminal shows of a conversation: made from the store each time, and never a second store. */
export interface OperatorView {
  readonly conversationId: ConversationId;
  readonly version: number;
  /** The task that has not ended. */
  readonly task: Task | null;
  readonly latestTask: Task | null;
  readonly openTasks: readonly Task[];
  /** The turn at work. */
  readonly turn: { readonly turnId: TurnId; readonly state: TurnState } | null;
  /** The last messages, oldest first. */
  readonly lines: readonly ViewLine[];
  /** What waits for the next turn, oldest first. */
  readonly waiting: readonly string[];
}

export function viewOf(view: View, lines: number): OperatorView {
  const { tree, bodies } = view;
  const path = () => pathTo(tree, tree.head.leaf);
  const [turnId] = tree.head.busy;
  const turn = turnId === undefined ? undefined : ownTurn(tree, turnId);
  return {
    conversationId: tree.head.conversationId,
    version: tree.head.version,
    task: readActiveTask(tree, bodies, path) ?? null,
    latestTask: readLatestTask(tree, bodies, path) ?? null,
    openTasks: readTasks(tree, bodies, path).filter(isOpenTask),
    turn: turn ? { turnId: turn.row.turnId, state: turn.row.state } : null,
    lines: lastLines(view, lines),
    waiting: readWaitingInputs(tree, bodies).map(({ prompt }) => partsText(prompt)),
  };
}

/** The last messages of the active path, `count` at most: a group of calls and results may be cut for the eye. */
export function lastLines({ tree, bodies }: View, count: number): readonly ViewLine[] {
  for (let wider = count; ; wider = Math.min(wider * 4, LIMITS.pageMessages)) {
    try {
      const { messages } = placedWindow(tree, { count: wider });
      return messages.slice(-count).map((message) => lineOf(readMessage(tree, bodies, message)));
    } catch (error) {
      if (!isTurnkeepError(error, 'group_too_large') || wider === LIMITS.pageMessages) throw error;
    }
  }
}

function lineOf(message: Message): ViewLine {
  const { messageId, role, parts, taskId, status, committedAt } = message;
  const text = partsText(parts);
  return { messageId, role, text, taskId: taskId ?? null, complete: status !== 'incomplete', at: committedAt };
}
