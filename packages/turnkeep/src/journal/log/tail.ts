import type { DurableMark } from './durable-mark.ts';
import { isBefore } from './position.ts';
import type { Position } from './position.ts';
import type { Found, FoundGap, FoundLine } from './walk.ts';

/** Damage of what was acknowledged. */
export interface Damage {
  readonly segment: number;
  readonly byte: number;
  readonly length: number;
  readonly reason: string;
  /** True where it is a line of which only the words are damaged. */
  readonly isLine: boolean;
  /** Set where lines are missing; absent where something stands between lines that are all there. */
  readonly lost?: LostLines | undefined;
}

/** Acknowledged lines that say nothing any more. */
export interface LostLines {
  /** Their numbers. */
  readonly from: number;
  readonly to: number;
  /** The conversations that they touched; empty where nobody can tell, and it may be any. */
  readonly names: readonly string[];
}

/** The place from which on the log holds what no sync reached: the last group, which nobody was told of. */
export type Unfinished = Pick<Position, 'segment' | 'byte'>;

/**
 * Tells apart what a crash may leave and what is damage. A group of lines is written and synced before the next one
 * begins: so bytes that are no line are damage where a line of a later group follows them, or where the mark says that
 * the log was durable beyond. What else is broken at the end belongs to a group that was never acknowledged. A line with
 * damaged words counts all the same, once it is known to be damage: what it says apart from them is whole.
 */
export class Tail {
  readonly damages: Damage[] = [];
  /** The end of the last line that counts. */
  #end: Position;
  /** The highest number of a line that counts or is known to be lost. */
  #accounted: number;
  #held: Found[] = [];
  readonly #adopt: (line: FoundLine) => void;

  /** `adopt` is called with each line after `from` that counts, in order. */
  constructor(from: Position, adopt: (line: FoundLine) => void) {
    this.#end = from;
    this.#accounted = from.n;
    this.#adopt = adopt;
  }

  push(found: Found): void {
    if (found.kind === 'gap') {
      this.#held.push(found);
      return;
    }
    const { flaw, meta } = found;
    const broken = this.#accounted + 1;
    if (meta.group > broken || (meta.n === broken && !flaw)) this.#release(meta.n - 1, found);
    if (meta.n <= this.#accounted) this.#holdRepeated(found);
    else if (meta.n === this.#accounted + 1 && !flaw) this.#take(found);
    else this.#held.push(found);
  }

  /** It changes nothing, whatever it says; but nobody writes a line twice, or behind later ones. */
  #holdRepeated(found: FoundLine): void {
    const repeated = { reason: `line ${found.meta.n} was passed already`, ended: true };
    this.#held.push({ ...found, kind: 'gap', flaw: found.flaw ?? repeated, names: [] });
  }

  /** The end of the log is reached. Answers where an unfinished group begins, if there is one. */
  finish(mark: DurableMark | undefined): Unfinished | undefined {
    const [first] = this.#held;
    const isTorn = this.#held.length === 1 && first?.flaw?.ended === false;
    const wasDurable = first && mark ? isBefore(first, mark) : !isTorn;
    if (first && wasDurable) this.#release(this.#lastDurable(mark), first);
    if (mark && mark.n > this.#accounted) this.#release(mark.n, this.#end);
    return first && !wasDurable ? { segment: first.segment, byte: first.byte } : undefined;
  }

  /** The number of the last line that was durable; without a mark each gap is taken for a line. */
  #lastDurable(mark: DurableMark | undefined): number {
    const numbers = numbersOf(this.#held);
    const known = Math.max(this.#accounted, mark?.n ?? 0, ...numbers);
    return mark ? known : known + this.#held.length - numbers.length;
  }

  /** What is held was acknowledged, and so were all lines up to number `known`. */
  #release(known: number, at: Pick<Position, 'segment' | 'byte'>): void {
    const held = this.#held;
    this.#held = [];
    const to = Math.max(known, ...numbersOf(held));
    const lost = this.#lostAmong(held, to);
    if (lost && !held.some(({ kind }) => kind === 'gap')) this.damages.push(missing(at, lost));
    for (const found of held) {
      const { segment, byte, length, flaw } = found;
      const isLine = found.kind === 'line';
      if (flaw)
        this.damages.push({ segment, byte, length, reason: flaw.reason, isLine, lost: isLine ? undefined : lost });
      if (found.kind === 'line' && found.meta.n > this.#accounted) this.#take(found);
    }
    this.#accounted = Math.max(this.#accounted, to);
  }

  /** Which lines up to number `to` are neither held nor were taken. */
  #lostAmong(held: readonly Found[], to: number): LostLines | undefined {
    const there = new Set(numbersOf(held));
    let [from, last, count] = [0, 0, 0];
    for (let n = this.#accounted + 1; n <= to; n++) {
      if (there.has(n)) continue;
      from ||= n;
      last = n;
      count += 1;
    }
    const gaps = held.filter((one) => one.kind === 'gap');
    return count === 0 ? undefined : { from, to: last, names: certainNames(gaps, count) };
  }

  #take(line: FoundLine): void {
    const { segment, next, meta } = line;
    this.#accounted = meta.n;
    this.#end = { segment, byte: next, n: meta.n };
    this.#adopt(line);
  }
}

function numbersOf(held: readonly Found[]): readonly number[] {
  return held.flatMap((one) => (one.kind === 'line' ? one.meta.n : []));
}

/**
 * The conversations that lost lines touched: certain where each line left a gap that names some. One line may leave two
 * gaps, where a byte of it has become a line feed.
 */
function certainNames(gaps: readonly FoundGap[], lines: number): readonly string[] {
  const isOneLine = lines === 1 && gaps.length === 2 && gaps[0]?.names.length !== 0;
  const isNamed = gaps.length >= lines && gaps.every(({ names }) => names.length > 0);
  return isOneLine || isNamed ? [...new Set(gaps.flatMap(({ names }) => names))] : [];
}

function missing({ segment, byte }: Pick<Position, 'segment' | 'byte'>, lost: LostLines): Damage {
  const { from, to } = lost;
  const reason = from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
  return { segment, byte, length: 0, reason, isLine: false, lost };
}
