import { attachmentsIn } from '../../core/attachments/mentions.ts';
import { ATTACHMENT_KEYS } from '../../core/attachments/rows.ts';
import type { Envelope, RowRange, RowValue } from '../../core/backend.ts';
import type { Change, Commit, Parent } from '../../core/change.ts';
import { contentAddress } from '../../core/digest.ts';
import type { Sha256 } from '../../core/digest.ts';
import { encode } from '../../core/encoding.ts';
import type { ConversationId } from '../../core/ids.ts';
import { dayOf, KEYS, numberKey, prefixEnd, TABLES, USAGE_OF } from '../../core/keys.ts';
import { callsOf } from '../../core/message.ts';
import type { Part } from '../../core/message.ts';
import { ENTRIES } from '../../core/rows.ts';
import { keyOfWrite } from '../../core/rules/checkpoint.ts';
import { SHELVES } from '../../core/shelf.ts';
import type { Ask } from './ask.ts';
import type { TakenWords } from '../sql/relatives.ts';
import type { DoneAs } from '../sql/load-done.ts';
import type { StoredHead } from './snapshot.ts';

/** Turns at the end of a branch that are looked at with its last one: where the latest entries were written. */
const RECENT_TURNS = 8;
/** As many entries as core reads at a time. */
const RECENT_ENTRIES = 8;
/** Entries whose words are looked at to tell which are meant. */
const RECENT_WORDS = 32;

/**
 * The conversations whose heads a commit locks: its own, the one that it forks or is spawned by, shelves that it writes to
 * (to sums it only adds).
 */
export function conversationsOf(commit: Commit): readonly ConversationId[] {
  return [...new Set([commit.conversationId, ...commit.changes.flatMap(besides)])];
}

function besides(change: Change): readonly ConversationId[] {
  if (change.kind === 'conversation.fork') return [change.source];
  if (change.kind === 'conversation.spawn') return [change.parent.conversationId];
  return [
    ...(change.kind === 'memory.upsert' ? [SHELVES.memories] : []),
    ...(change.kind === 'message.redact' || attachmentsOf(change).length > 0 ? [SHELVES.attachments] : []),
  ];
}

/**
 * Those whose heads it only looks at. What is erased or redacted takes memories along; most is what no memory was made of, and such
 * commits share the shelf.
 */
export function looksOf({ changes }: Commit): readonly ConversationId[] {
  return changes.some(({ kind }) => kind === 'message.redact' || kind === 'conversation.erase')
    ? [SHELVES.memories]
    : [];
}

/** What a commit takes words from. */
export function takenBy(commits: readonly Commit[]): TakenWords | undefined {
  const erased: string[] = [];
  const redacted: { readonly conversation: string; readonly messageId: string }[] = [];
  const forgotten: string[] = [];
  for (const { conversationId, changes } of commits) {
    for (const change of changes) {
      if (change.kind === 'conversation.erase') erased.push(conversationId);
      else if (change.kind === 'message.redact')
        redacted.push({ conversation: conversationId, messageId: change.messageId });
      else if (change.kind === 'memory.upsert' && change.text === null) forgotten.push(change.memoryId ?? '');
    }
  }
  return erased.length + redacted.length + forgotten.length > 0 ? { erased, redacted, forgotten } : undefined;
}

/** The rows of the ids under which a commit may have been done before: its own, and those of what it submits. */
export function doneAs({ commitId, conversationId, changes }: Commit): readonly DoneAs[] {
  const submitted = changes.flatMap((change) => (change.kind === 'turn.submit' ? [change.operationId ?? ''] : []));
  const keys = [KEYS.commit(commitId), ...submitted.flatMap((id) => [KEYS.operation(id), KEYS.input(id)])];
  return keys.map((key) => ({ conversation: conversationId, key }));
}

