import type {
  BindingSave,
  Change,
  ConversationCreate,
  ConversationSpawn,
  ConversationUpdate,
  OperationResolve,
  StateUpdate,
  SummaryCommit,
  TurnRecord,
  TurnState,
  TurnSubmit,
} from '../core/change.ts';
import { headerAt } from '../core/header.ts';
import { assertId } from '../core/ids.ts';
import type { ConversationId, InterruptId, MessageId, NamespaceId, OperationId, RunId, TurnId } from '../core/ids.ts';
import { derivedId } from '../core/commit.ts';
import { parseJson } from '../core/parse-json.ts';
import { KEYS } from '../core/keys.ts';
import { callsOf } from '../core/message.ts';
import type { NewMessage, Part } from '../core/message.ts';
import { readInterrupt, readInterrupts, readRun, readSteps } from '../core/read/agent.ts';
import type { Interrupt, Run, Step } from '../core/read/agent.ts';
import { conversationInfo } from '../core/read/listing.ts';
import type { ConversationInfo } from '../core/read/listing.ts';
import { readMessageOr } from '../core/read/message.ts';
import type { Message, MessageLookup } from '../core/read/message.ts';
import { placedPage } from '../core/read/pages.ts';
import type { PagePin } from '../core/read/pages.ts';
import { readState, readSummary } from '../core/read/state.ts';
import type { Summary, WorkingState } from '../core/read/state.ts';
import { headAtVersion, readBindings, readOperation, readSiblings } from '../core/read/turns.ts';
import type { Binding, Operation, Sibling } from '../core/read/turns.ts';
import { placedWindow } from '../core/read/window.ts';
import type { Receipt } from '../core/receipt.ts';
import { eventOf } from './receipt-event.ts';
import type { TurnRow } from '../core/rows.ts';
import { hasStarted, isTerminal } from '../core/rules/turn-states.ts';
import { messagesAt } from '../core/tree/messages.ts';
import type { PlacedMessage } from '../core/tree/messages.ts';
import { ownTurn } from '../core/tree/path.ts';
import { assertWriteOptions } from './access.ts';
import type { Access, View, WriteOptions } from './access.ts';
import { reconnect } from './agent/follow.ts';
import type { DraftEvent, FollowOptions } from './agent/follow.ts';
import { assertReady, resumeNew, resumeTurn, runTurn } from './agent/run.ts';
import type { AgentTurnStart, ResumeOptions, RunOptions } from './agent/run.ts';
import type { TurnOutcome } from './agent/outcome.ts';
import type { Agent } from './agent/turn-run.ts';
import { stopTurn } from './agent/stop.ts';
import { Checkpoints } from './checkpoints.ts';
import { Commitments } from './commitments.ts';
import { contextOf } from './context/context.ts';
import type { ContextAnswer } from './context/context.ts';
import type { ContextPolicy } from './context/policy.ts';
import { summarized } from './context/summarize.ts';
import type { SummarizeOptions, Summarizer } from './context/summarize.ts';
import { ConversationAccess } from './conversation-access.ts';
import { decodeCursor, encodeCursor, pageCursor, windowCursor } from './cursor.ts';
import { parentBeside } from './edits.ts';
import type { Edit, Regeneration, StartingTurn } from './edits.ts';
import { Inputs, submissionOf, submittedTurn } from './inputs.ts';
import type { QueuedInput, SubmittedTurn } from './inputs.ts';
import { assertChecked, assertPageLimit, ownFields, ownList, withFields } from './given.ts';
import { ConversationMemories } from './memories.ts';
import { Operator } from './operator/operator.ts';
import type { OperatorSettings } from './operator/operator.ts';
import { pathOf } from './path-reads.ts';
import type { PathOptions } from './path-reads.ts';
import { readGraph, readTurn } from './graph.ts';
import { GRAPH, INFO, PAGE, READ, WINDOW } from './readings.ts';
import type {
  GraphOptions,
  LabelledTurn,
  MessagePage,
  MessageWindow,
  PageOptions,
  PastHead,
  ReadOptions,
  WindowOptions,
} from './readings.ts';
import { searchConversation } from './search.ts';
import type { ConversationSearch, SearchPage } from './search.ts';
import { Tasks } from './tasks.ts';
import { subAgentsOf, writeAndCancelBelow } from './sub-agents.ts';
import type { SubAgent } from './sub-agents.ts';
import { ConversationUsage } from './usage.ts';
import { watchConversation } from './watch.ts';
import type { ConversationEvent, WatchOptions } from './watch.ts';

