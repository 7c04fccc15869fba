import type { Row, RowReader } from '../backend.ts';
import { checksum, plus } from '../checksum.ts';
import type { Checksum } from '../checksum.ts';
import { chainAfter, chainStart } from '../digest.ts';
import type { Sha256 } from '../digest.ts';
import { isTurnkeepError } from '../errors.ts';
import type { Fault } from '../fault.ts';
import type { Head } from '../head.ts';
import { headerAt } from '../header.ts';
import type { ConversationId, NamespaceId } from '../ids.ts';
import { KEYS, numbersIn, prefixEnd, TABLES } from '../keys.ts';
import type { LogHeader, LogRecord } from '../log.ts';
import { readableBody, readableHeader } from '../readable.ts';
import { RecentLogs } from '../recent-logs.ts';
import { headChecksum, isAddedUp, rowChecksum } from '../row-sum.ts';
import { unpackMessage } from '../rows.ts';
import { ruleFor } from '../rules/index.ts';
import { LeftRows } from '../rules/left-rows.ts';
import type { Where } from '../rules/left-rows.ts';
import { isShelf, newShelf, SHELVES } from '../shelf.ts';
import { countRow, headProblems, isFalseTombstone, NO_ROWS } from './head.ts';
import type { RowCounts } from './head.ts';
import { memoryCountProblem } from './memories.ts';
import { recordFaults, replacementFaults } from './records.ts';
import { rowProblem } from './rows.ts';
import { daysAddUp, NO_USE, sameWeight, useOfChild, useOfRecord, useOfSum, usesAddUp } from './usage.ts';
import type { Use } from './usage.ts';

/** A slice of checking: how much was checked, and what was found. */
export interface VerifyStep {
  readonly commits: number;
  readonly records: number;
  readonly faults: readonly Fault[];
  /** Pass it in for the next slice; `null` when the conversation is done. */
  readonly next: VerifyCursor | null;
}

/**
 * Where a check continues. It reads the log, then the rows. If the sums of usage do not match, it reads the sub-agents once
 * more, since they may have gone on meanwhile; if the rows do not add up, it looks for each row that the log names.
 */
export interface VerifyCursor {
  readonly stage: 'log' | 'rows' | 'sub_agents' | 'look';
  readonly namespace: NamespaceId;
  /** The head as it was when the checking began. */
  readonly head: Head;
  /** The last version that was checked, in the log or while looking for rows. */
  readonly version: number;
  readonly chain: string;
  readonly afterKey: string | null;
  /** What the message rows add up to so far. */
  readonly counted: MessageCount;
  /** What the other rows add up to so far. */
  readonly rowCounts: RowCounts;
  /** What all rows add up to so far, for the head. */
  readonly rowSum: Checksum;
  readonly use: Use;
  /** What sub-agents used, when read once more. */
  readonly again: Use['children'];
  /** True if the rows do not add up. */
  readonly looks: boolean;
}

const LOG_SLICE = 128;
const ROW_SLICE = 1_024;
const LOOK_SLICE = 16;

/** What is checked. */
export interface Verified {
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;
}

/** Checks a slice of one conversation, in one snapshot. Faults are answers: nothing that it finds stops it. */
export function verifyConversation(
  rows: RowReader,
  sha256: Sha256,
  verified: Verified,
  cursor?: VerifyCursor,
): VerifyStep {
  try {
    const at = cursor ?? start(rows, sha256, verified);
    return !at || 'faults' in at ? (at ?? NOTHING) : STAGES[at.stage](rows, at, sha256);
  } catch (error) {
    if (!isOfAnotherShape(error)) throw error;
    const reason = `what is stored has another shape than it must have: ${error.message}`;
    const place = `conversation ${verified.conversationId}`;
    return { ...NOTHING, faults: [{ kind: 'store', place, reason, affects: 'the rest of it, which was not checked' }] };
  }
}

const NOTHING: VerifyStep = { commits: 0, records: 0, faults: [], next: null };

/** What JavaScript throws if a value does not have its type's shape: stored data was changed. */
function isOfAnotherShape(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError;
}

const STAGES = { log: verifyLog, rows: verifyRows, sub_agents: askAgain, look: lookForRows } as const;

