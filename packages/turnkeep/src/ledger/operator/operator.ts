import type { Change, TaskStatus } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import { receiptOf } from '../../core/decide.ts';
import { sameJson } from '../../core/encoding.ts';
import { isTurnkeepError, TurnkeepError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { headerAt } from '../../core/header.ts';
import { assertId } from '../../core/ids.ts';
import type { MessageId, TaskId, TurnId } from '../../core/ids.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { Json } from '../../core/json.ts';
import { KEYS } from '../../core/keys.ts';
import type { Author, NewMessage, Part } from '../../core/message.ts';
import { preview } from '../../core/read/listing.ts';
import { readMessage } from '../../core/read/message.ts';
import { readActiveTask, readLatestTask } from '../../core/read/tasks.ts';
import type { Task } from '../../core/read/tasks.ts';
import type { Receipt } from '../../core/receipt.ts';
import { partsText } from '../../core/search-text.ts';
import { assertShape, promptParts } from '../../core/shapes.ts';
import { findMessage } from '../../core/tree/messages.ts';
import { pathTo } from '../../core/tree/path.ts';
import type { View, WriteOptions } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import {
  abortSignal,
  anything,
  assertChecked,
  assertFits,
  callback,
  count,
  deepList,
  flag,
  oneOf,
  text,
} from '../given.ts';
import type { Checks } from '../given.ts';
import { eventOf } from '../receipt-event.ts';
import { writeAndCancelBelow } from '../sub-agents.ts';
import { watchConversation } from '../watch.ts';
import { isConfirmation } from './confirmations.ts';
import { lastLines, viewOf } from './view.ts';
import type { OperatorView, ViewLine } from './view.ts';

export interface OperatorSettings {
  /** Recognises a message that only confirms. `isConfirmation`, in some thirty languages, when absent. */
  readonly confirms?: ((text: string) => boolean) | undefined;
  /** Makes a task's title from what a user says. The first words when absent. */
  readonly titleOf?: ((text: string) => string) | undefined;
  /** Who works on new tasks. */
  readonly assignee?: string | undefined;
}

type Send = Pick<WriteOptions, 'idempotencyKey' | 'signal'>;

export interface SendOptions extends Send {
  readonly author?: Author | undefined;
  /** What to do while a turn is at work: refuse with `busy` (`reject`, when absent), or cancel the turn first. */
  readonly whenBusy?: 'reject' | 'interrupt' | undefined;
}

/** What a message began or continued. */
export interface SentTask extends Receipt {
  readonly taskId: TaskId;
  /** True if the message began a task; false if it continues the active one. */
  readonly created: boolean;
  /** The turn, now at work: end it with `complete` or `fail`. */
  readonly turnId: TurnId;
  readonly messageId: MessageId;
}

export interface CompleteOptions extends Send {
  /** The task is not done: the answer is a proposal that awaits approval. */
  readonly awaits?: 'approval' | undefined;
  /** Where to find the outcome. */
  readonly outcomeRef?: string | undefined;
  /** More changes of the same commit: usage, a checkpoint, commitments. */
  readonly besides?: readonly Change[] | undefined;
}

export interface FailOptions extends Send {
  /** What was said so far; kept as an incomplete message. */
  readonly partial?: readonly Part[] | undefined;
}

// Options marked `anything` are checked by the commit that a call sends.
const SENT: Checks<Send> = { idempotencyKey: text, signal: abortSignal };
const SEND: Checks<SendOptions> = { ...SENT, author: anything, whenBusy: oneOf('reject', 'interrupt') };
const COMPLETE: Checks<CompleteOptions> = {
  ...SENT,
  awaits: oneOf('approval'),
  outcomeRef: anything,
  besides: anything,
};
const FAILURE: Checks<{ readonly code: string; readonly message: string }> = { code: text, message: text };
const FAIL: Checks<FailOptions> = { ...SENT, partial: anything };
const WATCH: Checks<{ readonly lines?: number | undefined; readonly signal?: AbortSignal | undefined }> = {
  lines: count,
  signal: abortSignal,
};
const SETTINGS: Checks<OperatorSettings> = { confirms: callback, titleOf: callback, assignee: text };

/** Refusals that mean that somebody else was quicker: the call decides anew on what they left. */
const OVERTAKEN: ReadonlySet<ErrorCode> = new Set(['active_task', 'illegal_transition', 'no_task', 'task_exists']);
const TRIES = 8;

/**
 * Tasks as a user at a terminal knows them: each message continues the active task, or begins a task that follows the last
 * one. Each call is one commit of tasks, turns and messages; the operator itself keeps nothing.
 */
export class Operator {
  readonly #access: ConversationAccess;
  readonly #confirms: (text: string) => boolean;
  readonly #titleOf: (text: string) => string;
  readonly #assignee: string | undefined;

  constructor(access: ConversationAccess, settings: OperatorSettings = {}) {
    assertChecked(settings, SETTINGS, 'settings');
    this.#access = access;
    this.#confirms = settings.confirms ?? isConfirmation;
    this.#titleOf = settings.titleOf ?? firstWords;
    this.#assignee = settings.assignee;
  }

  /**
   * Says something as the user and starts a turn for it. The active task continues under a new title (after a confirmation,
   * under its own). A task that awaits approval continues only after a confirmation; anything else supersedes it. Without an
   * active task one is created, with the latest as its parent. Sent again with the same key, it is done once.
   */
  async send(said: string | readonly Part[], options: SendOptions = {}): Promise<SentTask> {
    assertChecked(options, SEND);
    const { access } = this.#access;
    const own = parseJson(typeof said === 'string' ? [{ type: 'text', text: said }] : said, 'said');
    assertShape(promptParts, own, 'said');
    const prompt = own as unknown as readonly Part[]; // as was just checked
    const commitId = options.idempotencyKey ?? access.mintCommitId(access.surroundings.now());
    for (let tries = 1; ; tries++) {
      const before = await this.#before(commitId);
      if (before.earlier) return this.#sentBefore(before.earlier, own);
      try {
        const changes = this.#changesOf(commitId, prompt, options, before);
        const sent = { idempotencyKey: commitId, signal: options.signal };
        return sentTask(await writeAndCancelBelow(this.#access, changes, sent));
      } catch (error) {
        if (tries === TRIES || !isTurnkeepError(error) || !OVERTAKEN.has(error.code)) throw error;
      }
    }
  }

  #changesOf(
    commitId: string,
    prompt: readonly Part[],
    { author, whenBusy }: SendOptions,
    { active, latest }: Before,
  ): readonly Change[] {
    const { sha256 } = this.#access.access.surroundings;
    const turnId = derivedId('turn', commitId, 0, sha256) as TurnId;
    const said = partsText(prompt);
    const isConfirmed = this.#isConfirmation(said);
    const goesOn = active !== undefined && (active.status !== 'awaiting_approval' || isConfirmed);
    const taskId = goesOn ? active.taskId : (derivedId('task', commitId, 0, sha256) as TaskId);
    const title = goesOn && isConfirmed ? undefined : this.#titleOf(said);
    return [
      ...(goesOn ? [] : endOf(active)),
      goesOn
        ? { kind: 'task.amend', taskId, title }
        : {
            kind: 'task.create',
            taskId,
            title: title ?? firstWords(said),
            parentTaskId: latest?.taskId,
            assignee: this.#assignee,
          },
      { kind: 'turn.submit', turnId, prompt, author, taskId, whenBusy },
      { kind: 'turn.advance', turnId, to: 'running' },
      ...(goesOn && active.status === 'running' ? [] : [moved(taskId, 'running')]),
    ];
  }

  #isConfirmation(said: string): boolean {
    const confirms: unknown = this.#confirms(said);
    assertFits(confirms, flag, 'settings.confirms');
    return confirms === true;
  }

  /** The first answer to a call that is sent again; `commit_id_reused` if it said something else. */
  async #sentBefore(earlier: Receipt, said: Json): Promise<SentTask> {
    const sent = sentTask(earlier);
    const before = await this.#access.view(({ tree, bodies }) => {
      const message = findMessage(tree, sent.messageId);
      return message && readMessage(tree, bodies, message);
    });
    const isSame = before === undefined || before.redaction !== undefined || sameJson(before.parts as never, said);
    if (!isSame) throw new TurnkeepError('commit_id_reused', { commitId: earlier.commitId });
    return sent;
  }

  /** Answers a turn: the messages, the end of the task and the end of the turn in one commit. Sent again, it is done once. */
  async complete(
    turnId: TurnId,
    answer: string | readonly NewMessage[],
    options: CompleteOptions = {},
  ): Promise<Receipt> {
    assertId(turnId, 'turnId');
    assertChecked(options, COMPLETE);
    const isText = typeof answer === 'string';
    const messages = isText ? [assistantSays([{ type: 'text', text: answer }])] : deepList(answer, 'answer');
    const besides = deepList(options.besides ?? [], 'options.besides');
    const to = options.awaits === 'approval' ? 'awaiting_approval' : 'completed';
    return this.#end(turnId, 'completed', options, (task) => [
      ...messages.map((message) => inTurn(message, turnId, task)),
      ...besides,
      ...(task && task.status !== to ? movesTo(task, to, turnId, options.outcomeRef) : []),
    ]);
  }

  /** Fails a turn: what was said so far, why it failed (shown to users only), and the end of task and turn, in one commit. */
  async fail(
    turnId: TurnId,
    failure: { readonly code: string; readonly message: string },
    options: FailOptions = {},
  ): Promise<Receipt> {
    assertId(turnId, 'turnId');
    assertChecked(failure, FAILURE, 'failure');
    assertChecked(options, FAIL);
    const partial = options.partial && deepList(options.partial, 'options.partial');
    const why: NewMessage = {
      role: 'system',
      visibility: 'user',
      finishReason: failure.code,
      parts: [{ type: 'text', text: failure.message }],
    };
    return this.#end(turnId, 'failed', options, (task) => [
      ...(partial ? [inTurn({ ...assistantSays(partial), status: 'incomplete' }, turnId, task)] : []),
      inTurn(why, turnId, task),
      ...(task ? [moved(task.taskId, 'failed', turnId)] : []),
    ]);
  }

  async #end(
    turnId: TurnId,
    to: 'completed' | 'failed',
    { idempotencyKey, signal }: Send,
    changesOf: (task: Task | undefined) => readonly Change[],
  ): Promise<Receipt> {
    const { earlier, active } = await this.#before(idempotencyKey, turnId);
    if (earlier) {
      const ended = earlier.events.some((event) => event.kind === 'turn.advance' && event['turnId'] === turnId);
      if (!ended) throw new TurnkeepError('commit_id_reused', { commitId: earlier.commitId });
      return earlier;
    }
    const changes = [...changesOf(active), { kind: 'turn.advance' as const, turnId, to }];
    return writeAndCancelBelow(this.#access, changes, { idempotencyKey, signal });
  }

  /** Lets the task that awaits approval continue: `awaiting_approval → running`. `undefined` if none awaits it. */
  async approve(options: Send = {}): Promise<Receipt | undefined> {
    assertChecked(options, SENT);
    const { active, earlier } = await this.#before(options.idempotencyKey);
    if (earlier) return earlier;
    if (active?.status !== 'awaiting_approval') return undefined;
    return this.#access.write([moved(active.taskId, 'running')], options);
  }

  /** The last `count` messages as a terminal shows them, oldest first. */
  async window(count: number = 8): Promise<readonly ViewLine[]> {
    return this.#access.view((view) => lastLines(view, count));
  }

  /** What a terminal shows, with the last `lines` messages. */
  async view(lines: number = 8): Promise<OperatorView> {
    assertFits(lines, count, 'lines');
    return this.#access.view((view) => viewOf(view, lines));
  }

  /** The view as it is, then again after each commit; commits that come together may be shown as one. */
  async *watch(
    options: { readonly lines?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<OperatorView> {
    assertChecked(options, WATCH);
    let shown = await this.view(options.lines);
    yield shown;
    for await (const { version, erased } of watchConversation(this.#access, {
      after: shown.version,
      signal: options.signal,
    })) {
      if (erased) return;
      if (version <= shown.version) continue;
      shown = await this.view(options.lines);
      yield shown;
    }
  }

  /** What a call finds: its own commit, if it was sent before, and the tasks of the path to a turn or the leaf. */
  async #before(commitId: string | undefined, turnId?: TurnId): Promise<Before> {
    const { access, namespace, conversationId } = this.#access;
    const isThere = await access.read(namespace, (rows) => rows.head(conversationId) !== undefined);
    if (!isThere) return {};
    return this.#access.view(({ tree, bodies }) => {
      const path = () => pathTo(tree, turnId ?? tree.head.leaf);
      const version = commitId === undefined ? undefined : tree.rows.get(conversationId, KEYS.commit(commitId))?.[0];
      return {
        earlier: version === undefined ? undefined : receiptAt({ tree, bodies }, version as number),
        active: readActiveTask(tree, bodies, path),
        latest: readLatestTask(tree, bodies, path),
      };
    });
  }
}

