import type { Envelope, RowReader, WriteSet } from './backend.ts';
import type { Commit, Expect } from './change.ts';
import { chainStart } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { Draft, fingerprint } from './draft.ts';
import { TurnkeepError, assert, isTurnkeepError } from './errors.ts';
import { newHead } from './head.ts';
import type { Head } from './head.ts';
import { headerAt } from './header.ts';
import type { ConversationId, OperationId } from './ids.ts';
import type { Json } from './json.ts';
import { KEYS } from './keys.ts';
import type { LogHeader } from './log.ts';
import { fieldOf } from './event.ts';
import type { ChangeEvent } from './event.ts';
import type { Receipt } from './receipt.ts';
import { packBranch, unpackInput, unpackOperation } from './rows.ts';
import { checkFence } from './rules/attempt.ts';
import { assertNotErased } from './rules/fork.ts';
import { ruleFor } from './rules/index.ts';
import { checkParents } from './rules/sub-agent.ts';
import { settleOpenOperation } from './rules/operation.ts';
import { lastSequenceOn } from './tree/messages.ts';
import { pathTo } from './tree/path.ts';

/** What `decide` answers: a write set and its receipt, the stored receipt of an earlier commit, or a refusal. */
export type Decision =
  | { readonly outcome: 'write'; readonly writes: WriteSet; readonly receipt: Receipt }
  | { readonly outcome: 'replay'; readonly receipt: Receipt }
  | { readonly outcome: 'refuse'; readonly error: TurnkeepError };

/**
 * All rules, once, with no I/O: a pure function of the rows that it reads and of an envelope that was made once.
 * Checks run in one order: erased, commit replay, operation replay, fence, expect, rules.
 */
export function decide(rows: RowReader, envelope: Envelope, sha256: Sha256): Decision {
  try {
    return decideOrThrow(rows, envelope, sha256);
  } catch (error) {
    if (isTurnkeepError(error)) return { outcome: 'refuse', error };
    throw error;
  }
}

function decideOrThrow(rows: RowReader, envelope: Envelope, sha256: Sha256): Decision {
  const { commit } = envelope;
  const stored = rows.head(commit.conversationId);
  const isTombstone = stored !== undefined && stored.erasedAt !== null;
  if (isTombstone && isErasure(commit)) return { outcome: 'replay', receipt: erasureReceipt(commit, stored) };
  if (stored) assertNotErased(stored);
  const replay = stored && (commitReplay(rows, envelope, sha256) ?? operationReplay(rows, commit, sha256));
  if (replay) return { outcome: 'replay', receipt: replay };
  const head = stored ?? newHead(commit.conversationId, envelope.now, chainStart(sha256, commit.conversationId));
  const draft = new Draft(rows, envelope, head, sha256);
  if (!stored) draft.put(KEYS.branch(0), packBranch(FIRST_BRANCH));
  if (commit.fence) checkFence(draft, commit.fence);
  if (commit.expect) checkExpect(draft, commit.expect);
  checkParents(draft);
  const events = applyChanges(draft);
  settleOpenOperation(draft);
  draft.put(KEYS.commit(commit.commitId), [draft.version]);
  const { writes, header } = draft.finish(events);
  return { outcome: 'write', writes, receipt: receiptOf(commit.conversationId, header, false) };
}

const FIRST_BRANCH = {
  parent: null,
  cutPosition: 0,
  cutSequence: Number.MAX_SAFE_INTEGER,
  asOf: Number.MAX_SAFE_INTEGER,
  bound: null,
  forkRoot: false,
  depth: 0,
};

function applyChanges(draft: Draft): readonly ChangeEvent[] {
  return draft.envelope.commit.changes.map((change, index) => {
    draft.beginChange(index);
    return ruleFor(change.kind).apply(draft, change, `commit.changes[${index}]`);
  });
}

