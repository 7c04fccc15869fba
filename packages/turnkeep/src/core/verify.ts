import { ATTACHMENT_KEYS } from './attachments/rows.ts';
import type { Row, RowReader } from './backend.ts';
import { chainAfter, chainStart, recordHolds } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { isTurnkeepError } from './errors.ts';
import type { Head, RecordRef } from './head.ts';
import { decodeHeader, headerAt } from './header.ts';
import type { ConversationId, MessageId, TurnId } from './ids.ts';
import { afterSeparator, beforeSeparator, KEYS, numbersIn, prefixEnd, TABLES } from './keys.ts';
import type { LogHeader, LogRecord } from './log.ts';
import { ENTRIES, unpackBranch, unpackInput, unpackMemory, unpackMessage, unpackRef, unpackTurn } from './rows.ts';
import { isShelf, SHELVES } from './shelf.ts';
import { entriesMade, missingRows, rowsMade, TALLIED, writesElsewhere } from './verify-events.ts';
import type { Tally } from './verify-events.ts';
import { countRow, headProblems, isFalseTombstone, NO_ROWS } from './verify-head.ts';
import type { RowCounts } from './verify-head.ts';

/** Something that is not as it must be. */
export interface Fault {
  readonly kind:
    | 'log_missing'
    | 'header_digest'
    | 'record_digest'
    | 'words_missing'
    | 'chain'
    | 'sequence'
    | 'tree'
    | 'reference'
    | 'attachment'
    | 'store';
  /** Where: conversation, version and record, or row. */
  readonly place: string;
  readonly reason: string;
  /** What a reader loses by it. */
  readonly affects: string;
}

/** A slice of checking: what was gone through, and what was found. */
export interface VerifyStep {
  readonly commits: number;
  readonly records: number;
  readonly faults: readonly Fault[];
  /** What to hand in for the next slice; `null` when the conversation is through. */
  readonly next: VerifyCursor | null;
}

/** Where a checking goes on: in the log first, then in the rows. */
export interface VerifyCursor {
  /** The head as it was when the checking began. */
  readonly head: Head;
  readonly version: number;
  readonly chain: string;
  readonly afterKey: string | null;
  /** What the message rows add up to so far. */
  readonly counted: MessageCount;
  /** What the other rows add up to so far. */
  readonly rowCounts: RowCounts;
  /** The rows that the commits made, less those that were found; `NaN` where a commit cannot be read. */
  readonly tally: Tally;
  /** The version up to which each row was looked for that a commit made, once the tally says that some are lost. */
  readonly lookedFor: number | null;
  /** Entries that the commits made, less those whose rows were found; `NaN` where a commit cannot be read. */
  readonly entries: number;
}

const LOG_SLICE = 128;
const ROW_SLICE = 1_024;
const LOOK_SLICE = 16;

/** Checks a slice of one conversation, in one snapshot. Faults are answers: nothing that it finds stops it. */
export function verifyConversation(
  rows: RowReader,
  sha256: Sha256,
  conversationId: ConversationId,
  cursor?: VerifyCursor,
): VerifyStep {
  const at = cursor ?? start(rows, sha256, conversationId);
  if (!at) return { commits: 0, records: 0, faults: [], next: null };
  if (at.lookedFor !== null) return lookForRows(rows, sha256, at, at.lookedFor);
  return at.version < at.head.version ? verifyLog(rows, sha256, at) : verifyRows(rows, at);
}

function start(rows: RowReader, sha256: Sha256, conversationId: ConversationId): VerifyCursor | undefined {
  const head = rows.head(conversationId);
  return (
    head && {
      head,
      version: 0,
      chain: chainStart(sha256, conversationId),
      afterKey: null,
      counted: { messages: 0, sum: 0, lowest: 0, highest: 0 },
      rowCounts: NO_ROWS,
      tally: {},
      lookedFor: null,
      entries: 0,
    }
  );
}

// ---- The log: every digest, and the chain over them

