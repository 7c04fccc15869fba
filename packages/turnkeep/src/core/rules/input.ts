import { z } from 'zod';
import { addWords } from '../attachments/references.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { InputId, MessageId, PromptId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import type { ChangeEvent } from '../event.ts';
import { count, id, promptParts } from '../shapes.ts';
import { findMessage } from '../tree/messages.ts';
import { ownTurn } from '../tree/path.ts';
import { leavesMessage, placeMessage, wordsOfMessage } from './append.ts';
import type { LeftRows } from './left-rows.ts';
import { none, one } from './rule.ts';
import type { Rule } from './rule.ts';
import { leavesStarted, newPrompt, startTurn } from './submit.ts';
import { isTerminal } from './turn-states.ts';
import { edit, enqueue, inputRow, inputWords, settle, waitingInput, waitingInputs } from './waiting-input.ts';

/** Adds a waiting input, or gives a waiting one other words. */
export const inputEnqueue: Rule<'input.enqueue'> = {
  shape: z
    .strictObject({
      kind: z.literal('input.enqueue'),
      inputId: id.optional(),
      from: count.optional(),
      mode: z.enum(['queued', 'steering']).optional(),
      prompt: promptParts,
      ...inputWords,
    })
    .refine((change) => change.from === undefined || change.inputId !== undefined, 'an edit names its input'),
  complete: (change, mint) => ({ ...change, inputId: change.inputId ?? mint('in') }),
  records: one,
  apply(draft, change, path) {
    const inputId = change.inputId as InputId;
    const { from } = change;
    if (from !== undefined) return edit(draft, inputId, { ...change, from }, path);
    return enqueue(draft, inputId, change.mode ?? 'queued', change, path);
  },
  leaves: leavesInput,
};

/** Delivers an input: as the next turn, or as a message in a turn that has not ended. */
export const inputDeliver: Rule<'input.deliver'> = {
  shape: z
    .strictObject({
      kind: z.literal('input.deliver'),
      inputId: id.optional(),
      into: id.optional(),
      turnId: id.optional(),
      messageId: id.optional(),
      promptId: id.optional(),
    })
    .refine(
      (change) => change.into === undefined || (change.turnId === undefined && change.promptId === undefined),
      'what goes into a turn starts none',
    ),
  complete: (change, mint) => ({
    ...change,
    messageId: change.messageId ?? mint('msg'),
    turnId: change.into === undefined ? (change.turnId ?? mint('turn')) : undefined,
    promptId: change.into === undefined ? (change.promptId ?? mint('prm')) : undefined,
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, into } = change;
    const inputId = change.inputId ?? oldest(draft, into !== undefined);
    const messageId = change.messageId as MessageId;
    waitingInput(draft, inputId);
    if (into !== undefined) return deliverInto(draft, inputId, into, messageId, path);
    const turnId = change.turnId as TurnId;
    const promptId = change.promptId as PromptId;
    const prompt = () => newPrompt(draft, promptId, settle(draft, inputId, 'delivered', turnId), path);
    const started = startTurn(draft, { turnId, operationId: inputId, messageId, prompt });
    return { kind, inputId, ...started };
  },
  leaves(left, event) {
    leavesInput(left, event);
    if ('operationId' in event) leavesStarted(left, event);
    else leavesMessage(left, event.messageId, event.sequence);
  },
  saidBefore: wordsOfMessage,
};

/** The input that has waited longest; among the steering ones if a turn at work asks. */
function oldest(draft: Draft, steering: boolean): InputId {
  const waiting = waitingInputs(draft, steering ? LIMITS.waitingInputs : 1);
  const found = waiting.find((inputId) => !steering || inputRow(draft, inputId)?.mode === 'steering');
  if (found === undefined) throw new TurnkeepError('no_input', { inputId: null });
  return found;
}

function deliverInto(draft: Draft, inputId: InputId, turnId: TurnId, messageId: MessageId, path: string): ChangeEvent {
  const turn = ownTurn(draft.tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  const { branch, position, row } = turn;
  if (isTerminal(row.state)) throw new TurnkeepError('turn_terminal', { turnId, state: row.state });
  if (findMessage(draft.tree, messageId)) throw new TurnkeepError('message_conflict', { messageId });
  const record = addWords(draft, settle(draft, inputId, 'delivered', turnId), path);
  const words = { messageId, role: 'user' as const, ref: draft.refTo(record), calls: [], answers: [] };
  const sequence = placeMessage(draft, { branch, position, turnId, late: false }, words);
  return { kind: 'input.deliver', inputId, turnId, messageId, sequence, record };
}

/** Takes back an input that waits. */
export const inputWithdraw: Rule<'input.withdraw'> = {
  shape: z.strictObject({ kind: z.literal('input.withdraw'), inputId: id }),
  records: none,
  apply(draft, { kind, inputId }) {
    settle(draft, inputId, 'withdrawn', null);
    return { kind, inputId };
  },
  leaves: leavesInput,
};

function leavesInput(left: LeftRows, { inputId }: { readonly inputId: InputId }): void {
  left.here(KEYS.input(inputId), `input ${inputId}`);
}