/**
 * One conversation. A method that writes is one commit; a method that reads is one consistent snapshot. The handle holds
 * nothing: two handles of the same conversation are the same.
 */
export class Conversation {
  readonly id: ConversationId;
  readonly tasks: Tasks;
  readonly commitments: Commitments;
  readonly checkpoints: Checkpoints;
  readonly inputs: Inputs;
  readonly usage: ConversationUsage;
  readonly memories: ConversationMemories;
  readonly #access: ConversationAccess;

  constructor(access: Access, namespace: NamespaceId, id: ConversationId) {
    this.id = id;
    this.#access = new ConversationAccess(access, namespace, id);
    this.tasks = new Tasks(this.#access);
    this.commitments = new Commitments(this.#access);
    this.checkpoints = new Checkpoints(this.#access);
    this.inputs = new Inputs(this.#access);
    this.usage = new ConversationUsage(this.#access);
    this.memories = new ConversationMemories(this.#access);
  }

  // ---- Writing

  /** Sends changes as one commit: all of them or none. */
  async commit(changes: readonly Change[], options?: WriteOptions): Promise<Receipt> {
    return this.#access.write(changes, options);
  }

  /** Creates the conversation with its list fields; any other first commit creates it too. */
  async create(fields: Omit<ConversationCreate, 'kind'> = {}, options?: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(fields, 'fields', { kind: 'conversation.create' })], options);
  }

  /** Changes list fields, or how far a reader has read. */
  async update(fields: Omit<ConversationUpdate, 'kind'>, options?: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(fields, 'fields', { kind: 'conversation.update' })], options);
  }

  /**
   * Appends a message to the active leaf. If that turn has ended, the message starts a recorded turn of its own; a tool
   * result always goes to the turn of its call.
   */
  async append(
    message: NewMessage,
    options: WriteOptions & { readonly turnId?: TurnId | null | undefined } = {},
  ): Promise<Receipt> {
    assertWriteOptions(options);
    // Copied before anything is awaited, so that later changes by the caller have no effect.
    const own = parseJson(message, 'commit.changes[0].message') as unknown as NewMessage;
    const append: Change = { kind: 'message.append', message: own, turnId: options.turnId };
    const record: Change = { kind: 'turn.record', origin: 'append' };
    const needsTurn =
      options.turnId === undefined && !answersCall(own) && (await this.#needsTurn(options.idempotencyKey));
    return this.commit(needsTurn ? [record, append] : [append], options);
  }

  /** True if an append has to bring its own turn; a call that is sent again is sent as it was the first time. */
  async #needsTurn(key: string | undefined): Promise<boolean> {
    const { sha256 } = this.#access.access.surroundings;
    return this.#access.access.read(this.#access.namespace, (rows) => {
      const head = rows.head(this.id);
      if (!head) return false;
      const earlier = key === undefined ? undefined : rows.get(this.id, KEYS.commit(key));
      if (earlier) return headerAt(rows, sha256, this.id, earlier[0] as number).events[0]?.kind === 'turn.record';
      if (head.leaf === null) return head.turns > 0;
      const leaf = ownTurn({ rows, head }, head.leaf);
      return !leaf || isTerminal(leaf.row.state);
    });
  }

