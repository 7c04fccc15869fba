import type { ConversationId, MessageId, Part, TaskId, TurnId } from 'turnkeep/core';
import { tasksOn } from './changes/entries.ts';
import { busyTurns } from './changes/turn.ts';
import type { Conversation, Message, Note, Stamp, Step, Turn, Words } from './model.ts';
import type { Oracle } from './oracle.ts';
import { cutTurn, findMessage, messagesOn, notesOn, pathTo, visibleMessages, visibleTurns } from './path.ts';
import type { Seen } from './path.ts';
import type { Question } from './questions.ts';
import { inAnyOrder, inOrder } from './same.ts';
import { stateOf } from './turn-states.ts';
import { usageByDay, usageTotal } from './usage-sums.ts';
import { windowOf } from './window.ts';

/** What every reading answers, by definition: a filter over everything. */
export function answerOf(oracle: Oracle, question: Question): unknown {
  switch (question.ask) {
    case 'listing':
      return listing(oracle, question.order);
    case 'tombstone':
      return oracle.find(question.conversation);
    case 'search':
      return search(oracle, question);
    case 'memories':
      return memories(oracle);
    case 'usage':
      return usage(oracle, oracle.living(question.conversation));
    case 'spent':
      return { total: usageTotal(oracle.spent), days: usageByDay(oracle.spent) };
    case 'held':
      return held(oracle, question.conversation);
    default:
      return answerIn(oracle.living(question.conversation), question);
  }
}

type Within = Exclude<Question, { ask: 'spent' | 'usage' | 'memories' | 'listing' | 'tombstone' | 'search' | 'held' }>;

function answerIn(conversation: Conversation, question: Within): unknown {
  switch (question.ask) {
    case 'head':
      return head(conversation, question.reader);
    case 'moment':
      return moment(conversation, question.version);
    case 'graph':
      return graph(conversation, question.version);
    case 'path':
      return path(conversation, question.leaf, { version: question.version });
    case 'pages':
      return inPages(path(conversation, question.leaf), question.limit);
    case 'pinned':
      return inPages(pinned(conversation, question.pin), question.limit);
    case 'window':
      return windowOf(conversation, question);
    case 'context':
      return context(pathTo(conversation, question.leaf, { version: question.version }));
    case 'message': {
      const message = findMessage(conversation, question.messageId);
      return message ? shown(message) : null;
    }
    case 'task':
      return ofTask(conversation, question.taskId);
    case 'beside':
      return beside(conversation);
    default:
      throw new Error('no such question');
  }
}

/** What the namespace remembers, each revision, in the order in which it was made. */
function memories(oracle: Oracle): readonly unknown[] {
  const held = [...oracle.memories.values()].filter((memory) => !memory.forgotten);
  return held.map(({ memoryId, said, createdAt, updatedAt, revision }) => ({
    memoryId,
    revision,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    revisions: said.map(({ content, conversationId }) => ({ ...content, conversationId })),
  }));
}

/** What was used, by the conversation, each of its turns, and each day; and every call as it was recorded. */
function usage(oracle: Oracle, conversation: Conversation) {
  const { conversationId } = conversation;
  const all = oracle.spent.filter(({ counts }) => counts.has(conversationId));
  const ofTurn = (turnId: TurnId) => all.filter(({ counts }) => counts.get(conversationId) === turnId);
  const own = [...conversation.usages.values()];
  return {
    total: usageTotal(all),
    turns: conversation.turns.map(({ turnId }) => [turnId, usageTotal(ofTurn(turnId))]),
    days: usageByDay(all),
    calls: inAnyOrder(own.map(({ usageId, words, at }) => ({ ...words, usageId, recordedAt: iso(at) }))),
  };
}

/** Every conversation by last activity or creation, the newest first; of one time, by id. */
function listing(oracle: Oracle, order: 'activity' | 'created'): readonly ConversationId[] {
  const timeOf = (one: { lastActivityAt: number; createdAt: number }) =>
    order === 'activity' ? one.lastActivityAt : one.createdAt;
  const all = [...oracle.all()].sort(
    (left, right) => timeOf(right) - timeOf(left) || (left.conversationId < right.conversationId ? -1 : 1),
  );
  return all.map((one) => one.conversationId);
}

