import type { MessageId, TurnId } from '../../core/ids.ts';
import { callsOf } from '../../core/message.ts';
import { readMessage } from '../../core/read/message.ts';
import type { Message } from '../../core/read/message.ts';
import { placedTail } from '../../core/read/tail.ts';
import type { TailMessage } from '../../core/read/tail.ts';
import type { View } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';

/** A message of a path with its place in it. */
export interface Line {
  readonly message: Message;
  readonly placed: TailMessage;
}

/** What pins a reading, so that its steps see the same path. */
export interface Pin {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
}

const FIRST_STEP = 64;
const LONGEST_STEP = 512;

/** A path's messages from its leaf backwards, read in steps, down to a message that a summary ends with. */
export class Transcript {
  readonly #access: ConversationAccess;
  readonly #pin: Pin;
  readonly #end: MessageId | undefined;
  readonly #lines: Line[] = [];
  #step = FIRST_STEP;
  #isWhole = false;

  constructor(access: ConversationAccess, pin: Pin, end: MessageId | undefined) {
    this.#access = access;
    this.#pin = pin;
    this.#end = end;
  }

  /** Oldest first. */
  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** True if only what the summary covers stands before the first line. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Reads on until `isEnough`, or to the end. A call in the turn that was reached is read with its results. */
  async readUntil(isEnough: (lines: readonly Line[]) => boolean): Promise<void> {
    while (!this.#isWhole && (!isEnough(this.#lines) || isWithinGroup(this.#lines))) await this.#readOn();
  }

  async #readOn(): Promise<void> {
    const limit = this.#step;
    const before = this.#lines[0]?.placed;
    const older = await this.#access.view((view) => linesBefore(view, this.#pin, before, limit));
    const end = older.findIndex((line) => line.message.messageId === this.#end);
    const after = end < 0 ? older : older.slice(0, end);
    this.#lines.unshift(...after.toReversed());
    this.#isWhole = end >= 0 || older.length < limit;
    this.#step = Math.min(limit * 2, LONGEST_STEP);
  }
}

/** Newest first. */
function linesBefore(view: View, pin: Pin, before: TailMessage | undefined, limit: number): readonly Line[] {
  const placed = placedTail(view.tree, { ...pin, before, limit });
  return placed.map((one) => ({ placed: one, message: readMessage(view.tree, view.bodies, one) }));
}

/** True if the oldest turn that was read answers a call that was not read yet. */
function isWithinGroup(lines: readonly Line[]): boolean {
  const [first] = lines;
  if (!first) return false;
  const open = new Set<string>();
  for (const line of turnOf(lines, first).toReversed()) {
    const { calls, answers } = callsOf(line.message.parts);
    for (const callId of answers) open.add(callId);
    for (const callId of calls) open.delete(callId);
  }
  return open.size > 0;
}

function turnOf(lines: readonly Line[], first: Line): readonly Line[] {
  const end = lines.findIndex((line) => isOtherTurn(line, first));
  return end < 0 ? lines : lines.slice(0, end);
}

export function isOtherTurn({ placed: left }: Line, { placed: right }: Line): boolean {
  return left.owner !== right.owner || left.branch !== right.branch || left.position !== right.position;
}