function verifyLog(rows: RowReader, sha256: Sha256, cursor: VerifyCursor): VerifyStep {
  const { head } = cursor;
  const faults: Fault[] = [];
  const end = Math.min(cursor.version + LOG_SLICE, head.version);
  let { chain, entries, tally } = cursor;
  let records = 0;
  for (let version = cursor.version + 1; version <= end; version++) {
    const log = logOrFault(rows, head, version);
    if ('kind' in log) {
      faults.push(log);
      entries = Number.NaN;
      tally = added(tally, UNKNOWN);
      continue;
    }
    records += log.records.length;
    chain = chainAfter(sha256, chain, log);
    const ofHeader = headerFaults(sha256, head, version, log);
    const header = ofHeader.length > 0 || log.header === null ? undefined : decodeHeader(log.header);
    entries += header ? entriesMade(header) : Number.NaN;
    tally = added(tally, header ? rowsMade(header) : UNKNOWN);
    faults.push(...ofHeader, ...recordFaults(sha256, head, log));
    if (header && writesElsewhere(header)) faults.push(...eventFaults(rows, head, header));
  }
  if (end === head.version && chain !== head.chain) faults.push(brokenChain(head));
  return { commits: end - cursor.version, records, faults, next: { ...cursor, version: end, chain, entries, tally } };
}

function logOrFault(rows: RowReader, head: Head, version: number): LogRecord | Fault {
  const place = `conversation ${head.conversationId}, version ${version}`;
  const affects = 'what this commit said';
  try {
    const missing: Fault = { kind: 'log_missing', place, reason: 'the log record is missing', affects };
    return rows.log(head.conversationId, version) ?? missing;
  } catch (error) {
    return { ...damage(error, place), affects };
  }
}

/** What cannot be had, with its place in the store beside that in the conversation: an archive block holds many commits. */
function damage(error: unknown, at: string): Pick<Fault, 'kind' | 'place' | 'reason'> {
  if (!isTurnkeepError(error, 'corrupt')) throw error;
  const { place, reason } = error.details;
  return { kind: 'store', place: `${at}: ${place}`, reason };
}

function brokenChain(head: Head): Fault {
  const place = `conversation ${head.conversationId}, versions 1 to ${head.version}`;
  const reason = 'the digests of the log do not lead to the chain of the head';
  return { kind: 'chain', place, reason, affects: 'the proof that nothing was changed' };
}

function headerFaults(sha256: Sha256, head: Head, version: number, log: LogRecord): readonly Fault[] {
  const place = `conversation ${head.conversationId}, version ${version}, header`;
  const affects = 'what this commit did';
  if (log.header === null) {
    return head.erasedAt === null ? [{ kind: 'words_missing', place, reason: 'the header is gone', affects }] : [];
  }
  if (sha256(log.header) !== log.headerDigest) {
    return [{ kind: 'header_digest', place, reason: 'the header does not match its digest', affects }];
  }
  const header = decodeHeader(log.header);
  if (header.version === version && header.at === log.at) return [];
  return [{ kind: 'log_missing', place, reason: `the header is that of version ${header.version}`, affects }];
}

/** What the commit did, and the rows do not show. */
function eventFaults(rows: RowReader, { conversationId }: Head, header: LogHeader): readonly Fault[] {
  // An erasure that came in between has taken its share.
  if (rows.head(conversationId)?.erasedAt !== null) return [];
  const place = `conversation ${conversationId}, version ${header.version}`;
  const affects = 'readings that look for what this commit did';
  return missingRows(rows, conversationId, header).map((what) => {
    return { kind: 'reference', place, reason: `${what} is not in the rows as it was written`, affects };
  });
}

function recordFaults(sha256: Sha256, head: Head, log: LogRecord): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [index, record] of log.records.entries()) {
    const place = `conversation ${head.conversationId}, version ${log.version}, record ${index}`;
    const affects = 'the words of this record';
    if (record.body === null) {
      const allowed = record.redaction !== undefined || head.erasedAt !== null;
      if (!allowed)
        faults.push({ kind: 'words_missing', place, reason: 'the words are gone and nobody redacted them', affects });
    } else if (!recordHolds(sha256, record)) {
      faults.push({ kind: 'record_digest', place, reason: 'the record does not match its digest', affects });
    }
  }
  return faults;
}

// ---- The rows: what points somewhere must find it