function head(conversation: Conversation, reader: string) {
  const { conversationId, version, graphRevision, leaf, source, lastSequence, openOperation, fields } = conversation;
  const last = conversation.messages.at(-1);
  const titled = fields['title'] === undefined ? { title: null, titleSource: null } : {};
  const lists = {
    titleSource: null,
    owner: null,
    participants: [],
    labels: [],
    pinned: false,
    archived: false,
    busyScope: 'conversation',
  };
  return {
    ...lists,
    metadata: null,
    origin: null,
    ...fields,
    ...titled,
    conversationId,
    source,
    parent: conversation.parent,
    cutTurn: cutTurn(conversation),
    createdAt: iso(conversation.createdAt),
    lastActivityAt: iso(conversation.lastActivityAt),
    version,
    graphRevision,
    leaf,
    lastSequence,
    openOperation,
    messageCount: conversation.messages.length,
    turnCount: conversation.turns.length,
    lastMessage: last ? { role: last.role, preview: firstWord(last.words) } : null,
    state: busyTurns(conversation).length > 0 ? 'busy' : 'idle',
    busy: busyTurns(conversation).map((turn) => turn.turnId),
    unread: lastSequence - (conversation.readers.get(reader) ?? 0),
  };
}

/** What a list shows of the last message; nothing of words that were taken away. */
function firstWord(words: Words): string {
  if (words.content === null) return '';
  return textsOf(words)[0]?.split(' ')[0] ?? '';
}

/** All that a search looks at, piece by piece: what was said, and the names, inputs and outputs of tools. */
function textsOf(words: Words): readonly string[] {
  const shown = words.content ?? words.redaction?.replacement?.content;
  const parts = (shown?.['parts'] ?? []) as unknown as readonly Part[];
  return parts.flatMap((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'tool_call') return [part.name, ...piecesOf(part.input)];
    return part.type === 'tool_result' ? piecesOf(part.output) : [];
  });
}

/** The keys, texts and numbers of a value. */
function piecesOf(value: unknown): readonly string[] {
  if (value === null || typeof value !== 'object') return [String(value)];
  return Object.entries(value).flatMap(([key, member]) => [key, ...piecesOf(member)]);
}

/** A version as its commit left it: what it was answered, and the head. */
function moment(conversation: Conversation, version: number) {
  const at = conversation.moments[version - 1];
  return at && { receipt: at.receipt, leaf: at.leaf };
}

/** The turns of the tree, inherited ones first; as of a version where one is given. */
function graph(conversation: Conversation, version: number = Infinity) {
  const { conversationId } = conversation;
  const seen = visibleTurns(conversation).filter(
    (turn) => turn.conversationId !== conversationId || turn.moves[0].stamp.version <= version,
  );
  return seen.map((turn) => graphTurn(turn, turn.conversationId === conversationId ? version : Infinity));
}

function graphTurn(turn: Turn, version: number) {
  const { turnId, conversationId, under, ordinal, why } = turn;
  const parentMessageId = under.cut?.messageId ?? null;
  return {
    turnId,
    conversationId,
    parentTurnId: under.turnId,
    parentMessageId,
    ordinal,
    why,
    state: stateOf(turn, version),
  };
}

function path(conversation: Conversation, leaf: TurnId | null, seen: Seen = {}) {
  return messagesOn(pathTo(conversation, leaf, seen)).map(shown);
}

/** A reading that is pinned sees nothing that came after it was begun. */
function pinned(conversation: Conversation, pin: { leaf: TurnId | null; lastSequence: number; messageId: MessageId }) {
  const messages = path(conversation, pin.leaf, { sequence: pin.lastSequence });
  return messages.slice(messages.findIndex((message) => message.messageId === pin.messageId) + 1);
}

function inPages<Item>(items: readonly Item[], limit: number): readonly (readonly Item[])[] {
  const pages = [items.slice(0, limit)];
  for (let at = limit; at < items.length; at += limit) pages.push(items.slice(at, at + limit));
  return pages;
}

