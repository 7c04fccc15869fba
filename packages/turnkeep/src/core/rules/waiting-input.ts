import { z } from 'zod';
import type { InputEnqueue, InputMode, TurnSubmit } from '../change.ts';
import { addWords } from '../attachments/references.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { InputId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS, TABLES, prefixEnd } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { packInput, unpackInput } from '../rows.ts';
import type { InputRow } from '../rows.ts';
import { author, json, shortText } from '../shapes.ts';
import type { ChangeEvent } from '../event.ts';

/**
 * The life of an input: it waits, with a revision for each edit, until it is delivered or withdrawn, once. While it waits,
 * its words stand in a record of their own; a delivery copies them to the message that it makes. Whenever words of an input
 * are replaced, moved or withdrawn, the record loses them: nobody has said them yet.
 */

/** What an input says, as a prompt would. */
export const inputWords: {
  readonly [Field in 'input' | 'author' | 'metadata' | 'occurredAt']: z.ZodOptional<
    z.ZodType<Exclude<InputEnqueue[Field], undefined>>
  >;
} = {
  input: z.enum(['prompt', 'command', 'shell']).optional(),
  author: author.optional(),
  metadata: json.optional(),
  occurredAt: shortText.optional(),
};

export type InputWords = Pick<InputEnqueue, 'prompt' | keyof typeof inputWords>;

/** The record body of a prompt, and of an input that may become one. */
export function promptBody(words: Pick<TurnSubmit, keyof InputWords>): JsonObject {
  const { prompt, author: by, metadata, occurredAt, input } = words;
  return { role: 'user', parts: prompt, author: by, metadata, occurredAt, input } as unknown as JsonObject;
}

/** The ids of the inputs that wait, oldest first; `limit` of them at most. */
export function waitingInputs(draft: Draft, limit: number): readonly InputId[] {
  const range = { from: TABLES.waiting, to: prefixEnd(TABLES.waiting), limit };
  return draft.scan(range).map(({ value }) => value[0] as InputId);
}

export function inputRow(draft: Draft, inputId: InputId): InputRow | undefined {
  const value = draft.get(KEYS.input(inputId));
  return value && unpackInput(value);
}

/** An input that waits; `no_input` and `input_settled` otherwise. */
export function waitingInput(draft: Draft, inputId: InputId): InputRow {
  const row = inputRow(draft, inputId);
  if (!row) throw new TurnkeepError('no_input', { inputId });
  if (row.status !== 'waiting') throw new TurnkeepError('input_settled', { inputId, status: row.status });
  return row;
}

/** Puts a new input at the end of the queue. */
export function enqueue(draft: Draft, inputId: InputId, mode: InputMode, words: InputWords, path: string): ChangeEvent {
  // An input is delivered as the operation of its id.
  if (inputRow(draft, inputId) ?? draft.get(KEYS.operation(inputId)))
    throw new TurnkeepError('input_exists', { inputId });
  const max = LIMITS.waitingInputs;
  if (waitingInputs(draft, max).length >= max) {
    throw new TurnkeepError('limit_exceeded', { limit: 'waitingInputs', max, actual: max + 1, path });
  }
  const { stamp } = draft;
  draft.put(KEYS.waiting(stamp.version, stamp.index), [inputId]);
  return say(draft, inputId, { mode, stamp, revision: 0 }, words, path);
}

/** Gives a waiting input other words; it keeps its place. */
export function edit(
  draft: Draft,
  inputId: InputId,
  change: InputWords & { readonly from: number; readonly mode?: InputMode | undefined },
  path: string,
): ChangeEvent {
  const { from } = change;
  const { revision, words, stamp, mode } = waitingInput(draft, inputId);
  if (revision !== from) {
    throw new TurnkeepError('input_conflict', { inputId, expectedRevision: from, actualRevision: revision });
  }
  takeWords(draft, words, 'input_edited');
  return say(draft, inputId, { mode: change.mode ?? mode, stamp, revision: from + 1 }, change, path);
}

function say(
  draft: Draft,
  inputId: InputId,
  row: Pick<InputRow, 'mode' | 'stamp' | 'revision'>,
  words: InputWords,
  path: string,
): ChangeEvent {
  const record = addWords(draft, promptBody(words), `${path}.prompt`);
  const held = { version: draft.version, index: record };
  draft.put(KEYS.input(inputId), packInput({ ...row, status: 'waiting', words: held, turnId: null }));
  return { kind: 'input.enqueue', inputId, mode: row.mode, revision: row.revision, record };
}

/** Settles a waiting input and returns its words. */
export function settle(
  draft: Draft,
  inputId: InputId,
  status: 'delivered' | 'withdrawn',
  turnId: TurnId | null,
): JsonObject {
  const row = waitingInput(draft, inputId);
  const body = draft.body({ owner: draft.conversationId, ...row.words });
  assert(body, 'an input that waits has its words');
  takeWords(draft, row.words, `input_${status}`);
  draft.put(KEYS.input(inputId), packInput({ ...row, status, turnId }));
  draft.remove(KEYS.waiting(row.stamp.version, row.stamp.index));
  return body;
}

function takeWords(draft: Draft, words: InputRow['words'], reason: string): void {
  draft.redact({ owner: draft.conversationId, ...words }, { reason, at: draft.envelope.now, role: 'user' });
}