function commitReplay(rows: RowReader, envelope: Envelope, sha256: Sha256): Receipt | undefined {
  const { commitId, conversationId } = envelope.commit;
  const version = rows.get(conversationId, KEYS.commit(commitId))?.[0] as number | undefined;
  if (version === undefined) return undefined;
  const header = headerAt(rows, sha256, conversationId, version);
  const salts = saltsOf(rows, conversationId, header);
  if (salts && fingerprint(envelope, salts, sha256) !== header.fingerprint) {
    throw new TurnkeepError('commit_id_reused', { commitId });
  }
  return receiptOf(conversationId, header, true);
}

/** What a stored fingerprint was salted with; `undefined` once words of the commit are gone: then only the id identifies it. */
function saltsOf(rows: RowReader, conversationId: ConversationId, header: LogHeader): readonly string[] | undefined {
  const head = rows.head(conversationId);
  assert(head, 'a commit has its conversation');
  // Words that were stored before have no record in this commit: the same message again, the prompt of an earlier turn, the
  // input of a step that is done again.
  const records = header.events.flatMap((event) => {
    const find = fieldOf(event, 'record') === undefined ? ruleFor(event.kind).saidBefore : undefined;
    if (!find) return [];
    const ref = find({ rows, head }, event);
    return [ref && rows.log(ref.owner, ref.version)?.records[ref.index]];
  });
  const salts = [rows.log(conversationId, header.version)?.nonce, ...records.map((record) => record?.nonce)];
  return salts.every((salt) => typeof salt === 'string') ? salts : undefined;
}

/** A repeated operation gets the answer of its first commit, whatever else this one asks for. */
function operationReplay(rows: RowReader, commit: Commit, sha256: Sha256): Receipt | undefined {
  for (const change of commit.changes) {
    if (change.kind !== 'turn.submit') continue;
    const version = acceptedAt(rows, commit.conversationId, change.operationId as OperationId);
    if (version === undefined) continue;
    return receiptOf(commit.conversationId, headerAt(rows, sha256, commit.conversationId, version), true);
  }
  return undefined;
}

/** The version at which an operation was opened, or at which the input under its id arrived. */
function acceptedAt(rows: RowReader, conversationId: ConversationId, operationId: OperationId): number | undefined {
  const operation = rows.get(conversationId, KEYS.operation(operationId));
  if (operation) return unpackOperation(operation).openedAt;
  const input = rows.get(conversationId, KEYS.input(operationId));
  return input && unpackInput(input).stamp.version;
}

export function receiptOf(conversationId: ConversationId, header: LogHeader, replayed: boolean): Receipt {
  return {
    commitId: header.commitId,
    conversationId,
    version: header.version,
    graphRevision: header.graphRevision,
    committedAt: new Date(header.at).toISOString(),
    events: header.events,
    replayed,
  };
}

function isErasure(commit: Commit): boolean {
  return commit.changes.length === 1 && commit.changes[0]?.kind === 'conversation.erase';
}

/** Erasing again changes nothing, and says when the conversation was erased. */
function erasureReceipt(commit: Commit, head: Head): Receipt {
  assert(head.erasedAt !== null, 'a tombstone has its time');
  return {
    commitId: commit.commitId,
    conversationId: head.conversationId,
    version: head.version,
    graphRevision: head.graphRevision,
    committedAt: new Date(head.erasedAt).toISOString(),
    events: [{ kind: 'conversation.erase' }],
    replayed: true,
  };
}

function checkExpect(draft: Draft, expect: Expect): void {
  const { head } = draft;
  check('version', expect.version, head.version);
  check('graphRevision', expect.graphRevision, head.graphRevision);
  check('leaf', expect.leaf, head.leaf);
  if (!expect.transcript) return;
  const { turn, lastSequence } = expect.transcript;
  check('transcript.lastSequence', lastSequence, lastSequenceOn(draft.tree, pathTo(draft.tree, turn)));
}

function check(field: string, expected: Json | undefined, actual: Json): void {
  if (expected === undefined || expected === actual) return;
  throw new TurnkeepError('conflict', { field, expected, actual });
}