/** A message as it is read. Where the words were taken away its place, its role and the reason stay. */
function shown(message: Message) {
  const { messageId, conversationId, turnId, sequence, committedAt, role, words } = message;
  const place = { messageId, conversationId, turnId, sequence, committedAt, tier: words.isCool ? 'cool' : 'hot' };
  if (words.content) return { ...words.content, ...place };
  const { reason, at, replacement } = words.redaction ?? { reason: '', at: '', replacement: null };
  return { role, parts: replacement?.content?.['parts'] ?? [], redaction: { reason, at }, ...place };
}

const EMPTY_STATE = { objective: null, stage: null, nextStep: null, blockers: [], plan: [], stateVersion: 0 };

/** What holds on a path. */
function context(steps: readonly Step[]) {
  const notes = [...notesOn(steps).values()];
  return {
    state: { ...EMPTY_STATE, ...notes.filter((note) => note.kind === 'state').map(shownNote)[0] },
    tasks: notes.filter((note) => note.kind === 'task').map(shownNote),
    commitments: notes.filter((note) => note.kind === 'commitment').map(shownNote),
    summary: notes.filter((note) => note.kind === 'summary').map(shownNote)[0],
    ...tasksOn(steps),
  };
}

function shownNote(note: Note): object {
  const words = note.words.content;
  if (note.kind === 'state') return { ...words, stateVersion: note.stateVersion };
  if (note.kind === 'summary') return { ...words, upTo: note.upTo, seen: note.seen };
  const { status, createdAt } = note;
  if (note.kind === 'task') {
    return { ...words, taskId: note.taskId, status, createdAt: iso(createdAt), updatedAt: iso(note.updatedAt) };
  }
  const resolvedAt = note.resolvedAt === null ? null : iso(note.resolvedAt);
  return { ...words, commitmentId: note.commitmentId, status, createdAt: iso(createdAt), resolvedAt };
}

/** The messages that belong to a task, on whatever path, by sequence. */
function ofTask(conversation: Conversation, taskId: TaskId): readonly MessageId[] {
  const found = visibleMessages(conversation).filter((message) => message.taskId === taskId);
  return [...found].sort((left, right) => left.sequence - right.sequence).map((message) => message.messageId);
}

/**
 * A search finds exactly what a scan of everything visible finds: of one path, of one conversation, or of the namespace,
 * where each message counts once, whoever sees it. A title is found in its own conversation.
 */
function search(oracle: Oracle, question: Extract<Question, { ask: 'search' }>): readonly string[] {
  const { conversation: id, leaf, text } = question;
  const conversations = id === undefined ? oracle.everyLiving() : [oracle.living(id)];
  const seen = conversations.flatMap((one) =>
    leaf === undefined ? visibleMessages(one) : messagesOn(pathTo(one, leaf)),
  );
  const hits = seen.filter((message) => textsOf(message.words).some((piece) => piece.includes(text)));
  const once = new Map(hits.map((message) => [JSON.stringify([message.conversationId, message.messageId]), message]));
  const messages = [...once.values()].map(
    (message) => `message ${message.messageId} ${message.sequence} ${message.turnId}`,
  );
  const titled = conversations.filter((one) => ((one.fields['title'] ?? '') as string).includes(text));
  return [...messages, ...titled.map((one) => `title ${one.conversationId}`)].sort();
}

/** What belongs to the conversation and to none of its paths; a fork inherits nothing of it. */
function beside(conversation: Conversation) {
  const operations = [...conversation.operations.values()].map(({ openedAt: _openedAt, ...operation }) => operation);
  const bindings = [...conversation.bindings].map(([key, { capture, cursor }]) => {
    const [turnId, history] = JSON.parse(key) as [string, string];
    return { turnId, history, capture, cursor };
  });
  const checkpoints = [...conversation.checkpoints].flatMap(([checkpointId, revisions]) =>
    revisions.map(({ words, writes, ...about }, revision) => ({
      ...about,
      ...words,
      checkpointId,
      revision,
      writes: inPlace([...writes.values()] as unknown as readonly WritePlace[]),
    })),
  );
  const runs = [...conversation.runs].map(([runId, { status, words, reason, baseTurnId }]) => ({
    runId,
    status,
    baseTurnId,
    reason,
    ...words,
  }));
  const inputs = [...conversation.inputs.values()].map(({ words, cameAt: _cameAt, ...input }) => {
    const { role: _role, parts = [], ...said } = words.content ?? {};
    return { ...input, ...said, prompt: parts };
  });
  const queue = inputs.filter((input) => input.status === 'waiting').map((input) => input.inputId);
  return {
    operations: inAnyOrder(operations),
    bindings: inAnyOrder(bindings),
    checkpoints: inAnyOrder(checkpoints),
    runs: inAnyOrder(runs),
    steps: conversation.turns.map(({ turnId }) => stepsOf(conversation, turnId)),
    interrupts: conversation.turns.map(({ turnId }) => interruptsOf(conversation, turnId)),
    openInterrupts: [...conversation.interrupts.values()]
      .filter((one) => one.status === 'open')
      .map((one) => one.interruptId),
    inputs: inAnyOrder(inputs),
    queue,
  };
}

