import { abortedBy } from '../../core/abort.ts';
import type { CoolOptions } from '../../core/backend.ts';
import { coolBound } from '../../core/cool.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import { fieldOf } from '../../core/event.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { othersTurn, pause } from '../../platform/timers.ts';
import { coolMemory, noteArchive, rememberCool, strangersIn, touchedSince } from './cool-memory.ts';
import { archiveSegment } from '../log/archive-writer.ts';
import type { Stretch } from '../log/archive-writer.ts';
import type { CommitQueue } from '../commit-queue.ts';
import { INDEX } from '../index/index-keys.ts';
import type { LogWriter } from '../log/log-writer.ts';
import { NamespaceRows } from '../namespace-rows.ts';
import { unpackPlace } from '../log/place.ts';
import type { Place } from '../log/place.ts';
import { openSegment } from '../log/segment-files.ts';
import type { StoreParts } from '../store-parts.ts';
import type { Upkeep } from './upkeep.ts';
import { walkSegment } from '../log/walk.ts';

const HEADS = 256;
/** Commits whose places are looked up between two turns of others. */
const LOOK_COMMITS = 1_024;
/** Messages of a conversation between two looks at how many of its lines may cool. */
const LOOK_MESSAGES = 64;
/** A segment is archived by itself when so much of what it holds uncompressed may cool. */
const WORTH_SHARE = 0.5;
/** Of its time, the share that upkeep takes: commits need the machine. */
const BUSY_SHARE = 0.1;
const REST_STEP_MS = 20;

/** What the cooler works with beside the parts. */
export interface CoolerAccess {
  readonly log: LogWriter;
  readonly queue: CommitQueue;
  readonly upkeep: Upkeep;
  readonly hotMessages: number;
}

interface Long {
  readonly namespace: NamespaceId;
  readonly conversation: ConversationId;
}

/**
 * Moves lines of commits that may cool into archives: a segment as a whole is replaced by one, in which those lines are
 * compressed and the others stand as they were. Every byte keeps its place, so the index does not change.
 */
export class Cooler {
  readonly #parts: StoreParts;
  readonly #access: CoolerAccess;
  readonly #due = new Map<string, Long>();
  /** By conversation the version up to which its lines are counted, and by segment the bytes of those counted. */
  readonly #counted = new Map<string, number>();
  readonly #coolBytes = new Map<number, number>();
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(parts: StoreParts, access: CoolerAccess) {
    this.#parts = parts;
    this.#access = access;
  }

