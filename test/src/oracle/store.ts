import type { Backend, ConversationId, Head, NamespaceId, RowReader, Surroundings, TurnId } from 'turnkeep/core';
import { isTurnkeepError } from 'turnkeep/core';
import { TABLES, afterSeparator, numbersIn, USAGE_OF } from '../../../packages/turnkeep/dist/core/keys.js';
import { readInterrupts, readRun, readSteps } from '../../../packages/turnkeep/dist/core/read/agent.js';
import { Bodies } from '../../../packages/turnkeep/dist/core/read/bodies.js';
import { readCheckpoint, readPendingWrites } from '../../../packages/turnkeep/dist/core/read/checkpoint.js';
import { Ledger } from '../../../packages/turnkeep/dist/ledger/ledger.js';
import { readInput, readWaitingInputs } from '../../../packages/turnkeep/dist/core/read/inputs.js';
import { graphTurns } from '../../../packages/turnkeep/dist/core/read/graph.js';
import { conversationInfo } from '../../../packages/turnkeep/dist/core/read/listing.js';
import { lookUpMessage, readMessage } from '../../../packages/turnkeep/dist/core/read/message.js';
import { placedPage } from '../../../packages/turnkeep/dist/core/read/pages.js';
import type { PageCursor } from '../../../packages/turnkeep/dist/core/read/pages.js';
import { readCommitments, readState, readSummary } from '../../../packages/turnkeep/dist/core/read/state.js';
import {
  messagesOfTask,
  readActiveTask,
  readLatestTask,
  readTasks,
} from '../../../packages/turnkeep/dist/core/read/tasks.js';
import { readBindings, readOperation } from '../../../packages/turnkeep/dist/core/read/turns.js';
import { placedWindow } from '../../../packages/turnkeep/dist/core/read/window.js';
import { unpackTurn } from '../../../packages/turnkeep/dist/core/rows.js';
import { isShelf, SHELVES } from '../../../packages/turnkeep/dist/core/shelf.js';
import { readMemories, readMemory } from '../../../packages/turnkeep/dist/core/read/memories.js';
import { readUsage, readUsageByDay, readUsageTotal } from '../../../packages/turnkeep/dist/core/read/usage.js';
import type { UsageTotal } from '../../../packages/turnkeep/dist/core/read/usage.js';
import { pathTo, scanPrefix } from '../../../packages/turnkeep/dist/core/tree/path.js';
import type { Tree } from '../../../packages/turnkeep/dist/core/tree/path.js';
import type { Question } from './questions.ts';
import { inAnyOrder, inOrder } from './same.ts';

export type { PageCursor } from '../../../packages/turnkeep/dist/core/read/pages.js';

/** The library under test: a backend, asked through the readings that its users have. */
export class Store {
  readonly backend: Backend;
  readonly #namespace: NamespaceId;
  readonly #surroundings: Surroundings;
  readonly #ledger: Ledger;

  constructor(backend: Backend, namespace: NamespaceId, surroundings: Surroundings) {
    this.backend = backend;
    this.#namespace = namespace;
    this.#surroundings = surroundings;
    this.#ledger = new Ledger(backend, surroundings, () => 'unused');
  }

  async put(bytes: Uint8Array): Promise<void> {
    await this.#ledger.namespace(this.#namespace).attachments.put(bytes);
  }

  /** Those of the digests whose bytes are there, checked. */
  async filesAmong(digests: readonly string[]): Promise<readonly string[]> {
    const { attachments } = this.#ledger.namespace(this.#namespace);
    const found: string[] = [];
    for (const digest of digests) {
      if (!(await attachments.stat(digest))) continue;
      await (await attachments.get(digest)).bytes();
      found.push(digest);
    }
    return found;
  }

