import type { Change, Expect } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { CommitId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { othersTurn } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import type { Hold } from './hold.ts';
import { persist } from './persist.ts';

/** The phase of the checkpoint: `ready → in_flight → ready` while steps are being done, then the final one, with the outcome. */
export type Phase = 'ready' | 'in_flight' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** What a commit has besides its changes. */
export interface Effect {
  /** A step that is about to be done. */
  readonly starts?: string | undefined;
  /** A step that was done. */
  readonly ends?: string | undefined;
  /** The checkpoint's last phase. */
  readonly phase?: Phase | undefined;
  readonly expect?: Expect | undefined;
}

/**
 * The commits of the attempt that holds a turn: one after the other, under its fence, each from the checkpoint's revision
 * that the one before it left.
 */
export class TurnWriter {
  readonly hold: Hold;
  readonly #access: ConversationAccess;
  #revision: number;
  #inFlight: ReadonlySet<string> = new Set();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(access: ConversationAccess, hold: Hold) {
    this.#access = access;
    this.hold = hold;
    this.#revision = hold.revision;
  }

  /** Waits for what is being written, and for whoever waits for that. */
  async idle(): Promise<void> {
    await this.#last;
    await othersTurn();
  }

  /** Nothing is written any more. */
  close(): void {
    this.#closed = true;
  }

  write(make: (commitId: CommitId) => readonly Change[], effect: Effect = {}): Promise<Receipt> {
    const next = this.#last.then(() => this.#send(make, effect));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #send(make: (commitId: CommitId) => readonly Change[], effect: Effect): Promise<Receipt> {
    if (this.#closed) throw new TurnkeepError('closed', { what: `the run at turn ${this.hold.turnId}` });
    const inFlight = new Set(this.#inFlight);
    if (effect.starts !== undefined) inFlight.add(effect.starts);
    if (effect.ends !== undefined) inFlight.delete(effect.ends);
    const phase = effect.phase ?? phaseBetween(this.#inFlight.size, inFlight.size);
    const options = { fence: this.hold.fence, expect: effect.expect };
    const receipt = await persist(
      this.#access,
      (commitId) => [...make(commitId), ...this.#checkpoint(phase, inFlight)],
      options,
    );
    this.#inFlight = inFlight;
    if (phase) this.#revision += 1;
    return receipt;
  }

  #checkpoint(phase: Phase | undefined, inFlight: ReadonlySet<string>): readonly Change[] {
    if (!phase) return [];
    const { turnId, checkpointId } = this.hold;
    const payload = { turn: { json: { turnId, inFlight: [...inFlight] } } };
    return [{ kind: 'checkpoint.advance', checkpointId, from: this.#revision, phase, payload }];
  }
}

function phaseBetween(before: number, after: number): Phase | undefined {
  if ((before === 0) === (after === 0)) return undefined;
  return after === 0 ? 'ready' : 'in_flight';
}
