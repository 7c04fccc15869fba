import { z } from 'zod';
import { addSealedWords, addWords } from '../attachments/references.ts';
import type { MessageAppend } from '../change.ts';
import type { Draft } from '../draft.ts';
import { sameJson } from '../encoding.ts';
import { TurnkeepError } from '../errors.ts';
import type { ConversationId, MessageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import type { Redaction } from '../log.ts';
import { callsOf } from '../message.ts';
import type { RecordRef } from '../head.ts';
import type { MessageContent, Role } from '../message.ts';
import type { ChangeEvent } from '../event.ts';
import { id, newMessage, parts, shortText } from '../shapes.ts';
import { callPlaces, nearestOn, ownCallsAt } from '../tree/calls.ts';
import { findMessage } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { ownTurn, pathTo, scanPrefix, turnAt } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import { unpackInterrupt, unpackStep, WHOLE } from '../rows.ts';
import type { LocalRef } from '../rows.ts';
import { leavesMessage, placeMessage, wordsOfMessage } from './append.ts';
import type { Target } from './append.ts';
import { requireFence } from './attempt.ts';
import { forgetMadeOf } from './held-memory.ts';
import { none, one, untold } from './rule.ts';
import type { Rule } from './rule.ts';
import { isTerminal } from './turn-states.ts';

/** Appends a message; the same id with the same content is a no-op. */
export const messageAppend: Rule<'message.append'> = {
  shape: z.strictObject({ kind: z.literal('message.append'), message: newMessage, turnId: id.nullable().optional() }),
  complete: (change, mint) => {
    const messageId = change.message.messageId ?? mint('msg');
    return { ...change, message: { ...change.message, messageId } };
  },
  records: none,
  words: contentOf,
  apply(draft, change, path) {
    const { messageId, ...content } = change.message;
    const known = findMessage(draft.tree, messageId as MessageId);
    if (known) return sameAgain(draft, known, content);
    const { calls, answers, answered } = callsOf(content.parts);
    const target = answers.length > 0 ? targetOfResult(draft, change, answers, path) : targetOfMessage(draft, change);
    if (target.late && calls.length > 0) refuseCallsInPast(target);
    if (isOutput(content) && !target.late && target.turn) requireFence(draft, target.turn, path);
    const record = addSealedWords(draft, content.parts, `${path}.message`, `${path}.message.parts`);
    const ref = draft.refTo(record);
    const words = {
      messageId: messageId as MessageId,
      role: content.role,
      ref,
      calls,
      answers,
      answered,
      taskId: content.taskId,
      background: content.role === 'system' && content.visibility === 'user',
    };
    const sequence = placeMessage(draft, target, words);
    return eventOf(messageId as MessageId, target, sequence, record);
  },
  leaves(left, event) {
    // A message that was there already may be an inherited one.
    if (!('noop' in event)) leavesMessage(left, event.messageId, event.sequence, event.late);
  },
  saidBefore: wordsOfMessage,
};

function contentOf({ message }: MessageAppend): JsonObject {
  const { messageId: _, ...content } = message;
  return content as unknown as JsonObject;
}

/** A turn that has ended takes results of its calls, but no new calls, which nobody would wait for. */
function refuseCallsInPast({ turnId, turn }: Target): never {
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  throw new TurnkeepError('turn_terminal', { turnId: turn.turnId, state: turn.state });
}

function eventOf(messageId: MessageId, target: Target, sequence: number, record: number): ChangeEvent {
  const event = { kind: 'message.append' as const, messageId, turnId: target.turnId, sequence, record };
  return target.late ? { ...event, late: true } : event;
}

function isOutput(content: MessageContent): boolean {
  return content.role === 'assistant' || content.role === 'tool';
}

/** The same id again: a no-op with the same content, a conflict with other content. */
function sameAgain(draft: Draft, known: PlacedMessage, content: MessageContent): ChangeEvent {
  const { messageId, ref } = known.row;
  const body = draft.body(ref);
  if (body === undefined) throw new TurnkeepError('redacted', { messageId });
  if (!sameJson(body, content as unknown as JsonObject)) throw new TurnkeepError('message_conflict', { messageId });
  draft.saltWith(ref);
  return { kind: 'message.append', messageId, sequence: known.sequence, noop: true };
}

function targetOfMessage(draft: Draft, change: MessageAppend): Target {
  const turnId = change.turnId === undefined ? draft.head.leaf : change.turnId;
  if (turnId === null) return targetAtRoot(draft);
  const turn = ownTurn(draft.tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  if (hasEnded(draft, turn)) throw new TurnkeepError('turn_terminal', { turnId, state: turn.row.state });
  return { branch: turn.branch, position: turn.position, turnId, turn: turn.row, late: false };
}

/** The root takes messages only before the first turn, inherited turns included. */
function targetAtRoot(draft: Draft): Target {
  if (draft.head.turns > 0 || draft.head.cutTurn !== null) throw new TurnkeepError('no_turn', { turnId: null });
  return { branch: 0, position: 0, turnId: null, late: false };
}

/** A turn made by `turn.record` is complete, and yet open until its commit goes on to something else. */
function hasEnded(draft: Draft, turn: OwnTurn): boolean {
  return isTerminal(turn.row.state) && draft.recording !== turn.row.turnId;
}

/** All calls that one message answers stand in one turn. */
function targetOfResult(draft: Draft, change: MessageAppend, answers: readonly string[], path: string): Target {
  const targets = answers.map((callId) => targetOfAnswer(draft, callId));
  const [first] = targets as [Target];
  const elsewhere = targets.some((target) => target.branch !== first.branch || target.position !== first.position);
  if (elsewhere || (change.turnId !== undefined && change.turnId !== first.turnId)) {
    const reason = elsewhere ? 'it answers calls of several turns' : 'it answers a call of another turn';
    throw new TurnkeepError('invalid_value', { path: `${path}.${elsewhere ? 'message.parts' : 'turnId'}`, reason });
  }
  return first;
}

/**
 * A result stands in the turn of its call: the nearest one on the active path, else the conversation's newest. Where the
 * active path is cut inside that turn, or the call is inherited, it belongs to the active leaf's open turn.
 */
function targetOfAnswer(draft: Draft, callId: string): Target {
  const { tree } = draft;
  const onPath = nearestOn(tree, pathTo(tree, draft.head.leaf), callId, 'call');
  const ownLast = () =>
    callPlaces(tree, draft.conversationId, callId)
      .filter((place) => place.kind === 'call')
      .at(-1);
  const call = onPath?.place ?? ownLast();
  if (!call) throw new TurnkeepError('no_call', { callId });
  if (call.isAnswered) throw new TurnkeepError('already_answered', { callId });
  const cutInside = onPath && call.position === onPath.segment.position && onPath.segment.sequence !== WHOLE;
  if (call.owner !== draft.conversationId || cutInside) return openLeafFor(draft, callId);
  if (ownCallsAt(tree, callId, call.branch, call.position).some((place) => place.kind === 'result')) {
    throw new TurnkeepError('already_answered', { callId });
  }
  return besideCall(draft, call.branch, call.position);
}

function besideCall(draft: Draft, branch: number, position: number): Target {
  const row = position === 0 ? undefined : turnAt(draft.rows, draft.conversationId, branch, position);
  if (!row) return { branch, position, turnId: null, late: draft.head.turns > 0 };
  return { branch, position, turnId: row.turnId, turn: row, late: hasEnded(draft, { branch, position, row }) };
}

function openLeafFor(draft: Draft, callId: string): Target {
  const { leaf } = draft.head;
  const turn = leaf === null ? undefined : ownTurn(draft.tree, leaf);
  if (!turn || hasEnded(draft, turn)) throw new TurnkeepError('no_turn', { turnId: leaf });
  if (nearestOn(draft.tree, pathTo(draft.tree, leaf), callId, 'result')) {
    throw new TurnkeepError('already_answered', { callId });
  }
  return { branch: turn.branch, position: turn.position, turnId: leaf, turn: turn.row, late: false };
}

/** The role of a message's words, and the record that it shows now: its own, or the replacement. */
function wordsOf(draft: Draft, { row }: PlacedMessage): { readonly role: Role; readonly shown: RecordRef | undefined } {
  const words = draft.body(row.ref) as MessageContent | undefined;
  if (words) return { role: words.role, shown: row.ref };
  const { redaction } = draft.record(row.ref);
  const replacement = redaction?.replacement;
  const shown = replacement && draft.body(replacement) ? replacement : undefined;
  return { role: redaction?.role ?? 'user', shown };
}

/** Also redacts what repeats a tool call's input and result: its step, and the interrupt that asked about it. */
function redactSteps(draft: Draft, message: PlacedMessage, redaction: Redaction): void {
  const { owner, branch, position } = message;
  const turn = turnAt(draft.rows, owner, branch, position);
  const calls = [...message.row.calls, ...message.row.answers];
  if (!turn || calls.length === 0) return;
  const { turnId } = turn;
  for (const callId of calls) {
    const step = draft.rows.get(owner, KEYS.step(turnId, callId));
    if (step) redactAll(draft, owner, [unpackStep(step).start, unpackStep(step).end], redaction);
  }
  for (const { value } of scanPrefix(draft.rows, owner, KEYS.interruptsOf(turnId))) {
    const { callId, request, answer } = unpackInterrupt(turnId, value);
    if (callId !== null && calls.includes(callId)) redactAll(draft, owner, [request, answer], redaction);
  }
}

function redactAll(
  draft: Draft,
  owner: ConversationId,
  refs: readonly (LocalRef | null)[],
  redaction: Redaction,
): void {
  for (const ref of refs) if (ref) draft.redact({ owner, ...ref }, redaction);
}

/** Removes a message's words wherever they are shared. */
export const messageRedact: Rule<'message.redact'> = {
  shape: z.strictObject({
    kind: z.literal('message.redact'),
    messageId: id,
    reason: shortText,
    replacement: parts.optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, messageId, reason } = change;
    const message = findMessage(draft.tree, messageId);
    if (!message) throw new TurnkeepError('no_message', { messageId });
    const { role, shown } = wordsOf(draft, message);
    if (!shown && !change.replacement) return { kind, messageId, noop: true };
    const redaction = { reason, at: draft.envelope.now, role };
    redactSteps(draft, message, redaction);
    forgetMadeOf(draft, { conversation: message.owner, messageId }, reason);
    // An earlier replacement goes too.
    if (shown && shown !== message.row.ref) draft.redact(shown, redaction);
    if (!change.replacement) {
      draft.redact(message.row.ref, redaction);
      return { kind, messageId };
    }
    if (message.row.ref.owner !== draft.conversationId) {
      const reason = 'only the conversation that said the words puts others in their place';
      throw new TurnkeepError('invalid_value', { path: `${path}.replacement`, reason });
    }
    const record = addWords(draft, { parts: change.replacement as unknown as JsonObject[] }, `${path}.replacement`);
    draft.redact(message.row.ref, { ...redaction, replacement: draft.refTo(record) });
    return { kind, messageId, record };
  },
  leaves: untold,
};
