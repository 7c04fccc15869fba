import type { Scratch, ScratchPlace } from '../../core/backend.ts';
import type { TurnId } from '../../core/ids.ts';
import { parseJson } from '../../core/parse-json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Part } from '../../core/message.ts';
import { assertShape, part } from '../../core/shapes.ts';
import { after } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import type { Drafted } from './unfinished.ts';
import { assertFits, list } from '../given.ts';

/** The first words are written at once; everything within this time after a write is written together. */
const PAUSE_MS = 200;

/** What was drafted between two flushes. */
export interface Delta {
  readonly seq: number;
  readonly parts: readonly Part[];
}

/** The unfinished output of a turn, as it lies beside the log. */
export interface Draft {
  /** The token of the attempt that writes it: another attempt begins anew. */
  readonly epoch: number;
  /** The number of the last delta. */
  readonly seq: number;
  /** Deltas up to this one are in messages by now, or were given up. */
  readonly committed: number;
  readonly deltas: readonly Delta[];
  /** True if the limit was reached: anything beyond it is only in the message. */
  readonly truncated: boolean;
}

/** Each attempt drafts in a place of its own, so that one that lost its turn without knowing it overwrites nobody's words. */
export function draftPlace(
  { namespace, conversationId }: ConversationAccess,
  turnId: TurnId,
  token: number,
): ScratchPlace {
  return { namespace, conversationId, key: `draft ${token} ${turnId}` };
}

/** The turn whose draft lies under a key; `undefined` for other keys. */
export function turnOfDraft(key: string): TurnId | undefined {
  return /^draft \d+ (.+)$/su.exec(key)?.[1];
}

export async function readDraft(access: ConversationAccess, turnId: TurnId, token: number): Promise<Draft | undefined> {
  const text = await access.access.backend.scratch.get(draftPlace(access, turnId, token));
  return text === undefined ? undefined : (JSON.parse(text) as Draft);
}

export async function removeDraft(access: ConversationAccess, turnId: TurnId, token: number): Promise<void> {
  await access.access.backend.scratch.remove(draftPlace(access, turnId, token));
}

/** Passes one attempt's draft on to the next, which has taken the turn: it stays until that one drafts or ends the turn. */
export async function inheritDraft(
  access: ConversationAccess,
  turnId: TurnId,
  from: number,
  to: number,
): Promise<void> {
  const { scratch } = access.access.backend;
  const text = await scratch.get(draftPlace(access, turnId, from));
  if (text === undefined) return;
  await scratch.put(draftPlace(access, turnId, to), text);
  await removeDraft(access, turnId, from);
}

/** The parts of a draft that no message has yet. */
export function partsOf(draft: Draft | undefined): readonly Part[] {
  return joinParts((draft?.deltas ?? []).flatMap((delta) => delta.parts));
}

/** The parts with neighbouring texts joined, and neighbouring reasoning likewise. */
export function joinParts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const next of parts) {
    const last = joined.at(-1);
    if (last && isPlain(last) && isPlain(next) && last.type === next.type) {
      joined[joined.length - 1] = { ...last, text: last.text + next.text };
    } else joined.push(next);
  }
  return joined;
}

/** Text or reasoning with nothing besides the words. */
function isPlain(one: Part): one is Extract<Part, { readonly type: 'text' | 'reasoning' }> {
  return (one.type === 'text' || one.type === 'reasoning') && Object.keys(one).length === 2;
}

/**
 * Keeps the draft of a turn beside the log: collected for a moment, then replaced whole. Deltas past `LIMITS.draftBytes`
 * are left out, and the draft says so.
 */
export class DraftWriter {
  readonly #scratch: Scratch;
  readonly #place: ScratchPlace;
  readonly #epoch: number;
  #seq = 0;
  #committed = 0;
  #deltas: Delta[] = [];
  #bytes = 0;
  #truncated = false;
  #isSilent = false;
  #waiting: Part[] = [];
  #whole: Part[] = [];
  #wholeLength = 0;
  /** Ends the pause after a write. */
  #cancelPause: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(access: ConversationAccess, turnId: TurnId, epoch: number) {
    this.#scratch = access.access.backend.scratch;
    this.#place = draftPlace(access, turnId, epoch);
    this.#epoch = epoch;
  }

  /** What no message has yet: all of it, up to the size of a message. */
  get drafted(): Drafted {
    const isLarge = this.#wholeLength > LIMITS.recordBytes / 4;
    const parts = isLarge ? this.#deltas.flatMap((delta) => delta.parts) : this.#whole;
    return { parts: joinParts(parts), truncated: isLarge };
  }

  /** Adds parts; others see them at once, or after a moment if some were just written. */
  add(parts: readonly Part[]): void {
    const own = parseJson(parts, 'parts') as unknown as readonly Part[];
    assertFits(own, list, 'parts');
    for (const [at, one] of own.entries()) assertShape(part, one, `parts[${at}]`);
    this.#waiting.push(...own);
    this.#keep(own);
    if (this.#cancelPause === undefined) void this.flush();
  }

  /** The parts so far are in a message by now, or were given up. */
  drop(): void {
    this.#collect();
    this.#committed = this.#seq;
    this.#deltas = [];
    this.#bytes = 0;
    this.#truncated = false;
    this.#whole = [];
    this.#wholeLength = 0;
    if (this.#seq > 0) void this.flush();
  }

  /** Writes what waits. The turn goes on if a draft cannot be written. */
  flush(): Promise<void> {
    if (this.#isSilent) return this.#last;
    this.#pause();
    this.#collect();
    const draft: Draft = {
      epoch: this.#epoch,
      seq: this.#seq,
      committed: this.#committed,
      deltas: this.#deltas,
      truncated: this.#truncated,
    };
    const text = JSON.stringify(draft);
    this.#last = this.#last.then(() => this.#scratch.put(this.#place, text)).catch(() => undefined);
    return this.#last;
  }

  /** Writes nothing more. */
  async silence(): Promise<void> {
    this.#isSilent = true;
    this.#cancelPause?.();
    await this.#last;
  }

  /** The turn has ended: its words are in messages, or given up. */
  async remove(): Promise<void> {
    await this.silence();
    await this.#scratch.remove(this.#place);
  }

  #pause(): void {
    this.#cancelPause?.();
    this.#cancelPause = after(PAUSE_MS, () => {
      this.#cancelPause = undefined;
      if (this.#waiting.length > 0) void this.flush();
    });
  }

  #keep(parts: readonly Part[]): void {
    this.#wholeLength += JSON.stringify(parts).length;
    if (this.#wholeLength <= LIMITS.recordBytes / 4) this.#whole.push(...parts);
    else this.#whole = [];
  }

  #collect(): void {
    if (this.#waiting.length === 0) return;
    const parts = joinParts(this.#waiting);
    this.#waiting = [];
    const bytes = Buffer.byteLength(JSON.stringify(parts));
    if (this.#truncated || this.#bytes + bytes > LIMITS.draftBytes) {
      this.#truncated = true;
      return;
    }
    this.#bytes += bytes;
    this.#deltas.push({ seq: (this.#seq += 1), parts });
  }
}
