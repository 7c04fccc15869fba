import { z } from 'zod';
import { TURN_STATES } from '../change.ts';
import type { Parent, TurnState, TurnSubmit } from '../change.ts';
import type { Draft } from '../draft.ts';
import { sameJson } from '../encoding.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { RecordRef } from '../head.ts';
import type { MessageId, OperationId, PromptId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { packBranch, packOperation, packRef, packTurn, unpackOperation, unpackRef } from '../rows.ts';
import type { SiblingReason, TurnRow } from '../rows.ts';
import { author, code, id, json, parts, shortText } from '../shapes.ts';
import { messagesAt } from '../tree/messages.ts';
import { branchRow, findInherited, ownTurn } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import { lastOrdinal, placeOfNewTurn } from '../tree/place.ts';
import type { NewPlace } from '../tree/place.ts';
import { findMessage } from '../tree/messages.ts';
import { placeMessage, touch } from './append.ts';
import { requireFence } from './attempt.ts';
import { withdrawInterrupts } from './open-interrupts.ts';
import { none, one } from './rule.ts';
import type { Rule } from './rule.ts';
import { hasStarted, isBusy, isLegalAdvance, isTerminal } from './turn-states.ts';

const parent: z.ZodType<Parent> = z.union([
  z.null(),
  z.strictObject({ turnId: id }),
  z.strictObject({ messageId: id }),
]);

/** What a prompt brings along: of one that is used again it is there already. */
const OF_A_NEW_PROMPT = ['promptId', 'author', 'metadata', 'occurredAt', 'input'] as const;

/** The prompt of a new turn: which one, where its words are, and whether an earlier turn had it. */
interface Prompt {
  readonly promptId: PromptId;
  readonly ref: RecordRef;
  readonly record?: number | undefined;
  readonly shared: boolean;
}

/** Prompt, turn (`preparing`) and open operation, as one. */
export const turnSubmit: Rule<'turn.submit'> = {
  kind: 'turn.submit',
  shape: z
    .strictObject({
      kind: z.literal('turn.submit'),
      turnId: id.optional(),
      operationId: id.optional(),
      messageId: id.optional(),
      promptId: id.optional(),
      parent: parent.optional(),
      prompt: parts.optional(),
      samePromptAs: id.optional(),
      input: z.enum(['prompt', 'command', 'shell']).optional(),
      author: author.optional(),
      metadata: json.optional(),
      occurredAt: shortText.optional(),
      taskId: id.optional(),
    })
    .refine((change) => (change.prompt === undefined) !== (change.samePromptAs === undefined), 'prompt or samePromptAs')
    .refine(
      (change) => change.samePromptAs === undefined || OF_A_NEW_PROMPT.every((field) => change[field] === undefined),
      `samePromptAs brings the words of that turn, and its ${OF_A_NEW_PROMPT.join(', ')}`,
    ),
  complete: (change, mint) => ({
    ...change,
    turnId: change.turnId ?? mint('turn'),
    messageId: change.messageId ?? mint('msg'),
    promptId: change.samePromptAs === undefined ? (change.promptId ?? mint('prm')) : undefined,
    operationId: change.operationId ?? mint('op'),
  }),
  records: one,
  apply(draft, change, path) {
    assertParentExpected(draft, change.parent, path);
    assertFree(draft);
    const { openOperation } = draft.head;
    if (openOperation !== null) throw new TurnkeepError('operation_open', { operationId: openOperation });
    const operationId = change.operationId as OperationId;
    assertNewOperation(draft, operationId);
    const messageId = change.messageId as MessageId;
    if (findMessage(draft.tree, messageId)) throw new TurnkeepError('message_conflict', { messageId });
    const prompt = change.prompt ? newPrompt(draft, change, path) : promptOf(draft, change.samePromptAs as TurnId);
    const input = { parent: change.parent, state: 'preparing' as const, promptId: prompt.promptId, operationId };
    const turn = addTurn(draft, change.turnId as TurnId, { ...input, shared: prompt.shared });
    const words = { messageId, role: 'user' as const, ref: prompt.ref, calls: [], answers: [], taskId: change.taskId };
    const target = { branch: turn.branch, position: turn.position, turnId: turn.row.turnId, late: false };
    const sequence = placeMessage(draft, target, words);
    if (prompt.shared) draft.put(KEYS.promptUse(prompt.promptId, sequence), [turn.branch, turn.position]);
    openAnOperation(draft, operationId, turn.row.turnId);
    const { turnId, ordinal, why } = turn.row;
    const ids = { turnId, operationId, messageId, promptId: prompt.promptId };
    return {
      kind: change.kind,
      ...ids,
      sequence,
      ordinal,
      why,
      ...(prompt.record === undefined ? {} : { record: prompt.record }),
    };
  },
};

/** Naming a parent says that the caller saw the tree: it must say which one. */
function assertParentExpected(draft: Draft, named: Parent | undefined, path: string): void {
  if (named === undefined || draft.envelope.commit.expect?.graphRevision !== undefined) return;
  throw new TurnkeepError('expect_required', { field: 'graphRevision', change: path });
}

function assertFree(draft: Draft): void {
  const [turnId] = draft.head.busy;
  if (turnId === undefined) return;
  throw new TurnkeepError('busy', { turnId, state: ownTurn(draft.tree, turnId)?.row.state ?? 'running' });
}

/** One of an earlier commit was answered before any rule: here it can only be one that this commit opened and ended. */
function assertNewOperation(draft: Draft, operationId: OperationId): void {
  const known = draft.get(KEYS.operation(operationId));
  const status = known && unpackOperation(known).status;
  if (status === 'succeeded' || status === 'failed')
    throw new TurnkeepError('operation_resolved', { operationId, status });
}

function openAnOperation(draft: Draft, operationId: OperationId, turnId: TurnId): void {
  const row = { turnId, openedAt: draft.version, status: 'open' as const, resolvedAt: null, failure: null };
  draft.put(KEYS.operation(operationId), packOperation(row));
  draft.head.openOperation = operationId;
}

/** A prompt's words become a record of their own; the same id with the same words is the same prompt. */
function newPrompt(draft: Draft, change: TurnSubmit, path: string): Prompt {
  const promptId = change.promptId as PromptId;
  const { author: by, metadata, occurredAt, input } = change;
  const body = { role: 'user', parts: change.prompt, author: by, metadata, occurredAt, input } as unknown as JsonObject;
  const known = draft.get(KEYS.prompt(promptId));
  if (known) {
    const ref = unpackRef(known, draft.conversationId);
    if (!sameJson(draft.body(ref), body)) throw new TurnkeepError('prompt_conflict', { promptId });
    draft.saltWith(ref);
    return { promptId, ref, shared: true };
  }
  const record = draft.addRecord(body, `${path}.prompt`);
  const ref = draft.refTo(record);
  draft.put(KEYS.prompt(promptId), packRef(ref, draft.conversationId));
  return { promptId, ref, record, shared: false };
}

/** The prompt of an earlier turn that this conversation sees. */
function promptOf(draft: Draft, turnId: TurnId): Prompt {
  const own = ownTurn(draft.tree, turnId);
  const inherited = own ? undefined : findInherited(draft.tree, turnId);
  const row = own?.row ?? inherited?.turn;
  if (!row || row.promptId === null) throw new TurnkeepError('no_turn', { turnId });
  const segment = inherited?.segments[inherited.at];
  const owner = segment?.owner ?? draft.conversationId;
  const branch = own?.branch ?? segment?.branch ?? 0;
  const position = own?.position ?? inherited?.position ?? 0;
  const first = messagesAt(draft.tree, owner, branch, position)[0];
  assert(first, 'a turn with a prompt has its message');
  const { ref, messageId } = first.row;
  if (draft.record(ref).body === null) throw new TurnkeepError('redacted', { messageId });
  draft.saltWith(ref);
  return { promptId: row.promptId, ref, shared: true };
}

interface NewTurn {
  readonly parent: Parent | undefined;
  readonly state: TurnState;
  readonly promptId: PromptId | null;
  readonly operationId: OperationId | null;
  /** True where its prompt was an earlier turn's. */
  readonly shared: boolean;
}

/** Adds a turn to the tree: its place, its ordinal among its siblings, its rows. */
function addTurn(draft: Draft, turnId: TurnId, input: NewTurn): OwnTurn {
  const { tree } = draft;
  if (ownTurn(tree, turnId) ?? findInherited(tree, turnId)) throw new TurnkeepError('turn_exists', { turnId });
  const place = placeOfNewTurn(tree, input.parent);
  assertParentEnded(place);
  const ordinal = lastOrdinal(tree, place.turnId) + 1;
  const { branch, after } =
    'branch' in place.on ? place.on : { branch: newBranch(draft, place.on.cut, false), after: 0 };
  const position = after + 1;
  const row: TurnRow = {
    turnId,
    parentTurnId: place.turnId,
    parentMessageId: place.messageId,
    ordinal,
    why: siblingReason(ordinal, input.shared),
    state: input.state,
    firstState: input.state,
    created: draft.stamp,
    base: hasStarted(input.state) ? draft.stamp : null,
    operationId: input.operationId,
    promptId: input.promptId,
    attempt: null,
  };
  draft.put(KEYS.turn(branch, position), packTurn(row));
  draft.put(KEYS.turnId(turnId), [branch, position]);
  draft.put(KEYS.child(place.turnId, ordinal), [turnId]);
  draft.head.turns += 1;
  // What follows would come after the new turn in sequence and before it on its path.
  draft.recording = null;
  draft.head.graphRevision += 1;
  markBusy(draft, turnId, isBusy(input.state));
  touch(draft);
  return { branch, position, row };
}

function siblingReason(ordinal: number, shared: boolean): SiblingReason {
  if (ordinal === 1) return 'start';
  return shared ? 'regenerate' : 'edit';
}

function assertParentEnded({ turn }: NewPlace): void {
  if (!turn || isTerminal(turn.state)) return;
  throw new TurnkeepError('path_busy', { turnId: turn.turnId, state: turn.state });
}

/** A branch that continues another from a cut; answers its number. */
export function newBranch(
  draft: Draft,
  cut: Parameters<typeof packBranch>[0] | Omit<Parameters<typeof packBranch>[0], 'forkRoot' | 'depth'>,
  forkRoot: boolean,
): number {
  const branch = forkRoot ? 0 : draft.head.branches;
  const above = cut.parent ? branchRow(draft.rows, cut.parent.owner, cut.parent.branch).depth : -1;
  const depth = above + 1;
  if (depth > LIMITS.branchDepth) {
    throw new TurnkeepError('limit_exceeded', {
      limit: 'branchDepth',
      max: LIMITS.branchDepth,
      actual: depth,
      path: 'parent',
    });
  }
  draft.put(KEYS.branch(branch), packBranch({ ...cut, forkRoot, depth }));
  if (!forkRoot) draft.head.branches += 1;
  return branch;
}

function markBusy(draft: Draft, turnId: TurnId, busy: boolean): void {
  const others = draft.head.busy.filter((other) => other !== turnId);
  draft.head.busy = busy ? [...others, turnId] : others;
  if (draft.head.busy.length > LIMITS.busyTurns) {
    throw new TurnkeepError('limit_exceeded', { limit: 'busyTurns', max: LIMITS.busyTurns, path: 'turnId' });
  }
}

/** Moves a turn forward. */
export const turnAdvance: Rule<'turn.advance'> = {
  kind: 'turn.advance',
  shape: z.strictObject({ kind: z.literal('turn.advance'), turnId: id, to: z.enum(TURN_STATES) }),
  complete: (change) => change,
  records: none,
  apply(draft, change, path) {
    const { kind, turnId, to } = change;
    const turn = ownTurn(draft.tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    // A stop needs no fence: it comes from outside the attempt.
    if (to !== 'cancelled') requireFence(draft, turn.row, path);
    const from = advance(draft, turn, to);
    return { kind, turnId, from, to };
  },
};

/** Moves a turn and what follows from it: its base, the active leaf, what keeps the conversation busy. */
export function advance(draft: Draft, turn: OwnTurn, to: TurnState): TurnState {
  const { state: from, turnId } = turn.row;
  if (!isLegalAdvance(from, to))
    throw new TurnkeepError('illegal_transition', { machine: 'turn', id: turnId, from, to });
  const starts = !hasStarted(from) && hasStarted(to);
  const base = starts ? draft.stamp : turn.row.base;
  draft.put(KEYS.turn(turn.branch, turn.position), packTurn({ ...turn.row, state: to, base }));
  const { version, index } = draft.stamp;
  draft.put(KEYS.turnState(turn.branch, turn.position, version, index), [to]);
  if (starts && to !== 'failed' && to !== 'cancelled') moveLeaf(draft, turnId);
  markBusy(draft, turnId, isBusy(to));
  if (isTerminal(to)) withdrawInterrupts(draft, turnId);
  touch(draft);
  return from;
}

export function moveLeaf(draft: Draft, turnId: TurnId): void {
  if (draft.head.leaf === turnId) return;
  draft.head.leaf = turnId;
  draft.head.graphRevision += 1;
}

/** A completed turn; what follows it in its commit may stand in it. */
export const turnRecord: Rule<'turn.record'> = {
  kind: 'turn.record',
  shape: z.strictObject({
    kind: z.literal('turn.record'),
    turnId: id.optional(),
    parent: parent.optional(),
    origin: code,
  }),
  complete: (change, mint) => ({ ...change, turnId: change.turnId ?? mint('turn') }),
  records: none,
  apply(draft, change, path) {
    assertParentExpected(draft, change.parent, path);
    assertFree(draft);
    const turnId = change.turnId as TurnId;
    const input = {
      parent: change.parent,
      state: 'completed' as const,
      promptId: null,
      operationId: null,
      shared: false,
    };
    const turn = addTurn(draft, turnId, input);
    moveLeaf(draft, turnId);
    draft.recording = turnId;
    const { ordinal, why } = turn.row;
    return { kind: change.kind, turnId, ordinal, why, origin: change.origin };
  },
};

/** Makes a turn the active leaf: one of this conversation's own, or the one that it was cut at. */
export const leafSelect: Rule<'leaf.select'> = {
  kind: 'leaf.select',
  shape: z.strictObject({ kind: z.literal('leaf.select'), turnId: id }),
  complete: (change) => change,
  records: none,
  apply(draft, change, path) {
    const { kind, turnId } = change;
    if (draft.envelope.commit.expect?.graphRevision === undefined) {
      throw new TurnkeepError('expect_required', { field: 'graphRevision', change: path });
    }
    if (!ownTurn(draft.tree, turnId) && draft.head.cutTurn !== turnId) throw new TurnkeepError('no_turn', { turnId });
    moveLeaf(draft, turnId);
    draft.recording = null;
    return { kind, turnId };
  },
};
