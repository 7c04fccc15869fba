import { attachmentsIn, partsOf } from '../attachments/mentions.ts';
import { ATTACHMENT_KEYS } from '../attachments/rows.ts';
import type { Row, RowReader } from '../backend.ts';
import { sameJson } from '../encoding.ts';
import type { Head, RecordRef } from '../head.ts';
import type { ConversationId, TurnId } from '../ids.ts';
import { afterSeparator, beforeSeparator, KEYS, numbersIn, prefixEnd, TABLES } from '../keys.ts';
import type { Table } from '../keys.ts';
import { readableBody, readableHeader } from '../readable.ts';
import { ENTRIES, unpackBranch, unpackInput, unpackMessage, unpackRef, unpackTurn } from '../rows.ts';
import { SHELVES } from '../shelf.ts';
import { packUsage, unpackUsage } from '../usage-sum.ts';
import { memoryOriginProblem, memoryProblem, memoryRevisionProblem } from './memories.ts';

/** What is wrong with a row. */
export interface Problem {
  readonly kind: 'reference' | 'tree';
  readonly reason: string;
}

const dangling = (what: string): Problem => ({ kind: 'reference', reason: `it points to ${what} that is not there` });
const misplaced = (reason: string): Problem => ({ kind: 'tree', reason });

/** What a row points to must be there, and know of it. */
export function rowProblem(rows: RowReader, head: Head, row: Row): Problem | undefined {
  // The tables of a shelf of attachments are checked with their bytes.
  const check: Check | undefined = CHECKS[row.key[0] as Table];
  return check?.(rows, head.conversationId, row);
}

type Check = (rows: RowReader, own: ConversationId, row: Row) => Problem | undefined;

const CHECKS: { readonly [Letter in Table]: Check } = {
  [TABLES.branches]: branchProblem,
  [TABLES.turns]: turnProblem,
  [TABLES.turnIds]: (rows, own, { value }) => toRow(rows, own, KEYS.turn(...(value as Two)), 'a turn'),
  [TABLES.turnStates]: sumAlone,
  [TABLES.children]: sumAlone,
  [TABLES.messages]: messageProblem,
  [TABLES.messageIds]: (rows, own, { value }) => toRow(rows, own, KEYS.message(...(value as Three)), 'a message'),
  [TABLES.late]: lateProblem,
  [TABLES.calls]: callProblem,
  [TABLES.entries]: entryProblem,
  [TABLES.commits]: commitProblem,
  [TABLES.operations]: operationProblem,
  [TABLES.prompts]: sumAlone,
  [TABLES.promptUses]: sumAlone,
  [TABLES.bindings]: sumAlone,
  [TABLES.checkpoints]: revisionProblem,
  [TABLES.pendingWrites]: recordProblem,
  [TABLES.contents]: recordProblem,
  [TABLES.taskMessages]: sumAlone,
  [TABLES.forks]: forkProblem,
  [TABLES.spawned]: spawnedProblem,
  [TABLES.attempts]: (rows, own, { value }) => toRow(rows, own, KEYS.turnId(value[0] as TurnId), 'a turn'),
  [TABLES.runs]: recordsProblem,
  [TABLES.steps]: recordsProblem,
  [TABLES.interrupts]: recordsProblem,
  [TABLES.interruptIds]: (rows, own, { key, value }) =>
    toRow(rows, own, KEYS.interrupt(value[0] as TurnId, key.slice(1)), 'an interrupt'),
  [TABLES.inputs]: inputProblem,
  [TABLES.waiting]: waitingProblem,
  [TABLES.usages]: recordProblem,
  [TABLES.usageSums]: usageSumProblem,
  [TABLES.memories]: (rows, _, row) => told(memoryProblem(rows, row)),
  [TABLES.memoryRevisions]: (rows, _, row) => told(memoryRevisionProblem(rows, row)),
  [TABLES.memoryOrigins]: (rows, _, row) => told(memoryOriginProblem(rows, row)),
  [TABLES.memoryCount]: (_, __, { key }) =>
    key === TABLES.memoryCount ? undefined : misplaced('there is one number of memories'),
  [TABLES.readers]: sumAlone,
  [TABLES.references]: referenceProblem,
};