function verifyRows(rows: RowReader, cursor: VerifyCursor): VerifyStep {
  const { head, afterKey } = cursor;
  const from = afterKey === null ? '' : `${afterKey}\u0000`;
  const slice = rows.scan(head.conversationId, { from, to: prefixEnd(''), limit: ROW_SLICE });
  const current = rows.head(head.conversationId) ?? head;
  // Rows are as they are now: an erasure that came in between has taken its share.
  if (current.erasedAt !== null) return { commits: 0, records: 0, faults: tombstoneFaults(rows, current), next: null };
  const faults = slice.flatMap((row) => rowFaults(rows, current, row));
  const counted = slice.reduce((sum, row) => count(sum, row, head), cursor.counted);
  const rowCounts = slice.reduce(countRow, cursor.rowCounts);
  const entries = cursor.entries - slice.filter((row) => isEntry(row, head)).length;
  const last = slice.at(-1);
  const tally = less(cursor.tally, slice);
  const found = { ...cursor, counted, rowCounts, entries, tally };
  if (last && slice.length === ROW_SLICE) {
    return { commits: 0, records: 0, faults, next: { ...found, afterKey: last.key } };
  }
  const next = Object.values(tally).every((rest) => rest === 0) ? null : { ...found, lookedFor: 0 };
  return { commits: 0, records: 0, faults: [...faults, ...headFaults(rows, current, found)], next };
}

function tombstoneFaults(rows: RowReader, head: Head): readonly Fault[] {
  if (!isFalseTombstone(rows, head, lastHeader(rows, head))) return [];
  const place = `conversation ${head.conversationId}, head`;
  return [{ kind: 'reference', place, reason: 'it was erased, and no commit did that', affects: 'all that it says' }];
}

const UNKNOWN: Tally = { [TABLES.commits]: Number.NaN };