interface Before {
  readonly earlier?: Receipt | undefined;
  readonly active?: Task | undefined;
  readonly latest?: Task | undefined;
}

function receiptAt({ tree, bodies }: View, version: number): Receipt {
  const { conversationId } = tree.head;
  return receiptOf(conversationId, headerAt(tree.rows, bodies.sha256, conversationId, version), true);
}

function sentTask(receipt: Receipt): SentTask {
  const { turnId, messageId } = eventOf(receipt, 'turn.submit');
  const created = receipt.events.some(({ kind }) => kind === 'task.create');
  const { taskId } = eventOf(receipt, created ? 'task.create' : 'task.amend');
  return { ...receipt, taskId, created, turnId, messageId };
}

/** A task that awaited approval and got another message instead. */
function endOf(active: Task | undefined): readonly Change[] {
  return active ? [moved(active.taskId, 'superseded')] : [];
}

function moved(taskId: TaskId, to: TaskStatus, turnId?: TurnId, outcomeRef?: string): Change {
  return { kind: 'task.transition', taskId, to, turnId, outcomeRef };
}

/** A task that was not started yet is started first, since it cannot be completed from `created`. */
function movesTo(task: Task, to: TaskStatus, turnId: TurnId, outcomeRef: string | undefined): readonly Change[] {
  const start = task.status === 'created' ? [moved(task.taskId, 'running', turnId)] : [];
  return [...start, moved(task.taskId, to, turnId, outcomeRef)];
}

function assistantSays(parts: readonly Part[]): NewMessage {
  return { role: 'assistant', parts };
}

function inTurn(message: NewMessage, turnId: TurnId, task: Task | undefined): Change {
  return { kind: 'message.append', message: task ? { taskId: task.taskId, ...message } : message, turnId };
}

/** A user's first words, as many as fit a line; a placeholder if there are none. */
function firstWords(said: string): string {
  return preview({ parts: [{ type: 'text', text: said }] }) || '…';
}