/** For tables that only the head's sum of rows protects. */
function sumAlone(): undefined {}

type Two = readonly [number, number];
type Three = readonly [number, number, number];

function toRow(rows: RowReader, own: ConversationId, key: string, what: string): Problem | undefined {
  return hasRow(rows, own, key) ? undefined : dangling(what);
}

function lateProblem(rows: RowReader, own: ConversationId, { key, value }: Row): Problem | undefined {
  const [branch, sequence] = numbersIn(key, 1) as Two;
  return toRow(rows, own, KEYS.message(branch, value[0] as number, sequence), 'a message');
}

function forkProblem(rows: RowReader, own: ConversationId, { key, value }: Row): Problem | undefined {
  const isIt = value.length === 1 && rows.head(key.slice(1))?.source === own;
  return isIt ? undefined : misplaced('no such fork says so');
}

function usageSumProblem(_: RowReader, __: ConversationId, { value }: Row): Problem | undefined {
  return sameJson(value, packUsage(unpackUsage(value))) ? undefined : misplaced('it is no sum of usage');
}

function inputProblem(rows: RowReader, own: ConversationId, { value }: Row): Problem | undefined {
  const { status, words, stamp } = unpackInput(value);
  if (status !== 'waiting') return undefined;
  if (!hasRow(rows, own, KEYS.waiting(stamp.version, stamp.index))) return misplaced('it waits in no queue');
  return hasRecord(rows, { owner: own, ...words }) ? undefined : dangling('a record');
}

function waitingProblem(rows: RowReader, own: ConversationId, { value }: Row): Problem | undefined {
  const input = rows.get(own, KEYS.input(value[0] as string));
  return input && unpackInput(input).status === 'waiting' ? undefined : dangling('an input that waits');
}

function revisionProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const follows = followsRevision(rows, own, row);
  return follows ? recordProblem(rows, own, row) : misplaced('the revision before it is not there, or younger');
}

function recordProblem(rows: RowReader, own: ConversationId, { value }: Row): Problem | undefined {
  const [version, index] = value as Two;
  return hasRecord(rows, { owner: own, version, index }) ? undefined : dangling('a record');
}

function told(reason: string | undefined): Problem | undefined {
  return reason === undefined ? undefined : { kind: 'reference', reason };
}

/** A sub-agent's own head says under which turn and call it hangs. */
function spawnedProblem(rows: RowReader, own: ConversationId, { key, value }: Row): Problem | undefined {
  const parent = rows.head(afterSeparator(key))?.parent;
  if (!parent) return dangling('a sub-agent');
  const { conversationId, turnId, callId } = parent;
  const isIt = conversationId === own && turnId === beforeSeparator(key, 1) && sameJson(value, [callId]);
  return isIt ? undefined : misplaced('its sub-agent hangs elsewhere');
}

function referenceProblem(rows: RowReader, own: ConversationId, row: Row): Problem | undefined {
  const digest = beforeSeparator(row.key, 1);
  const [version, index] = numbersIn(afterSeparator(row.key), 0) as [number, number];
  if (row.key !== KEYS.reference(digest, version, index) || row.value.length > 0)
    return misplaced('it is no reference');
  if (!hasRow(rows, SHELVES.attachments, ATTACHMENT_KEYS.attachment(digest))) return dangling('an attachment');
  if (!hasRow(rows, SHELVES.attachments, ATTACHMENT_KEYS.use(digest, own)))
    return misplaced('its attachment does not know of it');
  const record = rows.log(own, version)?.records[index];
  if (!record || record.body === null) return dangling('a record');
  const named = attachmentsIn(partsOf(readableBody(record) ?? {}), 'parts').map((mention) => mention.digest);
  return named.includes(digest) ? undefined : misplaced('its words name no such attachment');
}

function hasRow(rows: RowReader, owner: ConversationId, key: string): boolean {
  return rows.get(owner, key) !== undefined;
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
  const commitId = readableHeader(log)?.commitId;
  return commitId === undefined || commitId === row.key.slice(1) ? undefined : misplaced('its commit has another id');
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