/** The rows that a commit names and that lead to others: they are looked up before the head is known. */
export function namedPlaces({ conversationId, changes }: Commit): readonly Ask[] {
  return changes.flatMap((change) => {
    switch (change.kind) {
      case 'conversation.fork':
        return [placeAsk(change.source, KEYS.messageId(change.at))];
      case 'conversation.spawn':
        return [placeAsk(change.parent.conversationId, KEYS.turnId(change.parent.turnId))];
      case 'message.redact':
        return [placeAsk(conversationId, KEYS.messageId(change.messageId))];
      case 'leaf.select':
        return [placeAsk(conversationId, KEYS.turnId(change.turnId))];
      case 'summary.commit':
        return [placeAsk(conversationId, KEYS.messageId(change.upTo))];
      case 'memory.upsert':
        return (change.sources ?? []).map((id) => placeAsk(conversationId, KEYS.messageId(id)));
      case 'interrupt.answer':
      case 'interrupt.expire':
      case 'interrupt.redact':
        return [rowAsk(conversationId, KEYS.interruptId(change.interruptId))];
      case 'input.enqueue':
      case 'input.deliver':
      case 'input.withdraw':
        return [
          rangeAsk(conversationId, TABLES.waiting),
          ...(change.inputId === undefined ? [] : [rowAsk(conversationId, KEYS.input(change.inputId))]),
        ];
      case 'turn.record':
        return placesOfParent(conversationId, change.parent);
      case 'turn.submit':
        return [
          ...placesOfParent(conversationId, change.parent),
          ...(change.samePromptAs === undefined ? [] : [placeAsk(conversationId, KEYS.turnId(change.samePromptAs))]),
        ];
      default:
        return [];
    }
  });
}

function placesOfParent(conversation: ConversationId, parent: Parent | undefined): readonly Ask[] {
  if (!parent) return [];
  const key = 'turnId' in parent ? KEYS.turnId(parent.turnId) : KEYS.messageId(parent.messageId);
  return [placeAsk(conversation, key)];
}

function rowAsk(conversation: ConversationId, key: string): Ask {
  return { kind: 'row', conversation, key };
}

function rangeAsk(conversation: ConversationId, prefix: string): Ask {
  return { kind: 'range', conversation, range: { from: prefix, to: prefixEnd(prefix) } };
}

export function placeAsk(conversation: ConversationId, key: string): Ask {
  return { kind: 'place', conversation, key };
}

/** The digests of the attachments that a change names. */
function attachmentsOf(change: Change): readonly string[] {
  return attachmentsIn(partsOf(change) ?? [], '').map(({ digest }) => digest);
}

function partsOf(change: Change): readonly Part[] | undefined {
  switch (change.kind) {
    case 'message.append':
      return change.message.parts;
    case 'turn.submit':
    case 'input.enqueue':
      return change.prompt;
    case 'message.redact':
      return change.replacement;
    default:
      return undefined;
  }
}

/** A row of the commit's conversation, where it is at hand. */
type Known = (key: string) => RowValue | undefined;

/**
 * What deciding a commit will most likely ask for, given the head of its conversation and the rows that are known, so that one
 * round trip loads it.
 * A guess costs a key lookup where it is wrong, and a round trip where it is missing; neither changes an answer.
 */
export function readPlan({ commit, now }: Envelope, stored: StoredHead, sha256: Sha256, known: Known): readonly Ask[] {
  const plan = new Plan(commit, stored, now, known);
  plan.key(KEYS.branch(0));
  const { leaf, busy, openOperation } = stored.head;
  if (leaf !== null) plan.turn(leaf);
  for (const turnId of busy) plan.turn(turnId);
  if (openOperation !== null) plan.key(KEYS.operation(openOperation));
  if (commit.fence) plan.key(KEYS.attempt(commit.fence.attempt));
  if (commit.expect?.transcript) plan.transcript(commit.expect.transcript.turn ?? leaf ?? undefined);
  for (const change of commit.changes) {
    planChange(plan, change, sha256);
    for (const digest of attachmentsOf(change)) plan.attachment(digest);
  }
  return plan.asks;
}

