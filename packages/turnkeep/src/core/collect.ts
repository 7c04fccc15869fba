import type { Row, RowReader, WriteSet } from './backend.ts';
import { removeReferences } from './attachments/references.ts';
import { isTurnkeepError, TurnkeepError } from './errors.ts';
import type { Head, RecordRef } from './head.ts';
import type { ConversationId } from './ids.ts';
import { afterSeparator, KEYS, numbersIn, TABLES } from './keys.ts';
import type { Table } from './keys.ts';
import type { LogRecord } from './log.ts';
import { isBefore, unpackMessage, unpackRef, WHOLE } from './rows.ts';
import type { BranchRow, Stamp } from './rows.ts';
import { branchRow, scanPrefix, turnAt } from './tree/path.ts';
import { unpackBranch } from './rows.ts';

const SLICE = 500;

/**
 * Removes what an erased conversation still holds, except for what a living fork sees: a row stays exactly if a living
 * fork's cut and version admit it, and a record's words exactly if a row that stays refers to them. Digests stay, so that
 * the chain still verifies.
 *
 * Yields write sets of bounded size. Apply each before asking for the next; `rows` must then show it. Other commits may
 * come in between: a fork can only ever see less than before.
 *
 * Words that cannot be read stay: at the end, when all else is gone, `corrupt` is thrown for the first of them, and the
 * conversation still counts as not collected.
 */
export function* collectErased(rows: RowReader, conversationId: ConversationId): Generator<WriteSet> {
  const head = rows.head(conversationId);
  if (!head || head.erasedAt === null) throw new TurnkeepError('conversation_not_found', { conversationId });
  const kept = new Kept(rows, conversationId);
  const words = wordsKept(rows, conversationId, kept);
  yield* removeReferences(rows, conversationId, (version, index) => words.get(version)?.has(index) ?? false);
  for (const table of Object.values(TABLES)) yield* removeRows(rows, conversationId, table, kept);
  const damage = yield* removeWords(rows, head, words);
  if (damage) throw damage;
  yield { heads: [{ ...head, collected: true }], rows: [], edits: [] };
}

function* removeRows(rows: RowReader, conversation: ConversationId, table: string, kept: Kept): Generator<WriteSet> {
  // Asked before the table shrinks: whether a row is kept may depend on rows of tables that go later.
  const doomed = scanPrefix(rows, conversation, table).filter((row) => !kept.keeps(row));
  for (let at = 0; at < doomed.length; at += SLICE) {
    const slice = doomed.slice(at, at + SLICE).map((row) => ({ conversation, key: row.key, value: null }));
    yield { heads: [], rows: slice, edits: [] };
  }
}

/** Returns the error of the first record that cannot be read. */
function* removeWords(
  rows: RowReader,
  head: Head,
  words: ReadonlyMap<number, ReadonlySet<number>>,
): Generator<WriteSet, Corrupt | undefined> {
  const conversation = head.conversationId;
  let damage: Corrupt | undefined;
  for (let version = 1; version <= head.version; version += SLICE) {
    const edits: WriteSet['edits'][number][] = [];
    for (let at = version; at < Math.min(version + SLICE, head.version + 1); at++) {
      const log = logOrDamage(rows, conversation, at);
      if (log instanceof TurnkeepError) damage ??= log;
      const edited = log && !(log instanceof TurnkeepError) ? withoutWords(log, words.get(at)) : undefined;
      if (edited) edits.push({ conversation, version: at, log: edited });
    }
    if (edits.length > 0) yield { heads: [], rows: [], edits };
  }
  return damage;
}

type Corrupt = TurnkeepError<'corrupt'>;

function logOrDamage(rows: RowReader, conversation: ConversationId, version: number): LogRecord | Corrupt | undefined {
  try {
    return rows.log(conversation, version);
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return error;
    throw error;
  }
}

/** The log record without its header and the words that nobody sees; `undefined` if nothing is to be removed. */
function withoutWords(log: LogRecord, kept: ReadonlySet<number> | undefined): LogRecord | undefined {
  const holds = log.header !== null || log.records.some((record, index) => record.body !== null && !kept?.has(index));
  if (!holds) return undefined;
  const records = log.records.map((record, index) =>
    kept?.has(index) ? record : { digest: record.digest, nonce: null, body: null },
  );
  return { ...log, header: null, nonce: null, records };
}

