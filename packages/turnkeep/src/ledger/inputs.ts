import type { InputDeliver, InputEnqueue } from '../core/change.ts';
import { TurnkeepError, isTurnkeepError } from '../core/errors.ts';
import { assertId } from '../core/ids.ts';
import type { InputId, MessageId, OperationId, TurnId } from '../core/ids.ts';
import { readInput, readWaitingInputs } from '../core/read/inputs.ts';
import type { Input } from '../core/read/inputs.ts';
import { fieldOf } from '../core/event.ts';
import type { ChangeEvent } from '../core/event.ts';
import type { Receipt } from '../core/receipt.ts';
import type { WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { eventOf } from './receipt-event.ts';
import { assertFits, count, withFields } from './given.ts';

/** A turn that was accepted. */
export interface SubmittedTurn extends Receipt {
  readonly turnId: TurnId;
  readonly operationId: OperationId;
  readonly messageId: MessageId;
  readonly ordinal: number;
  /** The turns at work that were cancelled for it. */
  readonly interrupted?: readonly TurnId[] | undefined;
}

/** An input that waits. */
export interface QueuedInput extends Receipt {
  readonly inputId: InputId;
  /** Pass it as `from` to give the input other words. */
  readonly revision: number;
}

/** An input that became a message of a turn. */
export interface DeliveredInput extends Receipt {
  readonly inputId: InputId;
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly sequence: number;
}

/** The inputs of a conversation: what users said while a turn was at work, in order of arrival. */
export class Inputs {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /** Adds an input that waits for the next turn, or that steers the one at work. At most `LIMITS.waitingInputs` wait. */
  async enqueue(input: Omit<InputEnqueue, 'kind' | 'from'>, options?: WriteOptions): Promise<QueuedInput> {
    return queued(await this.#access.write([withFields(input, 'input', { kind: 'input.enqueue' })], options));
  }

  /** Gives a waiting input other words, from exactly the revision that was read. It keeps its place. */
  async edit(
    inputId: InputId,
    from: number,
    words: Omit<InputEnqueue, 'kind' | 'from' | 'inputId'>,
    options?: WriteOptions,
  ): Promise<QueuedInput> {
    assertFits(from, count, 'from'); // without a revision it would be a new input
    return queued(
      await this.#access.write([withFields(words, 'words', { kind: 'input.enqueue', inputId, from })], options),
    );
  }

  /** Takes back a waiting input; `input_settled` if it was delivered or withdrawn before. */
  async withdraw(inputId: InputId, options?: WriteOptions): Promise<Receipt> {
    return this.#access.write([{ kind: 'input.withdraw', inputId }], options);
  }

  /**
   * Starts the next turn with the input that has waited longest, or with the one that is named: prompt, turn (`preparing`)
   * and operation (with the input's id) in one commit. `undefined` if none waits; `busy` while a turn is at work.
   */
  async startNext(
    ids: Omit<InputDeliver, 'kind' | 'into'> = {},
    options?: WriteOptions,
  ): Promise<SubmittedTurn | undefined> {
    const receipt = await this.#deliver(withFields(ids, 'ids', { into: undefined }), options);
    return receipt && submitted(receipt, startIn(receipt));
  }

  /**
   * Puts the steering input that has waited longest, or the one that is named, into a turn that has not ended, as a message.
   * `undefined` if none waits.
   */
  async deliverInto(
    turnId: TurnId,
    ids: Pick<InputDeliver, 'inputId' | 'messageId'> = {},
    options?: WriteOptions,
  ): Promise<DeliveredInput | undefined> {
    assertId(turnId, 'turnId'); // without a turn it would start one
    const receipt = await this.#deliver(withFields(ids, 'ids', { into: turnId }), options);
    return receipt && delivered(receipt);
  }

  /** If no input was named, it is no error that nothing waits. */
  async #deliver(change: Omit<InputDeliver, 'kind'>, options?: WriteOptions): Promise<Receipt | undefined> {
    try {
      return await this.#access.write([withFields(change, 'ids', { kind: 'input.deliver' })], options);
    } catch (error) {
      if (isTurnkeepError(error, 'no_input') && error.details.inputId === null) return undefined;
      throw error;
    }
  }

  /** An input, waiting or settled; `undefined` if there is none of this id. */
  async get(inputId: InputId): Promise<Input | undefined> {
    assertId(inputId, 'inputId');
    return this.#access.view(({ tree, bodies }) => readInput(tree, bodies, inputId));
  }

  /** The waiting inputs, oldest first. */
  async waiting(): Promise<readonly Input[]> {
    return this.#access.view(({ tree, bodies }) => readWaitingInputs(tree, bodies));
  }
}

/** What became of a submit: a turn, or an input that waits. */
export function submissionOf(receipt: Receipt): SubmittedTurn | QueuedInput {
  return receipt.events.some(startsTurn) ? submitted(receipt, startIn(receipt)) : queued(receipt);
}

/** The event of a turn that started. If another call used the key before there is none, and the key is taken. */
function startIn(receipt: Receipt): TurnStart {
  const start = receipt.events.find(startsTurn);
  if (!start) throw new TurnkeepError('commit_id_reused', { commitId: receipt.commitId });
  return start;
}

function startsTurn(event: ChangeEvent): event is TurnStart {
  return event.kind === 'turn.submit' || (event.kind === 'input.deliver' && 'operationId' in event);
}

type TurnStart =
  | ChangeEvent<'turn.submit'>
  | Extract<ChangeEvent<'input.deliver'>, { readonly operationId: OperationId }>;

/** The turn that a submit started; `input_exists` if its operation waits as an input. */
export function submittedTurn(receipt: Receipt): SubmittedTurn {
  const submission = submissionOf(receipt);
  if ('turnId' in submission) return submission;
  throw new TurnkeepError('input_exists', { inputId: submission.inputId });
}

function submitted(receipt: Receipt, event: TurnStart): SubmittedTurn {
  const { turnId, operationId, messageId, ordinal } = event;
  const interrupted = fieldOf(event, 'interrupted');
  const turn = { ...receipt, turnId, operationId, messageId, ordinal };
  return interrupted === undefined ? turn : { ...turn, interrupted };
}

function delivered(receipt: Receipt): DeliveredInput {
  const { inputId, turnId, messageId, sequence } = eventOf(receipt, 'input.deliver');
  return { ...receipt, inputId, turnId, messageId, sequence };
}

function queued(receipt: Receipt): QueuedInput {
  const { inputId, revision } = eventOf(receipt, 'input.enqueue');
  return { ...receipt, inputId, revision };
}