/** Where the path ends that a commit's entries are looked for on: at the turn that it selects or goes on from, else at the leaf. */
export function endOfPath({ changes }: Commit, { head, places }: StoredHead, known: Known): readonly [number, number] {
  const named = changes.flatMap((change) => {
    if (change.kind === 'leaf.select') return [KEYS.turnId(change.turnId)];
    if ((change.kind !== 'turn.record' && change.kind !== 'turn.submit') || !change.parent) return [];
    return ['turnId' in change.parent ? KEYS.turnId(change.parent.turnId) : KEYS.messageId(change.parent.messageId)];
  });
  const place = named.map(known).find((row) => row !== undefined) ?? places.get(head.leaf ?? '');
  return (place as readonly [number, number] | undefined) ?? [0, 0];
}

const MAKES_TURNS: ReadonlySet<string> = new Set(['turn.record', 'turn.submit', 'input.deliver']);

class Plan {
  readonly asks: Ask[] = [];
  readonly #conversation: ConversationId;
  readonly #stored: StoredHead;

  /** True where one of the commit's turns may stand under another. */
  readonly makesSeveralTurns: boolean;
  readonly #makesTurns: boolean;
  readonly #asked = new Set<string>();

  /** Milliseconds. */
  readonly now: number;

  readonly #known: Known;
  readonly #end: readonly [number, number];

  constructor(commit: Commit, stored: StoredHead, now: number, known: Known) {
    this.now = now;
    this.#known = known;
    this.#end = endOfPath(commit, stored, known);
    const made = commit.changes.filter(({ kind }) => MAKES_TURNS.has(kind));
    this.makesSeveralTurns = made.length > 1;
    this.#makesTurns = made.length > 0;
    this.#conversation = commit.conversationId;
    this.#stored = stored;
  }