  /** Answers questions, those that need no search of one snapshot. A refusal is an answer too. */
  async answer(questions: readonly Question[]): Promise<readonly unknown[]> {
    const atOnce = await this.backend.read(this.#namespace, (rows) =>
      questions.map((question) =>
        question.ask === 'search' ? undefined : orRefusal(() => new Reading(rows, this.#surroundings).answer(question)),
      ),
    );
    const answers: unknown[] = [];
    for (const [at, question] of questions.entries()) {
      answers.push(question.ask === 'search' ? await this.#search(question) : atOnce[at]);
    }
    return answers;
  }

  async #search(question: Extract<Question, { ask: 'search' }>): Promise<readonly string[]> {
    const { conversation, leaf, text } = question;
    const namespace = this.#ledger.namespace(this.#namespace);
    const searcher = conversation === undefined ? namespace : namespace.conversation(conversation);
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await searcher.search(text, { limit: 5, after, ...(leaf === undefined ? {} : { leaf }) });
      if (page.hits.length > 5) throw new Error(`a page of 5 holds ${page.hits.length}`);
      for (const { conversationId, messageId, sequence, turnId } of page.hits) {
        found.push(messageId === undefined ? `title ${conversationId}` : `message ${messageId} ${sequence} ${turnId}`);
      }
      if (page.next === null) return found.sort();
      after = page.next;
    }
  }

  /** The first place where a paged reading of a path may be taken up again; absent on a short path. */
  async pageCursor(conversation: ConversationId, leaf: TurnId | null, limit: number): Promise<PageCursor | null> {
    return this.backend.read(this.#namespace, (rows) => {
      const head = rows.head(conversation);
      return head ? placedPage({ rows, head }, { leaf, limit }).next : null;
    });
  }

  /** Everything that is stored of some conversations but its tiers, as text: to see that nothing of it has changed. */
  async dump(conversations: readonly ConversationId[]): Promise<string> {
    return this.backend.read(this.#namespace, (rows) => {
      const all = conversations.map((id) => {
        const head = rows.head(id);
        const log = Array.from({ length: head?.version ?? 0 }, (_, at) => rows.log(id, at + 1));
        return [head, scanPrefix(rows, id, ''), log.map((record) => ({ ...record, tier: undefined }))];
      });
      return JSON.stringify(all);
    });
  }
}

export function orRefusal(ask: () => unknown): unknown {
  try {
    return ask();
  } catch (error) {
    if (isTurnkeepError(error)) return { refused: error.code, ...error.details, reason: undefined };
    throw error;
  }
}

/** One snapshot. */
class Reading {
  readonly #rows: RowReader;
  readonly #bodies: Bodies;

  constructor(rows: RowReader, surroundings: Surroundings) {
    this.#rows = rows;
    this.#bodies = new Bodies(rows, surroundings.sha256);
  }

  answer(question: Exclude<Question, { ask: 'search' }>): unknown {
    switch (question.ask) {
      case 'listing':
        return this.#listing(question.order, question.limit);
      case 'memories':
        return this.#memories();
      case 'spent':
        return this.#spent(SHELVES.usage);
      case 'tombstone':
        return this.#tombstone(question.conversation);
      case 'held':
        return this.#held(question.conversation);
      default:
        return this.#answerIn(this.#tree(question.conversation), question);
    }
  }