function start(rows: RowReader, sha256: Sha256, verified: Verified): VerifyCursor | VerifyStep | undefined {
  const { namespace, conversationId } = verified;
  const head = rows.head(conversationId);
  if (!head) return undefined;
  const reason = startProblem(sha256, conversationId, head);
  if (reason !== undefined) {
    const place = `conversation ${conversationId}, head`;
    return { ...NOTHING, faults: [{ kind: 'chain', place, reason, affects: 'all of it, which was not checked' }] };
  }
  return {
    stage: head.version > 0 ? 'log' : 'rows',
    namespace,
    head,
    version: 0,
    chain: chainStart(sha256, conversationId),
    afterKey: null,
    counted: { messages: 0, sum: 0, lowest: 0, highest: 0 },
    rowCounts: NO_ROWS,
    rowSum: 0,
    use: NO_USE,
    again: NO_USE.children,
    looks: false,
  };
}

/** Why a head cannot be used at all. */
function startProblem(sha256: Sha256, id: ConversationId, head: Head): string | undefined {
  if (head.conversationId !== id) return `it is that of conversation ${head.conversationId}`;
  if (!Number.isSafeInteger(head.version)) return `it counts ${head.version} commits`;
  if (!isShelf(id) || checksum(head) === checksum(newShelf(id, head.createdAt, sha256))) return undefined;
  return 'it is none of a shelf';
}

// ---- The log: every digest, the chain over them, and what stands elsewhere by it