/** The records of the conversation that the remaining rows refer to, by version. */
function wordsKept(
  rows: RowReader,
  conversation: ConversationId,
  kept: Kept,
): ReadonlyMap<number, ReadonlySet<number>> {
  const words = new Map<number, Set<number>>();
  const keep = ({ version, index }: RecordRef) => words.set(version, (words.get(version) ?? new Set()).add(index));
  for (const ref of [...ownRefs(rows, conversation, kept), ...refsOfRepeatedPrompts(rows, conversation)]) {
    if (ref.owner !== conversation) continue;
    keep(ref);
    const log = logOrDamage(rows, conversation, ref.version);
    if (!log || log instanceof TurnkeepError) continue;
    const replacement = log.records[ref.index]?.redaction?.replacement;
    if (replacement?.owner === conversation) keep(replacement);
  }
  return words;
}

function ownRefs(rows: RowReader, conversation: ConversationId, kept: Kept): readonly RecordRef[] {
  const tables = [TABLES.messages, TABLES.entries];
  const stay = tables.flatMap((table) => scanPrefix(rows, conversation, table).filter((row) => kept.keeps(row)));
  return stay.flatMap((row) => recordOf(row, conversation) ?? []);
}

/** A fork may repeat a prompt while the turn that first had it is not on the path, and may itself be forked there. */
function refsOfRepeatedPrompts(rows: RowReader, conversation: ConversationId): readonly RecordRef[] {
  const refs: RecordRef[] = [];
  for (const member of family(rows, conversation)) {
    const uses = member === conversation ? [] : scanPrefix(rows, member, TABLES.promptUses);
    if (uses.length === 0) continue;
    const lives = rows.head(member)?.erasedAt === null;
    const kept = lives ? undefined : new Kept(rows, member);
    for (const use of kept ? uses.filter((row) => kept.keeps(row)) : uses) {
      const [branch, position] = use.value as readonly [number, number];
      const key = KEYS.message(branch, position, numbersIn(afterSeparator(use.key), 0)[0] as number);
      const value = rows.get(member, key);
      if (value) refs.push(unpackMessage(value, member).ref);
    }
  }
  return refs;
}

function recordOf(row: Row, conversation: ConversationId): RecordRef | undefined {
  if (row.key.startsWith(TABLES.messages)) return unpackMessage(row.value, conversation).ref;
  const packed = row.value.find((item) => Array.isArray(item));
  return packed === undefined ? undefined : unpackRef(packed, conversation);
}

/** What one living fork admits of one branch. */
interface Need {
  readonly position: number;
  readonly sequence: number;
  readonly asOf: number;
  readonly bound: Stamp | null;
}

/** Decides which rows of an erased conversation living forks still see. */
class Kept {
  readonly #rows: RowReader;
  readonly #conversation: ConversationId;
  readonly #needs = new Map<number, Need[]>();
  readonly #living: ReadonlySet<ConversationId>;

  constructor(rows: RowReader, conversation: ConversationId) {
    this.#rows = rows;
    this.#conversation = conversation;
    this.#living = livingDescendants(rows, conversation);
    for (const fork of this.#living) this.#addNeedsOf(fork);
  }

  keeps(row: Row): boolean {
    const table = row.key[0] as Table;
    switch (table) {
      case TABLES.branches:
        return this.#needs.has(numbersIn(row.key, 1)[0] as number);
      case TABLES.turns: {
        const [branch, position] = numbersIn(row.key, 1) as [number, number];
        return this.#keepsTurn(branch, position);
      }
      case TABLES.turnIds:
        return this.#keepsTurn(...(row.value as readonly [number, number]));
      case TABLES.messages: {
        const [branch, position, sequence] = numbersIn(row.key, 1) as [number, number, number];
        return this.#admits(branch, position, sequence, row.value[1] as number);
      }
      case TABLES.messageIds:
        return this.#keepsMessage(...(row.value as readonly [number, number, number]));
      case TABLES.late: {
        const [branch, sequence] = numbersIn(row.key, 1) as [number, number];
        return this.#admits(branch, row.value[0] as number, sequence, row.value[1] as number);
      }
      case TABLES.calls: {
        const [, branch, position, version] = row.value as readonly [string, number, number, number];
        return this.#admits(branch, position, numbersIn(afterSeparator(row.key), 0)[0] as number, version);
      }
      case TABLES.promptUses:
      case TABLES.taskMessages: {
        const [branch, position] = row.value as readonly [number, number];
        return this.#keepsMessage(branch, position, numbersIn(afterSeparator(row.key), 0)[0] as number);
      }
      case TABLES.entries:
        return this.#keepsEntry(row);
      case TABLES.forks:
        return this.#keepsFork(row.key.slice(1));
      // Those that had to go went with their words.
      case TABLES.references:
        return true;
      // A fork reads none of these.
      case TABLES.turnStates:
      case TABLES.children:
      case TABLES.commits:
      case TABLES.operations:
      case TABLES.prompts:
      case TABLES.bindings:
      case TABLES.checkpoints:
      case TABLES.pendingWrites:
      case TABLES.contents:
      case TABLES.spawned:
      case TABLES.attempts:
      case TABLES.runs:
      case TABLES.steps:
      case TABLES.interrupts:
      case TABLES.interruptIds:
      case TABLES.inputs:
      case TABLES.waiting:
      case TABLES.usages:
      case TABLES.usageSums:
      case TABLES.memories:
      case TABLES.memoryRevisions:
      case TABLES.memoryOrigins:
      case TABLES.memoryCount:
      case TABLES.readers:
        return false;
      default:
        return isLeft(table);
    }
  }

  #keepsTurn(branch: number, position: number): boolean {
    return this.#needs.get(branch)?.some((need) => position <= need.position) ?? false;
  }