/** The steps of a turn by their first start; of one whose words were taken away, what is left. */
function stepsOf(conversation: Conversation, turnId: TurnId) {
  const steps = [...conversation.steps.values()].filter((step) => step.turnId === turnId).sort(byStamp);
  return steps.map(({ key, status, repeat, starts, token, said, outcome, messageId }) => ({
    turnId,
    key,
    status,
    repeat,
    starts,
    token,
    ...said.content,
    ...(status === 'succeeded' ? { result: outcome?.content?.['result'] } : {}),
    ...(messageId === null ? {} : { messageId }),
    ...(status === 'failed' && outcome?.content ? { failure: outcome.content } : {}),
    ...(said.content === null || outcome?.content === null ? { redacted: true } : {}),
  }));
}

function interruptsOf(conversation: Conversation, turnId: TurnId) {
  const interrupts = [...conversation.interrupts.values()].filter((one) => one.turnId === turnId).sort(byStamp);
  return interrupts.map(({ interruptId, status, type, callId, asked, expiresAt, answer }) => ({
    interruptId,
    turnId,
    status,
    type,
    callId,
    expiresAt: expiresAt === null ? null : iso(expiresAt),
    ...asked.content,
    ...(answer?.content ? { answer: answer.content } : {}),
    ...(asked.content === null || answer?.content === null ? { redacted: true } : {}),
  }));
}

function byStamp(left: { readonly stamp: Stamp }, right: { readonly stamp: Stamp }): number {
  return left.stamp.version - right.stamp.version || left.stamp.index - right.stamp.index;
}

interface WritePlace {
  readonly taskPath: string;
  readonly task: string;
  readonly index: number;
}

/** Pending writes stand by task path, task and index. */
function inPlace(writes: readonly WritePlace[]): readonly WritePlace[] {
  const byText = (left: string, right: string) => (left === right ? 0 : left < right ? -1 : 1);
  return [...writes].sort(
    (left, right) => byText(left.taskPath, right.taskPath) || byText(left.task, right.task) || left.index - right.index,
  );
}

/** Of an erased conversation the store holds what a living one still shows, and nothing else. */
function held(oracle: Oracle, erased: ConversationId) {
  const steps = oracle.everyLiving().flatMap((one) => one.inherited);
  const messages = new Set(steps.flatMap((step) => step.messages).filter((one) => one.conversationId === erased));
  const entries = new Set(steps.flatMap((step) => step.entries).filter((one) => one.conversationId === erased));
  const turns = new Set(steps.flatMap((step) => (step.turn?.conversationId === erased ? step.turn.turnId : [])));
  return {
    messages: [...messages].map((message) => message.messageId).sort(),
    turns: [...turns].sort(),
    entries: [...entries].map(({ stamp, note }) => [stamp.version, stamp.index, note.kind].join(' ')).sort(),
    words: wordsOf(oracle, erased)
      .map((words) => inOrder(words.content))
      .sort(),
    others: 0,
  };
}

/** The words that a conversation said first and that somebody living still shows. */
function wordsOf(oracle: Oracle, said: ConversationId): readonly Words[] {
  const living = oracle.everyLiving();
  const messages = living.flatMap(visibleMessages).map((message) => message.words);
  const replacements = messages.flatMap((words) => words.redaction?.replacement ?? []);
  const entries = living.flatMap((one) => [...one.inherited.flatMap((step) => step.entries), ...one.entries]);
  const all = new Set([...messages, ...replacements, ...entries.map((entry) => entry.note.words)]);
  return [...all].filter((words) => words.conversationId === said && words.content !== null);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
