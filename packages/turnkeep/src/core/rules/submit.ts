import { z } from 'zod';
import type { TurnStarted } from '../event.ts';
import { addWords } from '../attachments/references.ts';
import type { Parent, TurnSubmit } from '../change.ts';
import type { Draft } from '../draft.ts';
import { sameJson } from '../encoding.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { RecordRef } from '../head.ts';
import type { MessageId, OperationId, PromptId, TaskId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import { packOperation, packRef, unpackOperation, unpackRef } from '../rows.ts';
import { id, promptParts } from '../shapes.ts';
import { findMessage, messagesAt } from '../tree/messages.ts';
import { findInherited, ownTurn } from '../tree/path.ts';
import { placeOfNewTurn } from '../tree/place.ts';
import { leavesMessage, placeMessage, wordsOfMessage } from './append.ts';
import type { LeftRows } from './left-rows.ts';
import { leavesOperation, settleOpenOperation } from './operation.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { addTurn, advance, assertFree, assertParentExpected, leavesTurn, parent } from './turn.ts';
import { isTerminal } from './turn-states.ts';
import { enqueue, inputRow, inputWords, promptBody, waitingInputs } from './waiting-input.ts';

/** What comes with a new prompt; a reused one already has it. */
const OF_A_NEW_PROMPT = ['promptId', 'author', 'metadata', 'occurredAt', 'input'] as const;
/** What a waiting input cannot name: it continues from wherever the leaf will be. */
const NOT_OF_AN_INPUT = ['parent', 'samePromptAs', 'taskId'] as const;

/** The prompt of a new turn: which one, where its words are, and whether an earlier turn had it. */
interface Prompt {
  readonly promptId: PromptId;
  readonly ref: RecordRef;
  readonly record?: number | undefined;
  readonly shared: boolean;
}

/** Prompt, turn (`preparing`) and open operation, as one; or, while a turn is at work, what `whenBusy` says. */
export const turnSubmit: Rule<'turn.submit'> = {
  shape: z
    .strictObject({
      kind: z.literal('turn.submit'),
      turnId: id.optional(),
      operationId: id.optional(),
      messageId: id.optional(),
      promptId: id.optional(),
      parent: parent.optional(),
      prompt: promptParts.optional(),
      samePromptAs: id.optional(),
      ...inputWords,
      taskId: id.optional(),
      whenBusy: z.enum(['reject', 'enqueue', 'steer', 'interrupt']).optional(),
    })
    .refine(
      (change) => (change.prompt === undefined) !== (change.samePromptAs === undefined),
      'expected either prompt or samePromptAs',
    )
    .refine(
      (change) => change.samePromptAs === undefined || OF_A_NEW_PROMPT.every((field) => change[field] === undefined),
      `samePromptAs brings the words of that turn, and its ${OF_A_NEW_PROMPT.join(', ')}`,
    )
    .refine(
      (change) => !mayWait(change) || NOT_OF_AN_INPUT.every((field) => change[field] === undefined),
      `what may have to wait names no ${NOT_OF_AN_INPUT.join(', ')}`,
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
    const operationId = change.operationId as OperationId;
    assertParentExpected(draft, change.parent, path);
    if (inputRow(draft, operationId)) throw new TurnkeepError('input_exists', { inputId: operationId });
    if (mayWait(change) && mustWait(draft)) return enqueue(draft, operationId, modeOf(change), wordsOf(change), path);
    const interrupted = change.whenBusy === 'interrupt' ? stopTurnsAtWork(draft, change.parent) : [];
    const prompt = () =>
      change.prompt
        ? newPrompt(draft, change.promptId as PromptId, promptBody(change), path)
        : promptOf(draft, change.samePromptAs as TurnId);
    const turnId = change.turnId as TurnId;
    const messageId = change.messageId as MessageId;
    const { parent: under, taskId } = change;
    const started = startTurn(draft, { turnId, operationId, messageId, parent: under, taskId, prompt });
    return { kind: change.kind, ...started, ...(interrupted.length > 0 ? { interrupted } : {}) };
  },
  leaves: leavesStarted,
  saidBefore: wordsOfMessage,
};

type Waits = Pick<TurnSubmit, 'whenBusy'>;

function mayWait({ whenBusy }: Waits): boolean {
  return whenBusy === 'enqueue' || whenBusy === 'steer';
}

function modeOf({ whenBusy }: Waits): 'queued' | 'steering' {
  return whenBusy === 'steer' ? 'steering' : 'queued';
}

function wordsOf({ prompt, input, author, metadata, occurredAt }: TurnSubmit) {
  assert(prompt, 'the shape asks for a prompt of what may wait');
  return { prompt, input, author, metadata, occurredAt };
}

/** True while a turn is at work, the leaf waits, or others are in the queue: nobody overtakes them. */
function mustWait(draft: Draft): boolean {
  const { leaf } = draft.head;
  const leafTurn = leaf === null ? undefined : ownTurn(draft.tree, leaf);
  const atWork = busyTurns(draft).length > 0 || (leafTurn !== undefined && !isTerminal(leafTurn.row.state));
  return atWork || waitingInputs(draft, 1).length > 0;
}

/** The turns at work that keep others from starting: all of them, or, if each keeps only its path busy, that of the open operation. */
function busyTurns(draft: Draft): readonly TurnId[] {
  const { busy, busyByPath, openOperation } = draft.head;
  if (!busyByPath) return busy;
  const operation = openOperation === null ? undefined : draft.get(KEYS.operation(openOperation));
  return operation ? [unpackOperation(operation).turnId] : [];
}

/** Cancels the turns that keep a new one under `under` from starting, and returns them. */
function stopTurnsAtWork(draft: Draft, under: Parent | undefined): readonly TurnId[] {
  const { turnId } = placeOfNewTurn(draft.tree, under);
  const busy = busyTurns(draft);
  const stopped = new Set(turnId === null ? busy : [...busy, turnId]);
  for (const each of stopped) {
    const turn = ownTurn(draft.tree, each);
    if (turn && !isTerminal(turn.row.state)) advance(draft, turn, 'cancelled');
    else stopped.delete(each);
  }
  settleOpenOperation(draft);
  return [...stopped];
}

/** What a new turn starts from. */
export interface TurnStart {
  readonly turnId: TurnId;
  readonly operationId: OperationId;
  readonly messageId: MessageId;
  readonly parent?: Parent | undefined;
  readonly taskId?: TaskId | undefined;
  /** Called once nothing before it can be refused. */
  readonly prompt: () => Prompt;
}

/** Adds a turn (`preparing`) with its prompt's message and its open operation; returns what an event says of them. */
export function startTurn(draft: Draft, start: TurnStart): TurnStarted {
  const { turnId, operationId, messageId, taskId } = start;
  assertFree(draft);
  const { openOperation } = draft.head;
  if (openOperation !== null) throw new TurnkeepError('operation_open', { operationId: openOperation });
  assertNewOperation(draft, operationId);
  if (findMessage(draft.tree, messageId)) throw new TurnkeepError('message_conflict', { messageId });
  const prompt = start.prompt();
  const { promptId, ref, shared, record } = prompt;
  const input = { parent: start.parent, state: 'preparing' as const, promptId, operationId };
  const turn = addTurn(draft, turnId, { ...input, shared });
  const words = { messageId, role: 'user' as const, ref, calls: [], answers: [], taskId };
  const target = { branch: turn.branch, position: turn.position, turnId, late: false };
  const sequence = placeMessage(draft, target, words);
  if (shared) draft.put(KEYS.promptUse(promptId, sequence), [turn.branch, turn.position]);
  openAnOperation(draft, operationId, turnId);
  const { ordinal, why } = turn.row;
  const started = { turnId, operationId, messageId, promptId, sequence, ordinal, why };
  return record === undefined ? started : { ...started, record };
}

/** The rows that a turn with a prompt leaves. */
export function leavesStarted(left: LeftRows, started: TurnStarted): void {
  const { turnId, operationId, messageId, promptId, sequence, record } = started;
  leavesTurn(left, turnId);
  leavesMessage(left, messageId, sequence);
  leavesOperation(left, operationId, turnId);
  if (record === undefined) left.here(KEYS.promptUse(promptId, sequence), `a use of prompt ${promptId}`);
  else left.here(KEYS.prompt(promptId), `prompt ${promptId}`);
}

/** An operation of an earlier commit was answered before any rule, so a known one was opened and ended by this commit. */
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
export function newPrompt(draft: Draft, promptId: PromptId, body: JsonObject, path: string): Prompt {
  const known = draft.get(KEYS.prompt(promptId));
  if (known) {
    const ref = unpackRef(known, draft.conversationId);
    if (!sameJson(draft.body(ref), body)) throw new TurnkeepError('prompt_conflict', { promptId });
    draft.saltWith(ref);
    return { promptId, ref, shared: true };
  }
  const record = addWords(draft, body, `${path}.prompt`);
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