  #keepsMessage(branch: number, position: number, sequence: number): boolean {
    const value = this.#rows.get(this.#conversation, KEYS.message(branch, position, sequence));
    return value !== undefined && this.#admits(branch, position, sequence, value[1] as number);
  }

  #admits(branch: number, position: number, sequence: number, version: number): boolean {
    const needs = this.#needs.get(branch) ?? [];
    return needs.some((need) => version <= need.asOf && isWithin(need, position, sequence));
  }

  #keepsEntry(row: Row): boolean {
    const branch = numbersIn(row.key.slice(0, row.key.indexOf('\u0001')), 1)[0] as number;
    const [position, version, index] = numbersIn(afterSeparator(row.key), 0) as [number, number, number];
    const needs = this.#needs.get(branch) ?? [];
    return needs.some((need) => version <= need.asOf && this.#admitsEntry(branch, need, position, { version, index }));
  }

  #admitsEntry(branch: number, need: Need, position: number, stamp: Stamp): boolean {
    if (position > need.position) return false;
    if (position === need.position) return !need.bound || isBefore(stamp, need.bound);
    const base = turnAt(this.#rows, this.#conversation, branch, position + 1)?.base;
    return !base || !isBefore(base, stamp);
  }

  /** A link to a fork stays as long as it leads to a living conversation. */
  #keepsFork(fork: ConversationId): boolean {
    return this.#living.has(fork) || livingDescendants(this.#rows, fork).size > 0;
  }

  #addNeedsOf(fork: ConversationId): void {
    for (const row of scanPrefix(this.#rows, fork, TABLES.branches)) {
      const branch = unpackBranch(row.value);
      if (branch.parent && branch.parent.owner !== fork)
        this.#addChain(fork, numbersIn(row.key, 1)[0] as number, branch);
    }
  }

  #addChain(fork: ConversationId, start: number, first: BranchRow): void {
    let owner = fork;
    let number = start;
    let asOf = WHOLE;
    for (let row = first; row.parent;) {
      const { parent } = row;
      const within = parent.owner === owner;
      if (!within) asOf = row.asOf;
      const bound = row.bound ?? (within ? boundOfFirstTurn(this.#rows, owner, number) : null);
      if (parent.owner === this.#conversation)
        this.#add(parent.branch, { position: row.cutPosition, sequence: row.cutSequence, asOf, bound });
      ({ owner, branch: number } = parent);
      row = branchRow(this.#rows, owner, number);
    }
  }

  #add(branch: number, need: Need): void {
    const needs = this.#needs.get(branch);
    if (needs) needs.push(need);
    else this.#needs.set(branch, [need]);
  }
}

function isWithin(need: Need, position: number, sequence: number): boolean {
  return position < need.position || (position === need.position && sequence <= need.sequence);
}

function boundOfFirstTurn(rows: RowReader, owner: ConversationId, branch: number): Stamp | null {
  const base = turnAt(rows, owner, branch, 1)?.base;
  return base ? { version: base.version, index: base.index + 0.5 } : null;
}

/** Compiles only while every table has its case. */
function isLeft(_table: never): false {
  return false;
}

/** The living conversations that were forked from this one, directly or through other forks. */
export function livingDescendants(rows: RowReader, conversation: ConversationId): ReadonlySet<ConversationId> {
  const others = [...family(rows, conversation)].filter((member) => member !== conversation);
  return new Set(others.filter((member) => rows.head(member)?.erasedAt === null));
}

/** A conversation and all that were forked from it, directly or through other forks, including erased ones. */
export function family(rows: RowReader, conversation: ConversationId): ReadonlySet<ConversationId> {
  const members = new Set<ConversationId>([conversation]);
  for (const member of members) for (const row of scanPrefix(rows, member, TABLES.forks)) members.add(row.key.slice(1));
  return members;
}