function added(tally: Tally, more: Tally): Tally {
  const sum: Record<string, number> = { ...tally };
  for (const [table, count] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + count;
  return sum;
}

function less(tally: Tally, slice: readonly Row[]): Tally {
  const rest: Record<string, number> = { ...tally };
  for (const { key } of slice) {
    const table = key[0] as string;
    if (TALLIED.has(table)) rest[table] = (rest[table] ?? 0) - 1;
  }
  return rest;
}

/** A slice of looking for each row that a commit made: as many readings as rows, so only where some are lost. */
function lookForRows(rows: RowReader, sha256: Sha256, cursor: VerifyCursor, after: number): VerifyStep {
  const { head } = cursor;
  const end = Math.min(after + LOOK_SLICE, head.version);
  const faults: Fault[] = [];
  for (let version = after + 1; version <= end; version++) {
    const header = readableHeader(rows, sha256, head.conversationId, version);
    if (header && !writesElsewhere(header)) faults.push(...eventFaults(rows, head, header));
  }
  return { commits: 0, records: 0, faults, next: end < head.version ? { ...cursor, lookedFor: end } : null };
}

/** Nothing where it cannot be read: that is a fault already. */
function readableHeader(rows: RowReader, sha256: Sha256, id: ConversationId, version: number): LogHeader | undefined {
  try {
    return headerAt(rows, sha256, id, version);
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return undefined;
    throw error;
  }
}

/** Own messages, by number, sum and range of their sequences: without a gap or a repeat these follow from each other. */
interface MessageCount {
  readonly messages: number;
  readonly sum: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Counts a message row, unless it came after the checking began. */
function count(sum: MessageCount, row: Row, head: Head): MessageCount {
  if (row.key[0] !== TABLES.messages || (row.value[1] as number) > head.version) return sum;
  const sequence = numbersIn(row.key, 1)[2] as number;
  return {
    messages: sum.messages + 1,
    sum: sum.sum + sequence,
    lowest: sum.messages === 0 ? sequence : Math.min(sum.lowest, sequence),
    highest: Math.max(sum.highest, sequence),
  };
}

function rowFaults(rows: RowReader, head: Head, row: Row): readonly Fault[] {
  const place = `conversation ${head.conversationId}, row ${JSON.stringify(row.key)}`;
  const affects = 'readings that go through this row';
  try {
    const problem = rowProblem(rows, head, row);
    return problem ? [{ kind: problem.kind, place, reason: problem.reason, affects }] : [];
  } catch (error) {
    return [{ ...damage(error, place), affects: messageOf(row, head) ?? affects }];
  }
}

/** So every message is named whose words cannot be had. */
function messageOf({ key, value }: Row, head: Head): string | undefined {
  return key[0] === TABLES.messages ? `message ${unpackMessage(value, head.conversationId).messageId}` : undefined;
}

interface Problem {
  readonly kind: Fault['kind'];
  readonly reason: string;
}

const dangling = (what: string): Problem => ({ kind: 'reference', reason: `it points to ${what} that is not there` });
const misplaced = (reason: string): Problem => ({ kind: 'tree', reason });

function rowProblem(rows: RowReader, head: Head, row: Row): Problem | undefined {
  const own = head.conversationId;
  switch (row.key[0]) {
    case TABLES.branches:
      return branchProblem(rows, own, row);
    case TABLES.turns:
      return turnProblem(rows, own, row);
    case TABLES.turnIds:
      return hasRow(rows, own, KEYS.turn(...(row.value as readonly [number, number]))) ? undefined : dangling('a turn');
    case TABLES.messages:
      return messageProblem(rows, own, row);
    case TABLES.messageIds:
      return hasRow(rows, own, KEYS.message(...(row.value as readonly [number, number, number])))
        ? undefined
        : dangling('a message');
    case TABLES.calls:
      return callProblem(rows, own, row);
    case TABLES.late: {
      const [branch, sequence] = numbersIn(row.key, 1) as [number, number];
      return hasRow(rows, own, KEYS.message(branch, row.value[0] as number, sequence))
        ? undefined
        : dangling('a message');
    }
    case TABLES.operations:
      return operationProblem(rows, own, row);
    case TABLES.attempts:
      return hasRow(rows, own, KEYS.turnId(row.value[0] as TurnId)) ? undefined : dangling('a turn');
    case TABLES.commits:
      return commitProblem(rows, own, row);
    case TABLES.entries:
      return entryProblem(rows, own, row);
    case TABLES.runs:
    case TABLES.steps:
    case TABLES.interrupts:
      return recordsProblem(rows, own, row);
    case TABLES.interruptIds: {
      const [turnId] = row.value as readonly [TurnId];
      return hasRow(rows, own, KEYS.interrupt(turnId, row.key.slice(1))) ? undefined : dangling('an interrupt');
    }
    case TABLES.spawned:
      return rows.head(afterSeparator(row.key)) ? undefined : dangling('a conversation');
    case TABLES.waiting:
      return isWaiting(rows, own, row) ? undefined : dangling('an input that waits');
    case TABLES.inputs: {
      const { status, words, stamp } = unpackInput(row.value);
      if (status !== 'waiting') return undefined;
      if (!hasRow(rows, own, KEYS.waiting(stamp.version, stamp.index))) return misplaced('it waits in no queue');
      return hasRecord(rows, { owner: own, ...words }) ? undefined : dangling('a record');
    }
    case TABLES.memories: {
      const { status, ref } = unpackMemory(row.value);
      return status === 'forgotten' || hasRecord(rows, ref) ? undefined : dangling('a record');
    }
    case TABLES.memoryRevisions:
      return memoryRevisionProblem(rows, own, row);
    case TABLES.usages:
    case TABLES.contents:
    case TABLES.checkpoints:
    case TABLES.pendingWrites: {
      if (row.key[0] === TABLES.checkpoints && !followsRevision(rows, own, row))
        return misplaced('the revision before it is not there, or younger');
      const [version, index] = row.value as readonly [number, number];
      return hasRecord(rows, { owner: own, version, index }) ? undefined : dangling('a record');
    }
    case TABLES.references:
      return referenceProblem(rows, own, row);
    default:
      return undefined;
  }
}

/** Without them what the memory was made of would go, and the memory stay. */
function memoryRevisionProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const memoryId = beforeSeparator(row.key, 1);
  const origins = row.value[1] as unknown as readonly [ConversationId, MessageId | null][];
  const isKnown = origins.every(([conversation, id]) =>
    hasRow(rows, own, KEYS.memoryOrigin(conversation, id, memoryId)),
  );
  return isKnown ? undefined : misplaced('what it was made of does not know of it');
}

function referenceProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const digest = beforeSeparator(row.key, 1);
  const [version, index] = numbersIn(afterSeparator(row.key), 0) as [number, number];
  if (!hasRow(rows, SHELVES.attachments, ATTACHMENT_KEYS.attachment(digest))) return dangling('an attachment');
  if (!hasRow(rows, SHELVES.attachments, ATTACHMENT_KEYS.use(digest, own)))
    return misplaced('its attachment does not know of it');
  return hasRecord(rows, { owner: own, version, index }) ? undefined : dangling('a record');
}