  #answerIn(
    tree: Tree,
    question: Exclude<Question, { ask: 'spent' | 'memories' | 'listing' | 'tombstone' | 'held' | 'search' }>,
  ): unknown {
    switch (question.ask) {
      case 'head':
        return this.#head(tree.head, question.reader);
      case 'moment':
        return this.#moment(tree.head, question.version);
      case 'graph':
        return graphTurns(tree, question.version).map(({ branch: _branch, position: _position, ...turn }) => turn);
      case 'path': {
        const { leaf, version: atVersion } = question;
        return this.#pages(tree, { leaf, atVersion, limit: 1_000 }).flat();
      }
      case 'pages':
        return this.#pages(tree, { leaf: question.leaf, limit: question.limit });
      case 'pinned':
        return this.#pages(tree, { after: question.pin.cursor, limit: question.limit });
      case 'window': {
        const { leaf, count, before } = question;
        const window = placedWindow(tree, { leaf, count, before: before && { leaf, ...before } });
        return { messages: window.messages.map(({ row }) => row.messageId), before: window.before };
      }
      case 'context':
        return this.#context(tree, question.leaf, question.version);
      case 'message': {
        const found = lookUpMessage(tree, this.#bodies, question.messageId);
        return found.status === 'found_verified' ? found.message : null;
      }
      case 'task':
        return messagesOfTask(tree, question.taskId).map(({ row }) => row.messageId);
      case 'usage':
        return this.#usage(tree);
      case 'beside':
        return this.#beside(tree);
      default:
        throw new Error('no such question');
    }
  }

  #tree(conversation: ConversationId): Tree {
    const head = this.#rows.head(conversation);
    if (!head) throw new Error(`${conversation} has no head`);
    return { rows: this.#rows, head };
  }

  #listing(order: 'activity' | 'created', limit: number): readonly ConversationId[] {
    const ids: ConversationId[] = [];
    for (let after: { at: number; conversationId: ConversationId } | undefined; ;) {
      const heads = this.#rows.heads({ order, limit, after });
      ids.push(...heads.map((head) => head.conversationId).filter((id) => !isShelf(id)));
      const last = heads.at(-1);
      if (!last || heads.length < limit) return ids;
      after = { at: order === 'activity' ? last.lastActivityAt : last.createdAt, conversationId: last.conversationId };
    }
  }

  #tombstone(conversation: ConversationId) {
    const { conversationId, version, graphRevision, createdAt, lastActivityAt, erasedAt } =
      this.#tree(conversation).head;
    return { conversationId, version, graphRevision, createdAt, lastActivityAt, erasedAt };
  }

  #head(head: Head, reader: string) {
    const { chain: _chain, lastMessage, ...info } = conversationInfo(this.#bodies, head, reader);
    const preview = lastMessage && { role: lastMessage.role, preview: lastMessage.preview.split(' ')[0] };
    const titleSource = info.title === null ? null : info.titleSource;
    return { ...info, titleSource, lastMessage: preview, cutTurn: head.cutTurn, busy: head.busy };
  }

  #moment(head: Head, version: number) {
    const header = this.#bodies.header(head.conversationId, version);
    const { commitId, graphRevision, at, events, leaf } = header;
    const { conversationId } = head;
    const committedAt = new Date(at).toISOString();
    const receipt = {
      commitId,
      conversationId,
      version,
      graphRevision,
      committedAt,
      events: events.map(withoutRecord),
      replayed: false,
    };
    return { receipt, leaf };
  }

  #pages(tree: Tree, options: Parameters<typeof placedPage>[1]) {
    const pages = [];
    for (let page = placedPage(tree, options); ; page = placedPage(tree, { ...options, after: page.next })) {
      pages.push(page.messages.map((message) => readMessage(tree, this.#bodies, message)));
      if (page.next === null) return pages;
    }
  }

  #context(tree: Tree, leaf: TurnId | null, version: number | undefined) {
    const at = { version };
    const path = () => pathTo(tree, leaf);
    return {
      state: readState(tree, this.#bodies, path, at),
      tasks: readTasks(tree, this.#bodies, path, at),
      commitments: readCommitments(tree, this.#bodies, path, at),
      summary: readSummary(tree, this.#bodies, path, at),
      active: readActiveTask(tree, this.#bodies, path, at)?.taskId ?? null,
      latest: readLatestTask(tree, this.#bodies, path, at)?.taskId ?? null,
    };
  }

  #usage(tree: Tree) {
    const own = tree.head.conversationId;
    const ids = scanPrefix(this.#rows, own, TABLES.usages).map((row) => row.key.slice(1));
    return {
      ...this.#spent(own),
      turns: ownTurnIds(this.#rows, own).map((turnId) => [
        turnId,
        inModels(readUsageTotal(this.#rows, own, USAGE_OF.turn(turnId))),
      ]),
      calls: inAnyOrder(ids.map((usageId) => readUsage(tree, this.#bodies, usageId))),
    };
  }

  #memories(): readonly unknown[] {
    return readMemories(this.#bodies).map(({ memoryId, revision, createdAt, updatedAt }) => {
      const revisions = Array.from({ length: revision + 1 }, (_, at) => {
        const found = readMemory(this.#bodies, memoryId, at);
        const { memoryId: _id, revision: _at, createdAt: _created, updatedAt: _updated, ...words } = found ?? {};
        return words;
      });
      return { memoryId, revision, createdAt, updatedAt, revisions };
    });
  }

  #spent(owner: ConversationId) {
    const days = readUsageByDay(this.#rows, owner, 0, 100_000);
    return { total: inModels(readUsageTotal(this.#rows, owner, USAGE_OF.all)), days: days.map(inModels) };
  }

  #beside(tree: Tree) {
    const keys = (table: string) =>
      scanPrefix(this.#rows, tree.head.conversationId, table).map((row) => row.key.slice(1));
    const idsOf = (table: string) => [...new Set(keys(table).map((key) => key.slice(0, key.indexOf('\u0001'))))];
    const operations = keys(TABLES.operations).map((id) => {
      const { operationId, turnId, status, failure = null } = readOperation(tree, this.#bodies, id) ?? {};
      return { operationId, turnId, status, failure };
    });
    const bindings = idsOf(TABLES.bindings).flatMap((turnId) => readBindings(tree, this.#bodies, turnId));
    const checkpoints = keys(TABLES.checkpoints).map((key) => {
      const checkpointId = key.slice(0, key.indexOf('\u0001'));
      const revision = numbersIn(afterSeparator(key), 0)[0] as number;
      const { committedAt: _at, ...whole } = readCheckpoint(tree, this.#bodies, checkpointId, revision) ?? {};
      return { ...whole, writes: readPendingWrites(tree, this.#bodies, checkpointId, revision) };
    });
    const inputs = keys(TABLES.inputs).map((id) => {
      const { enqueuedAt: _at, ...input } = readInput(tree, this.#bodies, id) ?? {};
      return input;
    });
    return {
      operations: inAnyOrder(operations),
      bindings: inAnyOrder(bindings),
      checkpoints: inAnyOrder(checkpoints),
      inputs: inAnyOrder(inputs),
      queue: readWaitingInputs(tree, this.#bodies).map(({ inputId }) => inputId),
      ...this.#agents(tree),
    };
  }

  #agents(tree: Tree) {
    const own = tree.head.conversationId;
    const runIds = scanPrefix(this.#rows, own, TABLES.runs).map((row) => row.key.slice(1));
    const runs = runIds.map((runId) => {
      const {
        startedAt: _startedAt,
        endedAt: _endedAt,
        reason = null,
        ...run
      } = readRun(tree, this.#bodies, runId) ?? {};
      return { ...run, reason };
    });
    const turnIds = ownTurnIds(this.#rows, own);
    return {
      runs: inAnyOrder(runs),
      steps: turnIds.map((turnId) =>
        readSteps(tree, this.#bodies, turnId).map(({ startedAt: _startedAt, endedAt: _endedAt, ...step }) => step),
      ),
      interrupts: turnIds.map((turnId) =>
        readInterrupts(tree, this.#bodies, turnId).map(
          ({ requestedAt: _requestedAt, closedAt: _closedAt, ...interrupt }) => interrupt,
        ),
      ),
      openInterrupts: tree.head.openInterrupts,
    };
  }

  /** What is left in the rows and records of an erased conversation. */
  #held(conversation: ConversationId) {
    const scan = (table: string) => scanPrefix(this.#rows, conversation, table);
    const { version } = this.#tree(conversation).head;
    const logs = Array.from({ length: version }, (_, at) => this.#rows.log(conversation, at + 1));
    const words = logs
      .flatMap((log) => log?.records ?? [])
      .flatMap((record) => (record.body === null ? [] : inOrder(JSON.parse(record.body))));
    const entries = scan(TABLES.entries).map((row) => {
      const [, stampVersion, index] = numbersIn(afterSeparator(row.key), 0);
      // The branch's number comes first: its length in base 36, then so many digits.
      const name = row.key.slice(2 + parseInt(row.key[1] ?? '0', 36), row.key.lastIndexOf('\u0001'));
      return [stampVersion, index, name.split(':')[0]].join(' ');
    });
    const gone = [
      TABLES.commits,
      TABLES.operations,
      TABLES.prompts,
      TABLES.bindings,
      TABLES.checkpoints,
      TABLES.pendingWrites,
      TABLES.contents,
      TABLES.attempts,
      TABLES.runs,
      TABLES.steps,
      TABLES.interrupts,
      TABLES.interruptIds,
      TABLES.readers,
      TABLES.inputs,
      TABLES.spawned,
      TABLES.usages,
      TABLES.usageSums,
      TABLES.waiting,
    ];
    return {
      messages: scan(TABLES.messages)
        .map((row) => row.value[0] as string)
        .sort(),
      turns: scan(TABLES.turns)
        .map((row) => row.value[0] as string)
        .sort(),
      entries: entries.filter((entry) => !entry.endsWith(' tasks')).sort(),
      words: words.sort(),
      others: gone.flatMap((table) => scan(table)).length,
    };
  }
}

/** A conversation's own turns, in the order in which they were made. */
function ownTurnIds(rows: RowReader, own: ConversationId): readonly TurnId[] {
  const turns = scanPrefix(rows, own, TABLES.turns).map((row) => unpackTurn(row.value));
  const inOrder = turns.sort(
    (left, right) => left.created.version - right.created.version || left.created.index - right.created.index,
  );
  return inOrder.map((turn) => turn.turnId);
}

/** The oracle names models in its own order. */
function inModels<Total extends UsageTotal>(total: Total): Total {
  const models = [...total.models].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  return { ...total, models };
}

/** Which record of its commit holds a change's words is no business of the oracle's. */
export function withoutRecord(event: object): object {
  const { record: _record, ...rest } = event as { readonly record?: number };
  return rest;
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} ${model}`;
}