function verifyLog(rows: RowReader, cursor: VerifyCursor, sha256: Sha256): VerifyStep {
  const { head, namespace } = cursor;
  const faults: Fault[] = [];
  const end = Math.min(cursor.version + LOG_SLICE, head.version);
  let { chain, use } = cursor;
  let records = 0;
  for (let version = cursor.version + 1; version <= end; version++) {
    const log = logOrFault(rows, head, version);
    if ('kind' in log) {
      faults.push(log);
      use = { ...use, isKnown: false };
      continue;
    }
    records += log.records.length;
    chain = chainAfter(sha256, chain, log);
    const ofHeader = headerFaults(sha256, head, version, log);
    const header = ofHeader.length > 0 ? undefined : readableHeader(log);
    faults.push(...ofHeader, ...recordFaults(rows, sha256, head, version, log));
    use = header ? useIn(use, header, log) : { ...use, isKnown: false };
    if (header) faults.push(...replacementFaults(rows, head, header));
    if (header) faults.push(...lostRowFaults(rows, head, header, 'elsewhere'));
    if (header && version === head.version) faults.push(...headSumFaults(namespace, head, header));
  }
  if (end >= head.version && chain !== head.chain) faults.push(brokenChain(head));
  const stage = end < head.version ? 'log' : 'rows';
  return { commits: end - cursor.version, records, faults, next: { ...cursor, stage, version: end, chain, use } };
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

/** What cannot be read, with its place in the store as well as in the conversation: an archive block holds many commits. */
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

function headSumFaults(namespace: NamespaceId, head: Head, { headSum }: LogHeader): readonly Fault[] {
  if (headSum === undefined || head.erasedAt !== null || headSum === headChecksum(namespace, head)) return [];
  const place = `conversation ${head.conversationId}, head`;
  const reason = `it is not as its last commit left it, or stands in another namespace than ${namespace}`;
  return [{ kind: 'reference', place, reason, affects: 'lists, and what follows the head' }];
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
  const header = readableHeader(log);
  if (header?.version === version && log.version === version && header.at === log.at) return [];
  const reason = `the header is that of version ${header?.version}, at ${header?.at}`;
  return [{ kind: 'log_missing', place, reason, affects }];
}

/** The rows that a commit left by its events, and that are not there. */
function lostRowFaults(rows: RowReader, { conversationId }: Head, header: LogHeader, where: Where): readonly Fault[] {
  const left = new LeftRows(rows, conversationId, header.version, where);
  left.here(KEYS.commit(header.commitId), 'the commit’s id', ([version]) => version === header.version);
  for (const [index, event] of header.events.entries()) ruleFor(event.kind).leaves(left, event, index);
  // An erasure that came in between has taken its share.
  if (left.missing.length === 0 || rows.head(conversationId)?.erasedAt !== null) return [];
  const place = `conversation ${conversationId}, version ${header.version}`;
  const affects = 'readings that look for what this commit did';
  return left.missing.map((what) => {
    return { kind: 'reference', place, reason: `${what} is not in the rows as it was written`, affects };
  });
}

function useIn(use: Use, header: LogHeader, log: LogRecord): Use {
  let all = use;
  for (const event of header.events) {
    if (event.kind === 'usage.record' && event.record !== undefined)
      all = useOfRecord(all, readableBody(log.records[event.record]), event.turnId, header.at);
  }
  return all;
}

// ---- The rows: what points somewhere must find it, and all of them are what the head says

function verifyRows(rows: RowReader, cursor: VerifyCursor): VerifyStep {
  const { head } = cursor;
  const slice = sliceOf(rows, cursor, '');
  const current = rows.head(head.conversationId) ?? head;
  // Rows are as they are now: an erasure that came in between has taken its share.
  if (current.erasedAt !== null) return { commits: 0, records: 0, faults: tombstoneFaults(rows, current), next: null };
  const recent = new RecentLogs(rows);
  const faults = slice.flatMap((row) => rowFaults(recent, current, row));
  const counted = slice.reduce((sum, row) => count(sum, row, head), cursor.counted);
  const rowCounts = slice.reduce(countRow, cursor.rowCounts);
  const rowSum = slice.reduce(addUp, cursor.rowSum);
  const use = slice.reduce((sum, row) => useOfRow(rows, sum, row), cursor.use);
  const found = { ...cursor, counted, rowCounts, rowSum, use, afterKey: slice.at(-1)?.key ?? null };
  if (slice.length === ROW_SLICE) return { commits: 0, records: 0, faults, next: found };
  const ofAll = [...headFaults(rows, current, found), ...sumFaults(rows, current, found)];
  return { commits: 0, records: 0, faults: [...faults, ...ofAll], next: afterRows(current, found) };
}

function sliceOf(rows: RowReader, { head, afterKey }: VerifyCursor, prefix: string): readonly Row[] {
  const from = afterKey === null ? prefix : `${afterKey}\u0000`;
  return rows.scan(head.conversationId, { from, to: prefixEnd(prefix), limit: ROW_SLICE });
}

function addUp(sum: Checksum, { key, value }: Row): Checksum {
  return isAddedUp(key) ? plus(sum, rowChecksum(key, value)) : sum;
}

function useOfRow(rows: RowReader, use: Use, row: Row): Use {
  if (row.key.startsWith(TABLES.usageSums)) return useOfSum(use, row);
  return row.key.startsWith(TABLES.spawned) ? useOfChild(use, rows, row) : use;
}

function afterRows(current: Head, cursor: VerifyCursor): VerifyCursor | null {
  const { head, use, rowSum } = cursor;
  if (isShelf(head.conversationId)) return null;
  const isStill = current.version === head.version;
  const looks = !isStill || rowSum !== head.rowSum;
  const next = { ...cursor, afterKey: null, looks };
  if (isStill && use.hasChildren && !usesAddUp(use)) return { ...next, stage: 'sub_agents' };
  return looks ? { ...next, stage: 'look', version: 0 } : null;
}

function tombstoneFaults(rows: RowReader, head: Head): readonly Fault[] {
  if (!isFalseTombstone(rows, head, lastHeader(rows, head))) return [];
  const place = `conversation ${head.conversationId}, head`;
  return [{ kind: 'reference', place, reason: 'it was erased, and no commit did that', affects: 'all that it says' }];
}

/** Where the rows add up to something else than the head says, though nothing was committed while they were read. */
function sumFaults(rows: RowReader, current: Head, { head, rowSum, use }: VerifyCursor): readonly Fault[] {
  const id = head.conversationId;
  const faults: Fault[] = [];
  const isStill = current.version === head.version && !isShelf(id);
  const fault = (place: string, reason: string, affects: string) =>
    faults.push({ kind: 'rows', place: `conversation ${id}, ${place}`, reason, affects });
  if (isStill && head.rowSum !== undefined && rowSum !== head.rowSum)
    fault('rows', 'together they are not what its commits wrote', 'readings of this conversation');
  if (isStill && !use.hasChildren && !usesAddUp(use)) fault(...WRONG_USE);
  if (use.hasSums && !daysAddUp(rows, id))
    fault('sums of usage', 'those of the days are not those of all', WRONG_USE[2]);
  const count = id === SHELVES.memories ? memoryCountProblem(rows) : undefined;
  if (count !== undefined) fault('number of memories', count, 'how many memories there may be, and their order');
  return faults;
}

const WRONG_USE = ['sums of usage', 'they are not those of what was recorded', 'what usage is said to be'] as const;

/** Reads once more what sub-agents used: if it grew meanwhile, nobody can tell whether the sums are right. */
function askAgain(rows: RowReader, cursor: VerifyCursor): VerifyStep {
  const { head, use, looks } = cursor;
  const slice = sliceOf(rows, cursor, TABLES.spawned);
  const again = slice.reduce((sum, row) => useOfChild(sum, rows, row), { ...NO_USE, children: cursor.again }).children;
  const found = { ...cursor, again, afterKey: slice.at(-1)?.key ?? null };
  if (slice.length === ROW_SLICE) return { commits: 0, records: 0, faults: [], next: found };
  const isStill = rows.head(head.conversationId)?.version === head.version && sameWeight(again, use.children);
  const [place, reason, affects] = WRONG_USE;
  const fault: Fault = { kind: 'rows', place: `conversation ${head.conversationId}, ${place}`, reason, affects };
  const next: VerifyCursor | null = looks ? { ...found, stage: 'look', version: 0 } : null;
  return { commits: 0, records: 0, faults: isStill ? [fault] : [], next };
}

/** Looks for each row that a slice of commits made. That takes as many reads as rows, so it is done only if they do not add up. */
function lookForRows(rows: RowReader, cursor: VerifyCursor, sha256: Sha256): VerifyStep {
  const { head, version: after } = cursor;
  const end = Math.min(after + LOOK_SLICE, head.version);
  const faults: Fault[] = [];
  for (let version = after + 1; version <= end; version++) {
    const header = headerOrNone(rows, sha256, head.conversationId, version);
    if (header) faults.push(...lostRowFaults(rows, head, header, 'here'));
  }
  return { commits: 0, records: 0, faults, next: end < head.version ? { ...cursor, version: end } : null };
}

/** Nothing where it cannot be read: that is a fault already. */
function headerOrNone(rows: RowReader, sha256: Sha256, id: ConversationId, version: number): LogHeader | undefined {
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
    if (isOfAnotherShape(error)) return [{ kind: 'rows', place, reason: 'it is none of its table', affects }];
    return [{ ...damage(error, place), affects: messageOf(row, head) ?? affects }];
  }
}