function hasRow(rows: RowReader, owner: ConversationId, key: string): boolean {
  return rows.get(owner, key) !== undefined;
}

function isWaiting(rows: RowReader, own: ConversationId, row: Row): boolean {
  const input = rows.get(own, KEYS.input(row.value[0] as string));
  return input !== undefined && unpackInput(input).status === 'waiting';
}

function hasRecord(rows: RowReader, ref: RecordRef): boolean {
  return rows.log(ref.owner, ref.version)?.records[ref.index] !== undefined;
}

function branchProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const { parent, cutPosition } = unpackBranch(row.value);
  if (!parent) return undefined;
  if (!hasRow(rows, parent.owner, KEYS.branch(parent.branch))) return dangling('a branch');
  const number = numbersIn(row.key, 1)[0] as number;
  // Within one conversation a branch is younger than its parent: every walk goes to smaller numbers, and ends.
  if (parent.owner === own && parent.branch >= number) return misplaced('its parent branch is not older');
  if (cutPosition > 0 && !hasRow(rows, parent.owner, KEYS.turn(parent.branch, cutPosition)))
    return dangling('a turn to be cut at');
  return undefined;
}

function turnProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const [branch, position] = numbersIn(row.key, 1) as [number, number];
  const turn = unpackTurn(row.value);
  const place = rows.get(own, KEYS.turnId(turn.turnId));
  if (place?.[0] !== branch || place[1] !== position) return misplaced('its id leads elsewhere');
  if (position > 1 && !hasRow(rows, own, KEYS.turn(branch, position - 1)))
    return misplaced('the turn before it is not there');
  const from = KEYS.turnStates(branch, position);
  const [last] = rows.scan(own, { from, to: prefixEnd(from), reverse: true, limit: 1 });
  if ((last?.value[0] ?? turn.firstState) !== turn.state) return misplaced('its last move led to another state');
  const child = rows.get(own, KEYS.child(turn.parentTurnId, turn.ordinal));
  return child?.[0] === turn.turnId ? undefined : misplaced('its parent does not know it by its ordinal');
}

function messageProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const message = unpackMessage(row.value, own);
  const place = numbersIn(row.key, 1) as [number, number, number];
  const known = rows.get(own, KEYS.messageId(message.messageId));
  if (!known || place.some((part, at) => part !== known[at])) return misplaced('its id leads elsewhere');
  if (place[1] > 0 && !hasRow(rows, own, KEYS.turn(place[0], place[1]))) return dangling('a turn');
  const isKnown = (callId: string, kind: string) => rows.get(own, KEYS.call(callId, place[2]))?.[0] === kind;
  const { calls, answers } = message;
  if (!calls.every((id) => isKnown(id, 'call')) || !answers.every((id) => isKnown(id, 'result')))
    return misplaced('its calls and results are not where they are looked for');
  return hasRecord(rows, message.ref) ? undefined : dangling('a record');
}

function followsRevision(rows: RowReader, own: ConversationId, { key, value }: Row): boolean {
  const [revision] = numbersIn(afterSeparator(key), 0) as [number];
  if (revision === 0) return true;
  const [version, index] = rows.get(own, KEYS.checkpoint(beforeSeparator(key, 1), revision - 1)) ?? [];
  const [ownVersion, ownIndex] = value as readonly [number, number];
  if (version === undefined) return false;
  return (version as number) < ownVersion || (version === ownVersion && (index as number) < ownIndex);
}

function operationProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const place = rows.get(own, KEYS.turnId(row.value[0] as TurnId));
  const turn = place && rows.get(own, KEYS.turn(...(place as readonly [number, number])));
  if (!turn) return dangling('a turn');
  return unpackTurn(turn).operationId === row.key.slice(1) ? undefined : misplaced('its turn does not know of it');
}

function callProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const [kind, branch, position] = row.value as readonly [string, number, number];
  const message = rows.get(own, KEYS.message(branch, position, numbersIn(afterSeparator(row.key), 0)[0] as number));
  if (!message) return dangling('a message');
  const { calls, answers } = unpackMessage(message, own);
  const named = kind === 'call' ? calls : answers;
  return named.includes(beforeSeparator(row.key, 1)) ? undefined : misplaced('its message does not know of it');
}

function commitProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const log = rows.log(own, row.value[0] as number);
  if (!log) return dangling('a commit');
  if (log.header === null) return undefined;
  const commitId = commitIdOf(log.header);
  return commitId === undefined || commitId === row.key.slice(1) ? undefined : misplaced('its commit has another id');
}

/** Nothing where the header is damaged: its digest is a fault already. */
function commitIdOf(header: string): string | undefined {
  try {
    return decodeHeader(header).commitId;
  } catch {
    return undefined;
  }
}

function entryProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const name = entryName(row.key);
  if (name === ENTRIES.tasks) return undefined;
  const packed = row.value[refAt(name)];
  if (!Array.isArray(packed)) return misplaced('another kind of entry stands there');
  return hasRecord(rows, unpackRef(packed, own)) ? undefined : dangling('a record');
}

function entryName(key: string): string {
  return beforeSeparator(key, 2 + parseInt(key[1] ?? '', 36));
}

/** Where the reference to its record stands in an entry. */
function refAt(name: string): number {
  if (name === ENTRIES.state) return 0;
  return name === ENTRIES.summary ? 2 : 1;
}

/** Every record of its own conversation that a row refers to. */
function recordsProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const refs = row.value.filter((item): item is readonly [number, number] => Array.isArray(item));
  const whole = refs.every(([version, index]) => hasRecord(rows, { owner: own, version, index }));
  return whole ? undefined : dangling('a record');
}

/** The head's counters against the rows: sequences without a gap or a repeat, a leaf that is there. */
function headFaults(
  rows: RowReader,
  current: Head,
  { head, counted, rowCounts, entries }: VerifyCursor,
): readonly Fault[] {
  const faults: Fault[] = [];
  const place = `conversation ${head.conversationId}, head`;
  if (!isGapless(head, counted)) {
    const reason = `${counted.messages} messages of ${head.messages} are there, up to sequence ${head.lastSequence}`;
    faults.push({ kind: 'sequence', place, reason, affects: 'the order of messages' });
  }
  if (entries !== 0 && !Number.isNaN(entries)) {
    const reason = `${Math.abs(entries)} entries ${entries > 0 ? 'are missing' : 'are there that no commit made'}`;
    faults.push({ kind: 'sequence', place, reason, affects: 'working state, promises, tasks and summaries' });
  }
  // What changed while the rows were gone through was counted in part before it and in part after.
  if (current.version === head.version && !isShelf(head.conversationId)) {
    const problems = headProblems(rows, current, rowCounts, lastHeader(rows, current));
    const affects = 'what follows the head';
    faults.push(...problems.map((reason): Fault => ({ kind: 'reference', place, reason, affects })));
  }
  const { leaf } = current;
  if (leaf !== null && leaf !== current.cutTurn && !hasRow(rows, head.conversationId, KEYS.turnId(leaf))) {
    faults.push({ kind: 'tree', place, reason: `the active leaf ${leaf} is not there`, affects: 'the active path' });
  }
  return faults;
}

function isGapless(head: Head, counted: MessageCount): boolean {
  const { messages, sum, lowest, highest } = counted;
  if (messages !== head.messages) return false;
  if (messages === 0) return true;
  return (
    highest === head.lastSequence && highest - lowest + 1 === messages && sum === ((lowest + highest) * messages) / 2
  );
}

/** The header of the last commit; nothing where it cannot be read: that is a fault already. */
function lastHeader(rows: RowReader, { conversationId, version }: Head): LogHeader | undefined {
  try {
    const header = rows.log(conversationId, version)?.header;
    return header === undefined || header === null ? undefined : decodeHeader(header);
  } catch {
    return undefined;
  }
}

/** True for what a commit up to the head noted on a path; which task is active it says beside the task. */
function isEntry({ key }: Row, { version }: Head): boolean {
  if (key[0] !== TABLES.entries) return false;
  return entryName(key) !== ENTRIES.tasks && (numbersIn(afterSeparator(key), 0)[1] as number) <= version;
}
