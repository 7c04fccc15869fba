import type { Scratch, ScratchPlace } from '../../core/backend.ts';
import type { AttemptId } from '../../core/ids.ts';
import { realProcesses } from '../../platform/processes.ts';
import type { Owner } from '../../platform/processes.ts';
import { repeat } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';

const BEATS_PER_TTL = 3;

/** What an attempt shows of itself beside the log. */
export interface Beat {
  readonly count: number;
  readonly owner: Owner;
  /** True if the owner let go of the turn without ending it. */
  readonly released?: boolean | undefined;
}

function placeOf(access: ConversationAccess, attempt: AttemptId): ScratchPlace {
  const { namespace, conversationId } = access;
  return { namespace, conversationId, key: `beat ${attempt}` };
}

/** The attempt whose beat lies under a key; `undefined` for other keys. */
export function attemptOfBeat(key: string): AttemptId | undefined {
  return /^beat (.+)$/su.exec(key)?.[1];
}

/** The last beat of an attempt; `undefined` if there is none or it was lost. */
export async function readBeat(access: ConversationAccess, attempt: AttemptId): Promise<Beat | undefined> {
  const text = await access.access.backend.scratch.get(placeOf(access, attempt));
  return text === undefined ? undefined : (JSON.parse(text) as Beat);
}

export async function removeBeat(access: ConversationAccess, attempt: AttemptId): Promise<void> {
  await access.access.backend.scratch.remove(placeOf(access, attempt));
}

/** True if the owner certainly does nothing any more: it let go, or its process on this host has ended. */
export function isOver(beat: Beat | undefined): boolean {
  return beat !== undefined && (beat.released === true || !realProcesses.mayLive(beat.owner));
}

/** Attempts that this process works on. */
const AT_WORK = new Set<AttemptId>();

/** True if this very process works under the attempt, so that nobody needs to watch it. */
export function isAtWorkHere(attempt: AttemptId): boolean {
  return AT_WORK.has(attempt);
}

/** Shows that an attempt lives, three times in its time to live. */
export class Lease {
  readonly #scratch: Scratch;
  readonly #place: ScratchPlace;
  readonly #ttlMs: number;
  readonly #attempt: AttemptId;
  readonly #owner: Owner = realProcesses.self();
  #count = 0;
  #isOver = false;
  #stop: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(access: ConversationAccess, attempt: AttemptId, ttlMs: number) {
    this.#scratch = access.access.backend.scratch;
    this.#attempt = attempt;
    this.#place = placeOf(access, attempt);
    this.#ttlMs = ttlMs;
  }

  /** The first beat; it comes before the attempt holds the turn, so that nobody ever finds a held turn without one. */
  async begin(): Promise<void> {
    await this.#put({ count: (this.#count += 1), owner: this.#owner });
    AT_WORK.add(this.#attempt);
    this.#stop = repeat(this.#ttlMs / BEATS_PER_TTL, () => {
      // A beat that is lost makes this owner look dead a little earlier; its token protects what it holds.
      this.#last = this.#put({ count: (this.#count += 1), owner: this.#owner }).catch(() => undefined);
    });
  }

  /** Removes the beat: the turn has ended, or belongs to another. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#silence();
    await this.#scratch.remove(this.#place);
  }

  /** Lets go of a turn that has not ended, so that the next owner need not wait. Does nothing after `end`. */
  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#silence();
    await this.#put({ count: this.#count, owner: this.#owner, released: true });
  }

  async #silence(): Promise<void> {
    AT_WORK.delete(this.#attempt);
    this.#stop?.();
    await this.#last;
  }

  #put(beat: Beat): Promise<void> {
    return this.#scratch.put(this.#place, JSON.stringify(beat));
  }
}