  /**
   * Records a prompt, its turn (`preparing`) and its open operation. While a turn is at work it is `busy`, unless
   * `whenBusy` says otherwise: it may wait as an input (`enqueue`, `steer`), or cancel what is at work (`interrupt`),
   * that of sub-agents included.
   */
  async submit(turn: StartingTurn, options?: WriteOptions): Promise<SubmittedTurn>;
  async submit(turn: Omit<TurnSubmit, 'kind'>, options?: WriteOptions): Promise<SubmittedTurn | QueuedInput>;
  async submit(turn: Omit<TurnSubmit, 'kind'>, options?: WriteOptions): Promise<SubmittedTurn | QueuedInput> {
    const submit = withFields(turn, 'turn', { kind: 'turn.submit' });
    const receipt = await writeAndCancelBelow(this.#access, [submit], options);
    const mayWait = submit.whenBusy === 'enqueue' || submit.whenBusy === 'steer';
    return mayWait ? submissionOf(receipt) : submittedTurn(receipt);
  }

  /**
   * Submits other words for a turn: a new turn beside it, under the same parent; the old one stays, as a branch.
   * `expect.graphRevision` says which tree the caller saw. `resume` runs an agent at it.
   */
  async edit(turnId: TurnId, turn: Edit, options: WriteOptions): Promise<SubmittedTurn> {
    assertId(turnId, 'turnId');
    const own = ownFields(turn, 'turn');
    return this.submit({ ...own, parent: await parentBeside(this.#access, turnId, own) }, options);
  }

  /** Like {@link edit}, but asks the turn's own words again. */
  async regenerate(turnId: TurnId, turn: Regeneration, options: WriteOptions): Promise<SubmittedTurn> {
    assertId(turnId, 'turnId');
    const own = ownFields(turn, 'turn');
    const parent = await parentBeside(this.#access, turnId, own);
    return this.submit({ ...own, parent, samePromptAs: turnId }, options);
  }

  /** A completed turn with its messages, in one commit. */
  async record(
    turn: Omit<TurnRecord, 'kind'> & { readonly messages: readonly NewMessage[] },
    options?: WriteOptions,
  ): Promise<Receipt & { readonly turnId: TurnId }> {
    const { messages, ...record } = withFields(turn, 'turn', { kind: 'turn.record' as const });
    const appends = ownList(messages, 'messages').map((message) => ({ kind: 'message.append' as const, message }));
    const receipt = await this.commit([record, ...appends], options);
    return { ...receipt, turnId: eventOf(receipt, 'turn.record').turnId };
  }

  /** Moves a turn forward. If it is cancelled or fails, the work of its sub-agents is cancelled too. */
  async advance(turnId: TurnId, to: TurnState, options?: WriteOptions): Promise<Receipt> {
    return writeAndCancelBelow(this.#access, [{ kind: 'turn.advance', turnId, to }], options);
  }

  /** Makes a turn the active leaf; `expect.graphRevision` says which tree the caller saw. */
  async select(turnId: TurnId, options: WriteOptions): Promise<Receipt> {
    return this.commit([{ kind: 'leaf.select', turnId }], options);
  }

  /** Ends an operation, once, and moves its turn in the same commit; a failure reaches sub-agents as in {@link advance}. */
  async resolveOperation(
    operationId: OperationId,
    outcome: OperationResolve['outcome'],
    options?: WriteOptions,
  ): Promise<Receipt> {
    return writeAndCancelBelow(this.#access, [{ kind: 'operation.resolve', operationId, outcome }], options);
  }

  /** Saves where a turn lives in a provider's history, one binding for each; a `live` one is never overwritten (`binding_live`). */
  async saveBinding(binding: Omit<BindingSave, 'kind'>, options?: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(binding, 'binding', { kind: 'binding.save' })], options);
  }

  /** Updates working state: absent keeps, `null` clears, a value replaces. */
  async updateState(fields: Omit<StateUpdate, 'kind'>, options?: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(fields, 'fields', { kind: 'state.update' })], options);
  }

  /** Commits a summary that covers more of the path than the last; `expect.transcript` says what it was made from. */
  async commitSummary(summary: Omit<SummaryCommit, 'kind'>, options: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(summary, 'summary', { kind: 'summary.commit' })], options);
  }

  /** Removes a message's words everywhere the message is shared. */
  async redact(
    messageId: MessageId,
    how: { readonly reason: string; readonly replacement?: readonly Part[] | undefined },
    options?: WriteOptions,
  ): Promise<Receipt> {
    return this.commit([withFields(how, 'how', { kind: 'message.redact', messageId })], options);
  }

  /** Forks this conversation after a message, which the fork includes. The cost does not grow with the conversation. */
  async fork(
    at: MessageId,
    to: { readonly conversationId: ConversationId } & Omit<ConversationUpdate, 'kind' | 'readThrough'>,
    options?: WriteOptions,
  ): Promise<Conversation> {
    const { conversationId, ...cut } = withFields(to, 'to', {
      kind: 'conversation.fork' as const,
      source: this.id,
      at,
    });
    const { access, namespace } = this.#access;
    await access.write(namespace, conversationId, [cut], options);
    return new Conversation(access, namespace, conversationId);
  }

  /**
   * Creates a conversation for a sub-agent, under a turn that has not ended and a call in it. Lists leave it out; its usage
   * counts for this conversation too; it is cancelled with the turn and erased with this conversation.
   */
  async spawn(
    under: Omit<ConversationSpawn, 'kind' | 'parent'> & {
      readonly turnId: TurnId;
      readonly callId?: string | undefined;
      /** Minted when absent, from the idempotency key. */
      readonly conversationId?: ConversationId | undefined;
    },
    options: WriteOptions = {},
  ): Promise<Conversation> {
    assertWriteOptions(options);
    const said = withFields(under, 'under', { kind: 'conversation.spawn' as const });
    const { turnId, callId, conversationId: given, ...spawn } = said;
    const { access, namespace } = this.#access;
    const { sha256, now } = access.surroundings;
    const idempotencyKey = options.idempotencyKey ?? access.mintCommitId(now());
    const id = given ?? derivedId('sub', `${this.id} ${idempotencyKey}`, 0, sha256);
    const parent = { conversationId: this.id, turnId, callId };
    await access.write(namespace, id, [{ ...spawn, parent }], {
      ...options,
      idempotencyKey,
    });
    return new Conversation(access, namespace, id);
  }

  /** The conversations of sub-agents, of all turns or of one. */
  async subAgents(turnId?: TurnId): Promise<readonly SubAgent[]> {
    if (turnId !== undefined) assertId(turnId, 'turnId');
    return subAgentsOf(this.#access, turnId);
  }

  /** Erases the conversation and those of its sub-agents; what living forks share stays. Maintenance removes the rest. */
  async erase(how: { readonly reason?: string | undefined } = {}, options?: WriteOptions): Promise<Receipt> {
    return this.commit([withFields(how, 'how', { kind: 'conversation.erase' })], options);
  }

  // ---- Agents

  /**
   * Runs an agent at a new turn: prompt, operation and checkpoint are recorded together, then the agent works under a lease,
   * and each of its steps is recorded before and after. Called again with the same key, even by another process after a
   * crash, it continues the turn where it stopped. If the turn has ended, it returns how, without calling anything, or throws
   * `turn_failed`.
   */
  async run(turn: AgentTurnStart, agent: Agent, options: RunOptions): Promise<TurnOutcome> {
    return runTurn({ access: this.#access, conversation: this }, turn, agent, options);
  }

  /**
   * Continues a turn that waits or whose owner is no longer alive; `turn_held` if somebody works on it. What is recorded is
   * not done again. A step that may or may not have been done is `ambiguous`, unless it was declared safe to repeat, can be
   * looked up, or `settle` says what became of it.
   */
  async resume(turnId: TurnId, agent: Agent, options: ResumeOptions = {}): Promise<TurnOutcome> {
    return resumeTurn({ access: this.#access, conversation: this }, turnId, agent, options);
  }

  /** Starts the next turn with the input that has waited longest and runs an agent at it; `undefined` if none waits. */
  async runNext(agent: Agent, options: ResumeOptions = {}): Promise<TurnOutcome | undefined> {
    assertReady(agent, options);
    const turn = await this.inputs.startNext();
    const place = { access: this.#access, conversation: this };
    return turn && resumeNew(place, turn.turnId, agent, options);
  }

  /** Cancels a turn from anywhere, whoever works on it; its draft is kept as an incomplete message. */
  async stop(turnId: TurnId, reason: string): Promise<TurnOutcome> {
    assertId(turnId, 'turnId');
    return stopTurn(this.#access, turnId, reason);
  }

  /** Follows the unfinished answer of the turn at work, from a cursor on and then live; `null` if no turn is at work. */
  async reconnect(options: FollowOptions = {}): Promise<AsyncGenerator<DraftEvent> | null> {
    return reconnect(this.#access, options);
  }

  // ---- Reading

  /** Title, counters, leaf, last message, and how many messages a reader has not read. */
  async info(options: { readonly reader?: string | undefined } = {}): Promise<ConversationInfo> {
    assertChecked(options, INFO);
    return this.#access.view(({ tree, bodies }) => conversationInfo(bodies, tree.head, options.reader));
  }

  /** True if the conversation has a commit and was not erased. */
  async exists(): Promise<boolean> {
    return this.#access.access.read(this.#access.namespace, (rows) => rows.head(this.id)?.erasedAt === null);
  }

  /**
   * The last messages of a path, oldest first, at most `count`. It never separates a tool call from its results: a group that
   * does not fit is `group_too_large`. The cost depends on `count` alone.
   */
  async window(count: number, options: WindowOptions = {}): Promise<MessageWindow> {
    assertChecked(options, WINDOW);
    const before = options.before === undefined ? undefined : decodeCursor(options.before, windowCursor);
    return this.#access.view(({ tree, bodies }) => {
      const found = placedWindow(tree, { count, leaf: options.leaf, before });
      const damaged = options.damaged ?? 'refuse';
      const messages = found.messages.map((message) => readMessageOr(damaged, tree, bodies, message));
      return { messages, before: found.before && encodeCursor(found.before) };
    });
  }

  /** One page of the path from the root to a leaf. A cursor pins the path: later commits do not disturb it. */
  async page(options: PageOptions = {}): Promise<MessagePage> {
    assertChecked(options, PAGE);
    const { limit = 100 } = options;
    assertPageLimit(limit);
    const after = options.after === undefined ? undefined : decodeCursor(options.after, pageCursor);
    return this.#access.view((view) => {
      const leaf = after ? after.leaf : pathOf(view, options, PAGE).leaf;
      const found = placedPage(view.tree, { leaf, after, limit, atVersion: options.atVersion });
      const pending = found.next === null ? pendingPrompts(view, found.pin) : [];
      const read = (message: PlacedMessage) =>
        readMessageOr(options.damaged ?? 'refuse', view.tree, view.bodies, message);
      return {
        messages: found.messages.map(read),
        pending: pending.map(read),
        next: found.next && encodeCursor(found.next),
      };
    });
  }

  /** Every message of a path, root first, page by page; the path is pinned when the reading starts. */
  async *read(options: ReadOptions = {}): AsyncGenerator<Message> {
    assertChecked(options, READ);
    const { pageSize: limit = 100, ...path } = options;
    let after: string | undefined;
    do {
      const { messages, next }: MessagePage = await this.page({
        ...path,
        limit,
        ...(after === undefined ? {} : { after }),
      });
      yield* messages;
      after = next ?? undefined;
    } while (after !== undefined);
  }

  /** A message by its id, verified; damage is an answer (`source_corrupt`), not silence. */
  async message(messageId: MessageId): Promise<MessageLookup> {
    assertId(messageId, 'messageId');
    return this.#access.message(messageId);
  }

  /**
   * The tree: every turn that the conversation sees, as of one moment, with the first words of each. The words of many turns
   * are read in slices, so words that are redacted meanwhile may already be missing.
   */
  async graph(options: GraphOptions = {}): Promise<readonly LabelledTurn[]> {
    assertChecked(options, GRAPH);
    return readGraph(this.#access, options);
  }

  /** A turn that the conversation sees, as in {@link graph}; `undefined` if there is none. */
  async turn(turnId: TurnId): Promise<LabelledTurn | undefined> {
    assertId(turnId, 'turnId');
    return readTurn(this.#access, turnId);
  }

  /** The turns under the same parent, by ordinal. */
  async siblings(turnId: TurnId): Promise<readonly Sibling[]> {
    assertId(turnId, 'turnId');
    return this.#access.view(({ tree }) => readSiblings(tree, turnId));
  }

  /** Leaf and graph revision as they were after a version. */
  async at(version: number): Promise<PastHead> {
    return this.#access.view(({ tree, bodies }) => headAtVersion(tree, bodies, version, 'version'));
  }

  /** The working state that holds on a path; empty if nothing was noted. */
  async state(options: PathOptions = {}): Promise<WorkingState> {
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readState(view.tree, view.bodies, path, at);
    });
  }

  /** The summary that holds on a path. */
  async summary(options: PathOptions = {}): Promise<Summary | undefined> {
    return this.#access.view((view) => {
      const { path, at } = pathOf(view, options);
      return readSummary(view.tree, view.bodies, path, at);
    });
  }

  /**
   * What to hand a model: instructions, summary, transcript, working state, commitments, constraints, decisions and memories,
   * within a token budget, as a request that the provider accepts. It says what it left out and why. If the policy asks for
   * summaries, the answer may be `summary_required`; if not even the last message fits, the error is `context_too_large`.
   *
   * A turn is not the active leaf until it starts: pass `leaf: turn.turnId` to include the question that was just submitted.
   */
  async context(policy: ContextPolicy): Promise<ContextAnswer> {
    return contextOf(this.#access, policy);
  }

  /** Like {@link context}, but commits summaries made by `summarizer` until everything fits or the passes are used up. */
  async summarize(policy: ContextPolicy, summarizer: Summarizer, options?: SummarizeOptions): Promise<ContextAnswer> {
    return summarized(this.#access, policy, summarizer, options);
  }

  /** One of this conversation's own operations, open or ended; `undefined` if there is none of this id. */
  async operation(operationId: OperationId): Promise<Operation | undefined> {
    assertId(operationId, 'operationId');
    return this.#access.view(({ tree, bodies }) => readOperation(tree, bodies, operationId));
  }

  /** The open operations: at most one. */
  async openOperations(): Promise<readonly Operation[]> {
    return this.#access.view(({ tree, bodies }) => {
      const open = tree.head.openOperation;
      const operation = open === null ? undefined : readOperation(tree, bodies, open);
      return operation ? [operation] : [];
    });
  }

  /** The bindings of one of the conversation's own turns, one for each history, sorted by its name. */
  async bindings(turnId: TurnId): Promise<readonly Binding[]> {
    assertId(turnId, 'turnId');
    return this.#access.view(({ tree, bodies }) => readBindings(tree, bodies, turnId));
  }

  /** The steps of a turn, in the order in which they were first started. */
  async steps(turnId: TurnId): Promise<readonly Step[]> {
    assertId(turnId, 'turnId');
    return this.#access.view(({ tree, bodies }) => readSteps(tree, bodies, turnId));
  }

  /** What a turn asked, in order; without a turn, everything that is still open. */
  async interrupts(turnId?: TurnId): Promise<readonly Interrupt[]> {
    if (turnId !== undefined) assertId(turnId, 'turnId');
    return this.#access.view(({ tree, bodies }) => {
      if (turnId !== undefined) return readInterrupts(tree, bodies, turnId);
      return tree.head.openInterrupts.flatMap((id) => readInterrupt(tree, bodies, id) ?? []);
    });
  }

  /** A question and what became of it; `undefined` if this conversation has none of this id. */
  async interrupt(interruptId: InterruptId): Promise<Interrupt | undefined> {
    assertId(interruptId, 'interruptId');
    return this.#access.view(({ tree, bodies }) => readInterrupt(tree, bodies, interruptId));
  }

  /** One launch of an agent. */
  async runRecord(runId: RunId): Promise<Run | undefined> {
    assertId(runId, 'runId');
    return this.#access.view(({ tree, bodies }) => readRun(tree, bodies, runId));
  }

  /** An operator for a user at a terminal: each message continues the active task or begins one. */
  operator(settings: OperatorSettings = {}): Operator {
    return new Operator(this.#access, settings);
  }

  /** Finds a literal text in what this conversation sees; see `Namespace.search`. */
  async search(text: string, options: ConversationSearch = {}): Promise<SearchPage> {
    return searchConversation(this.#access, text, options);
  }

  /** The commits of this conversation after a version, then live, in order, without a gap or a repeat. */
  watch(options: WatchOptions = {}): AsyncGenerator<ConversationEvent> {
    return watchConversation(this.#access, options);
  }
}

/** The message is not checked yet: an invalid one is refused by its commit, with the path of the fault. */
function answersCall(message: NewMessage): boolean {
  const parts: unknown = (message as NewMessage | null | undefined)?.parts;
  if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'object' || part === null)) return false;
  return callsOf(parts as readonly Part[]).answers.length > 0; // parts without a type are passed over
}

/** The prompts of turns behind the active leaf that have not started: a submitted turn shows at once. */
function pendingPrompts({ tree }: View, pin: PagePin): readonly PlacedMessage[] {
  const { leaf, lastSequence, atVersion } = pin;
  if (leaf !== tree.head.leaf || atVersion !== null) return [];
  return tree.head.busy.flatMap((turnId) => {
    const turn = ownTurn(tree, turnId);
    if (!turn || hasStarted(turn.row.state) || !isBehind(turn.row, leaf)) return [];
    const prompts = messagesAt(tree, tree.head.conversationId, turn.branch, turn.position);
    return prompts.filter((message) => message.sequence <= lastSequence);
  });
}

/** True if the turn goes on from the whole leaf, not from a message within it. */
function isBehind(turn: TurnRow, leaf: TurnId | null): boolean {
  return turn.parentTurnId === leaf && turn.parentMessageId === null;
}