  /** Cools all that may cool of a namespace, by hand; answers how many commits moved. */
  async cool(namespace: NamespaceId, options: CoolOptions): Promise<number> {
    const { hotMessages = this.#access.hotMessages, signal, onProgress } = options;
    const { n } = this.#access.log.end;
    const before = strangersIn(this.#parts);
    const known = coolMemory(this.#parts, namespace, hotMessages, before);
    const bounds = new Bounds(this.#parts, hotMessages);
    const due = new Map<number, number>();
    for (const conversation of known
      ? await touchedSince(this.#parts, namespace, known.n)
      : this.#conversations(namespace, hotMessages)) {
      assertWanted(signal);
      await this.#addHot({ namespace, conversation }, bounds, due);
    }
    let moved = 0;
    for (const segment of [...due.keys()].sort((left, right) => left - right)) {
      assertWanted(signal);
      moved += await this.#archive(segment, (one) => (one.namespace === namespace ? bounds.of(one) : 0));
      onProgress?.(moved);
    }
    const all = [...due.values()].reduce((sum, count) => sum + count, 0);
    const after = strangersIn(this.#parts);
    // What was damaged, or put there meanwhile, is looked at again.
    const isDone = moved >= all && !bounds.isHindered && after.every((stranger) => before.includes(stranger));
    if (isDone && rememberCool(this.#parts, namespace, { hotMessages, n, strangers: after }))
      await this.#access.queue.alone(() => this.#parts.folds.fold());
    this.#parts.folds.maintain();
    return moved;
  }

  /** A commit became durable: it may have made its conversation due. */
  wrote(namespace: NamespaceId, { conversationId, events, replayed }: Receipt): void {
    if (replayed || this.#isClosing) return;
    const sequences = events.flatMap((event) => fieldOf(event, 'sequence') ?? []);
    const newest = Math.max(0, ...sequences);
    if (newest <= this.#access.hotMessages || newest % LOOK_MESSAGES >= sequences.length) return;
    this.#due.set(keyOf({ namespace, conversation: conversationId }), { namespace, conversation: conversationId });
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Finishes the segment at work. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
    await this.#access.upkeep.idle();
  }

  async #work(): Promise<void> {
    while (this.#due.size > 0 && !this.#isClosing) {
      const start = monotonicNow();
      const due = [...this.#due.values()];
      this.#due.clear();
      try {
        await this.#coolWhatIsWorthIt(due);
      } catch {
        // Whatever stood in the way is tried again after some more messages.
        this.#counted.clear();
        this.#coolBytes.clear();
      }
      const took = monotonicNow() - start;
      await this.#rest(took / BUSY_SHARE - took);
    }
  }

  async #coolWhatIsWorthIt(due: readonly Long[]): Promise<void> {
    const bounds = new Bounds(this.#parts, this.#access.hotMessages);
    for (const one of due) {
      this.#count(one, bounds);
      await othersTurn();
    }
    for (const [segment, bytes] of this.#coolBytes) {
      if (segment >= this.#access.log.end.segment || this.#isClosing) continue;
      if (bytes < WORTH_SHARE * this.#rawBytes(segment)) continue;
      await this.#archive(segment, (one) => bounds.of(one));
      this.#coolBytes.delete(segment);
    }
  }

  #count(one: Long, bounds: Bounds): void {
    const counted = this.#counted.get(keyOf(one)) ?? 0;
    for (const { segment, length } of this.#hotPlaces(one, bounds, counted))
      this.#coolBytes.set(segment, (this.#coolBytes.get(segment) ?? 0) + length + 1);
    this.#counted.set(keyOf(one), bounds.of(one));
  }

  #rawBytes(segment: number): number {
    const file = this.#parts.segments.file(segment);
    const cool = file?.coolStretches().reduce((sum, [from, to]) => sum + to - from, 0) ?? 0;
    return (file?.sizeBytes() ?? 0) - cool;
  }

  *#conversations(namespace: NamespaceId, hotMessages: number): Generator<ConversationId> {
    let after: { readonly at: number; readonly conversationId: ConversationId } | undefined;
    for (;;) {
      const heads = this.#parts.index.heads(namespace, { order: 'created', limit: HEADS, after });
      for (const head of heads) {
        after = { at: head.createdAt, conversationId: head.conversationId };
        if (head.messages > hotMessages) yield head.conversationId;
      }
      if (heads.length < HEADS) return;
    }
  }

  /** Counts, by segment, the commits that may cool and have not, those included that somebody has put back among cool ones. */
  async #addHot(one: Long, bounds: Bounds, due: Map<number, number>): Promise<void> {
    for (let version = bounds.of(one); version > 0; version--) {
      const place = this.#placeOf(one, version);
      if (place && this.#parts.segments.tier(place) === 'hot')
        due.set(place.segment, (due.get(place.segment) ?? 0) + 1);
      if (version % LOOK_COMMITS === 1) await othersTurn();
    }
  }

  #placeOf({ namespace, conversation }: Long, version: number): Place | undefined {
    const row = this.#parts.index.get(namespace, conversation, INDEX.place(version));
    return row && unpackPlace(row);
  }

  /** The places of commits that may cool and have not, newest first, down to a version. What is cool is a prefix. */
  *#hotPlaces(one: Long, bounds: Bounds, above: number): Generator<Place> {
    for (let version = bounds.of(one); version > above; version--) {
      const place = this.#placeOf(one, version);
      if (!place) continue;
      if (this.#parts.segments.tier(place) === 'cool') return;
      yield place;
    }
  }

  /** Archives a segment; answers how many commits moved. Nothing is written where none does. */
  #archive(segment: number, boundOf: (one: Long) => number): Promise<number> {
    const { log, queue, upkeep } = this.#access;
    const { folds, index, segments } = this.#parts;
    return upkeep.run(async () => {
      if (segment === log.end.segment) await queue.alone(() => log.roll());
      const source = openSegment(this.#parts, segment);
      if (!source) return 0;
      try {
        const { cool, moved } = await this.#coolLines(segment, boundOf);
        if (moved === 0) return 0;
        // The index must not need the end of a segment that nothing can be added to.
        await queue.alone(async () => {
          if (index.unbuilt) throw index.unbuilt;
          if (folds.position.segment <= segment) await folds.fold();
        });
        await archiveSegment(this.#parts, segment, source, cool, source.flawedBlocks());
        noteArchive(this.#parts, segment);
        segments.forget();
        await folds.noteRewrite();
        return moved;
      } finally {
        source.close();
      }
    });
  }

  async #coolLines(segment: number, boundOf: (one: Long) => number) {
    const source = openSegment(this.#parts, segment);
    const cool: Stretch[] = [];
    let moved = 0;
    if (!source) return { cool, moved };
    try {
      for (const found of walkSegment(source, this.#parts.store, { segment, from: 0 })) {
        for (const one of found) {
          if (one.kind !== 'line') continue;
          const isCool = source.tierAt(one.byte) === 'cool';
          const { ns, conversation, version } = one.meta;
          const mayCool =
            one.flaw === undefined &&
            conversation !== undefined &&
            version !== undefined &&
            version <= boundOf({ namespace: ns, conversation });
          if (isCool || mayCool) cool.push([one.byte, one.next]);
          if (!isCool && mayCool) moved += 1;
        }
        await othersTurn();
      }
      return { cool, moved };
    } finally {
      source.close();
    }
  }

  /** Waits, but not when the store is being closed. */
  async #rest(durationMs: number): Promise<void> {
    for (let left = durationMs; left > 0 && !this.#isClosing; left -= REST_STEP_MS)
      await pause(Math.min(left, REST_STEP_MS));
  }
}

/** Up to which version each conversation may cool, looked up once. */
class Bounds {
  readonly #parts: StoreParts;
  readonly #hotMessages: number;
  readonly #known = new Map<string, number>();
  /** True once the bound of a conversation could not be found for damage. */
  isHindered = false;

  constructor(parts: StoreParts, hotMessages: number) {
    this.#parts = parts;
    this.#hotMessages = hotMessages;
  }

  of(one: Long): number {
    const known = this.#known.get(keyOf(one));
    if (known !== undefined) return known;
    const bound = this.#look(one);
    this.#known.set(keyOf(one), bound);
    return bound;
  }

  /** What is damaged stays where it is, for verify to tell. */
  #look({ namespace, conversation }: Long): number {
    const rows = new NamespaceRows(this.#parts, namespace);
    const log = (owner: ConversationId, version: number) => {
      const found = rows.log(owner, version);
      if (!found || found.header === null) this.isHindered = true;
      return found;
    };
    try {
      return coolBound({ head: (id) => rows.head(id), log }, conversation, this.#hotMessages);
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      this.isHindered = true;
      return 0;
    }
  }
}

function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

function keyOf({ namespace, conversation }: Long): string {
  return `${namespace} ${conversation}`;
}