/** So that every message whose words cannot be read is named. */
function messageOf({ key, value }: Row, head: Head): string | undefined {
  return key[0] === TABLES.messages ? `message ${unpackMessage(value, head.conversationId).messageId}` : undefined;
}

/** The head's counters against the rows: sequences without a gap or a repeat, a leaf that is there. */
function headFaults(rows: RowReader, current: Head, { head, counted, rowCounts }: VerifyCursor): readonly Fault[] {
  const faults: Fault[] = [];
  const place = `conversation ${head.conversationId}, head`;
  if (!isGapless(head, counted)) {
    const reason = `${counted.messages} messages of ${head.messages} are there, up to sequence ${head.lastSequence}`;
    faults.push({ kind: 'sequence', place, reason, affects: 'the order of messages' });
  }
  // If it changed while the rows were read, they were counted partly before and partly after the change.
  if (current.version === head.version && !isShelf(head.conversationId)) {
    const problems = headProblems(rows, current, rowCounts, lastHeader(rows, current));
    const affects = 'what follows the head';
    faults.push(...problems.map((reason): Fault => ({ kind: 'reference', place, reason, affects })));
  }
  const { leaf } = current;
  if (leaf !== null && leaf !== current.cutTurn && !rows.get(head.conversationId, KEYS.turnId(leaf))) {
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
    return readableHeader(rows.log(conversationId, version));
  } catch {
    return undefined;
  }
}