  key(key: string): void {
    if (this.#isNew(key)) this.asks.push({ kind: 'row', conversation: this.#conversation, key });
  }

  /** The row of a message's id, and its words where the message is there. */
  said(messageId: string): void {
    const key = KEYS.messageId(messageId);
    if (this.#isNew(key)) this.asks.push({ kind: 'said', conversation: this.#conversation, key });
  }

  /** A row, and the words that it refers to. */
  keyAndWords(key: string): void {
    this.key(key);
    this.#words({ from: key, to: `${key}\u0000`, limit: 1 });
  }

  /** A row of another conversation. */
  keyOf(conversation: ConversationId, key: string): void {
    if (this.#isNew(`${conversation} ${key}`)) this.asks.push({ kind: 'row', conversation, key });
  }

  attachment(digest: string): void {
    this.keyOf(SHELVES.attachments, ATTACHMENT_KEYS.attachment(digest));
    this.keyOf(SHELVES.attachments, ATTACHMENT_KEYS.use(digest, this.#conversation));
  }

  last(prefix: string, limit = 1, to: string = prefixEnd(prefix)): void {
    if (!this.#isNew(`${limit} ${to}`)) return;
    this.asks.push({
      kind: 'range',
      conversation: this.#conversation,
      range: { from: prefix, to, reverse: true, limit },
    });
  }

  all(prefix: string): void {
    this.asks.push({ kind: 'range', conversation: this.#conversation, range: { from: prefix, to: prefixEnd(prefix) } });
  }

  /** An own turn: its row and its branch, where the head says where it stands. */
  turn(turnId: string): void {
    this.key(KEYS.turnId(turnId));
    const place = this.#stored.places.get(turnId) ?? this.#known(KEYS.turnId(turnId));
    if (!place) return;
    const [branch, position] = place as readonly [number, number];
    this.key(KEYS.branch(branch));
    this.key(KEYS.turn(branch, position));
    this.last(KEYS.turnsOf(branch), RECENT_TURNS);
  }

  /** What a new turn under `parent` asks for. */
  under(parent: string | null): void {
    this.last(KEYS.children(parent));
    if (parent === null) this.last(KEYS.turnsOf(0));
    else this.turn(parent);
  }

  /** What a new turn asks for that goes on from a message. */
  underMessage(messageId: string): void {
    const key = KEYS.messageId(messageId);
    this.key(key);
    const place = this.#known(key);
    if (!place) return;
    const turnId = this.#known(KEYS.turn(...(place as readonly [number, number])))?.[0];
    this.under(typeof turnId === 'string' ? turnId : null);
  }

  /** The last entries of a name, as seen from the turn that writes. */
  entry(name: string, turnId: string | undefined): void {
    const { from, to } = this.#entriesOf(name, turnId);
    this.last(from, RECENT_ENTRIES, to);
    this.#nextTurn({ from, to, limit: 1 }, turnId);
  }

  /** The words of the last entry of a name. */
  entryWords(name: string, turnId: string | undefined): void {
    this.#words({ ...this.#entriesOf(name, turnId), limit: 1 });
  }

  /** Entries whose names begin alike, with the words of the last ones. */
  entriesLike(start: string, turnId: string | undefined): void {
    const from = KEYS.entriesLike(this.#placeOf(turnId)[0], start);
    this.all(from);
    const range = { from, to: prefixEnd(from), limit: RECENT_WORDS };
    this.#words(range);
    this.#nextTurn(range, turnId);
  }

  /** A question, and with `words` what was asked and answered. */
  interrupt(interruptId: string, words: 'words' | undefined): void {
    this.key(KEYS.interruptId(interruptId));
    const turnId = this.#known(KEYS.interruptId(interruptId))?.[0];
    if (typeof turnId !== 'string') return;
    const key = KEYS.interrupt(turnId, interruptId);
    this.turn(turnId);
    if (words) this.keyAndWords(key);
    else this.key(key);
  }

  /** Of entries that stand further back than the turns that are looked at with the last one. */
  #nextTurn(range: RowRange, turnId: string | undefined): void {
    const [branch, position] = this.#placeOf(turnId);
    if (branch === 0 && position <= RECENT_TURNS && this.#stored.head.source === null) return;
    this.asks.push({ kind: 'nextTurn', conversation: this.#conversation, range });
  }

  #words(range: RowRange): void {
    this.asks.push({ kind: 'words', conversation: this.#conversation, range });
  }

  /** The words of the list fields. */
  fields(): void {
    const { fields } = this.#stored.head;
    if (fields) this.asks.push({ kind: 'log', conversation: fields.owner, version: fields.version });
  }

  /** The end of the path to a turn: its last message and its late results. */
  transcript(turnId: string | undefined): void {
    const [branch, position] = this.#placeOf(turnId);
    this.last(KEYS.messagesOf(branch), 1, prefixEnd(KEYS.messagesAt(branch, position)));
    this.last(KEYS.lateOf(branch));
  }

  get leaf(): string | null {
    return this.#stored.head.leaf;
  }

  #isNew(asked: string): boolean {
    const before = this.#asked.size;
    return this.#asked.add(asked).size > before;
  }

  #entriesOf(name: string, turnId: string | undefined) {
    const [branch, position] = this.#placeOf(turnId);
    const from = KEYS.entriesOf(branch, name);
    // A turn that the commit makes stands further on: from there every entry of the branch is looked for.
    return { from, to: this.#makesTurns ? prefixEnd(from) : prefixEnd(from + numberKey(position)) };
  }

  #placeOf(turnId: string | undefined): readonly [number, number] {
    if (turnId === undefined) return this.#end;
    const place = this.#stored.places.get(turnId) ?? this.#known(KEYS.turnId(turnId));
    return (place as readonly [number, number] | undefined) ?? [0, 0];
  }
}

function planChange(plan: Plan, change: Change, sha256: Sha256): void {
  switch (change.kind) {
    case 'turn.submit':
      planSubmit(plan, change);
      break;
    case 'turn.record':
      planNewTurn(plan, change);
      break;
    case 'input.enqueue':
    case 'input.deliver':
    case 'input.withdraw':
      planInput(plan, change);
      break;
    case 'turn.advance':
    case 'leaf.select':
      plan.turn(change.turnId);
      break;
    case 'message.append':
      planMessage(plan, change);
      break;
    case 'message.redact':
      plan.key(KEYS.messageId(change.messageId));
      break;
    case 'operation.resolve':
      plan.key(KEYS.operation(change.operationId));
      break;
    case 'binding.save':
      plan.turn(change.turnId);
      plan.key(KEYS.binding(change.turnId, change.history));
      break;
    case 'run.start':
    case 'run.end':
      plan.key(KEYS.run(change.runId ?? ''));
      if (change.kind === 'run.start' && change.baseTurnId !== undefined) plan.turn(change.baseTurnId);
      break;
    case 'attempt.start':
    case 'attempt.takeover':
      plan.turn(change.turnId);
      plan.key(KEYS.attempt(change.attempt ?? ''));
      if (change.runId !== undefined) plan.key(KEYS.run(change.runId));
      break;
    case 'step.start':
    case 'step.finish':
    case 'step.settle':
      plan.turn(change.turnId);
      if (change.kind === 'step.start') plan.keyAndWords(KEYS.step(change.turnId, change.key ?? ''));
      else plan.key(KEYS.step(change.turnId, change.key ?? ''));
      if (change.kind === 'step.start' && change.callId !== undefined) plan.all(KEYS.callsOf(change.callId));
      break;
    case 'interrupt.request':
      plan.turn(change.turnId);
      plan.key(KEYS.interruptId(change.interruptId ?? ''));
      if (change.callId !== undefined) plan.all(KEYS.callsOf(change.callId));
      break;
    case 'interrupt.answer':
    case 'interrupt.expire':
    case 'interrupt.redact':
      plan.interrupt(change.interruptId, change.kind === 'interrupt.redact' ? 'words' : undefined);
      break;
    case 'checkpoint.create':
    case 'checkpoint.advance':
    case 'checkpoint.write':
      planCheckpoint(plan, change, sha256);
      break;
    case 'memory.upsert':
      plan.keyOf(SHELVES.memories, KEYS.memory(change.memoryId ?? ''));
      plan.keyOf(SHELVES.memories, TABLES.memoryCount);
      for (const messageId of change.sources ?? []) plan.key(KEYS.messageId(messageId));
      break;
    case 'usage.record':
      planUsage(plan, change);
      break;
    case 'conversation.update':
      plan.fields();
      if (change.readThrough) plan.key(KEYS.reader(sha256(change.readThrough.reader)));
      break;
    case 'state.update':
    case 'summary.commit':
    case 'task.create':
    case 'task.amend':
    case 'task.transition':
    case 'commitment.add':
    case 'commitment.resolve':
    case 'commitment.expire':
      planEntry(plan, change);
      break;
    default: // a kind without a plan is decided in a round trip more
  }
}

function planUsage(plan: Plan, change: Extract<Change, { kind: 'usage.record' }>): void {
  const { usageId = '', turnId, provider, model, cost } = change;
  const by = { provider, model, currency: cost?.currency ?? '' };
  plan.keyAndWords(KEYS.usage(usageId));
  if (turnId !== undefined) {
    plan.turn(turnId);
    plan.key(KEYS.usageSum(USAGE_OF.turn(turnId), by));
  }
  for (const scope of [USAGE_OF.all, USAGE_OF.day(dayOf(plan.now))]) plan.key(KEYS.usageSum(scope, by));
}

function planSubmit(plan: Plan, change: Extract<Change, { kind: 'turn.submit' }>): void {
  plan.key(KEYS.messageId(change.messageId ?? ''));
  if (change.promptId !== undefined) plan.key(KEYS.prompt(change.promptId));
  if (change.samePromptAs !== undefined) plan.turn(change.samePromptAs);
  if (change.whenBusy !== undefined) plan.all(TABLES.waiting);
  if (change.taskId !== undefined) plan.entry(ENTRIES.task(change.taskId), undefined);
  planNewTurn(plan, change);
}

function planInput(plan: Plan, change: Extract<Change, { kind: `input.${string}` }>): void {
  plan.key(KEYS.input(change.inputId ?? ''));
  plan.all(TABLES.waiting);
  if (change.kind !== 'input.withdraw') plan.key(KEYS.operation(change.inputId ?? ''));
  if (change.kind !== 'input.deliver') return;
  if (change.promptId !== undefined) plan.key(KEYS.prompt(change.promptId));
  plan.key(KEYS.messageId(change.messageId ?? ''));
  if (change.into === undefined) planNewTurn(plan, { turnId: change.turnId });
  else plan.turn(change.into);
}

function planNewTurn(
  plan: Plan,
  change: { readonly turnId?: string | undefined; readonly parent?: Parent | undefined },
): void {
  const { turnId = '', parent } = change;
  plan.key(KEYS.turnId(turnId));
  if (plan.makesSeveralTurns) plan.last(KEYS.children(turnId));
  if (parent === undefined) plan.under(plan.leaf);
  else if (parent === null) plan.under(null);
  else if ('turnId' in parent) plan.under(parent.turnId);
  else plan.underMessage(parent.messageId);
}

function planMessage(plan: Plan, change: Extract<Change, { kind: 'message.append' }>): void {
  const { messageId, taskId, parts } = change.message;
  plan.said(messageId ?? '');
  if (typeof change.turnId === 'string') plan.turn(change.turnId);
  if (taskId !== undefined) plan.entry(ENTRIES.task(taskId), change.turnId ?? undefined);
  const { calls, answers } = callsOf(parts);
  for (const callId of [...calls, ...answers]) plan.all(KEYS.callsOf(callId));
}

type CheckpointChange = Extract<Change, { kind: 'checkpoint.create' | 'checkpoint.advance' | 'checkpoint.write' }>;

function planCheckpoint(plan: Plan, change: CheckpointChange, sha256: Sha256): void {
  const id = change.checkpointId ?? '';
  plan.last(KEYS.checkpointsOf(id));
  if (change.kind === 'checkpoint.write') {
    plan.key(KEYS.checkpoint(id, change.revision));
    plan.key(keyOfWrite(change));
    return;
  }
  if (change.kind === 'checkpoint.create' && change.parent)
    plan.key(KEYS.checkpoint(change.parent.checkpointId, change.parent.revision));
  // A small part is kept in its revision and its key is asked for in vain.
  for (const part of Object.values(change.payload)) plan.key(KEYS.content(contentAddress(sha256, encode(part))));
}

type EntryChange = Extract<Change, { readonly turnId?: string | undefined }> &
  Extract<Change, { kind: `${'task' | 'state' | 'commitment' | 'summary'}.${string}` }>;

function planEntry(plan: Plan, change: EntryChange): void {
  const { turnId } = change;
  if (turnId !== undefined) plan.turn(turnId);
  switch (change.kind) {
    case 'state.update':
      plan.entry(ENTRIES.state, turnId);
      plan.entryWords(ENTRIES.state, turnId);
      break;
    case 'summary.commit':
      plan.entry(ENTRIES.summary, turnId);
      plan.key(KEYS.messageId(change.upTo));
      break;
    case 'task.create':
    case 'task.amend':
    case 'task.transition':
      plan.entry(ENTRIES.task(change.taskId ?? ''), turnId);
      plan.entry(ENTRIES.tasks, turnId);
      if (change.kind === 'task.amend' || (change.kind === 'task.transition' && change.outcomeRef !== undefined))
        plan.entryWords(ENTRIES.task(change.taskId ?? ''), turnId);
      if (change.kind === 'task.create' && change.parentTaskId !== undefined)
        plan.entry(ENTRIES.task(change.parentTaskId), turnId);
      break;
    case 'commitment.add':
      plan.entry(ENTRIES.commitment(change.commitmentId ?? ''), turnId);
      break;
    case 'commitment.resolve':
    case 'commitment.expire':
      if ('commitmentId' in change.which) plan.entry(ENTRIES.commitment(change.which.commitmentId), turnId);
      else plan.entriesLike(ENTRIES.commitment(''), turnId);
      break;
  }
}
