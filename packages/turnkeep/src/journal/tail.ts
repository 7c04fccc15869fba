import type { DurableMark } from './durable-mark.ts';
import { isBefore } from './position.ts';
import type { Position } from './position.ts';
import type { Found, FoundGap, FoundLine } from './walk.ts';

/** Damage of what was acknowledged. */
export interface Damage extends FoundGap {
  /** True where lines are missing at this place; false where something stands between lines that are all there. */
  readonly lost: boolean;
}

/** The place from which on the log holds what no sync reached: the last group, which nobody was told of. */
export type Unfinished = Pick<Position, 'segment' | 'byte'>;

/**
 * Tells apart what a crash may leave and what is damage. A group of lines is written and synced before the next one
 * begins: so bytes that are no line are damage where a line of a later group follows them, or where the mark says that
 * the log was durable beyond. What else is broken at the end belongs to a group that was never acknowledged.
 */
export class Tail {
  readonly damages: Damage[] = [];
  #lastN: number;
  #held: Found[] = [];
  readonly #adopt: (line: FoundLine) => void;

  /** `adopt` is called with each line that counts, in order. */
  constructor(lastN: number, adopt: (line: FoundLine) => void) {
    this.#lastN = lastN;
    this.#adopt = adopt;
  }

  /** The number of the last line that counts. */
  get lastN(): number {
    return this.#lastN;
  }

  push(found: Found): void {
    if (found.kind === 'gap') {
      this.#held.push(found);
      return;
    }
    const { n, group } = found.meta;
    if (n <= this.#lastN) return; // a duplicate
    const broken = this.#lastN + 1;
    if (n > broken && this.#held.length === 0) this.#held.push(missing(found, broken, n - 1));
    if (n === broken || group > broken) {
      this.#release(n > broken);
      this.#take(found);
    } else {
      this.#held.push(found);
    }
  }

  /** The end of the log is reached. Answers where an unfinished group begins, if there is one. */
  finish(mark: DurableMark | undefined): Unfinished | undefined {
    const [first, second] = this.#held;
    if (!first) return undefined;
    const isTorn = first.kind === 'gap' && !first.ended && second === undefined;
    const wasDurable = mark ? isBefore(first, mark) : !isTorn;
    if (!wasDurable) return { segment: first.segment, byte: first.byte };
    this.#release(!mark || mark.n > this.#lastN);
    return undefined;
  }

  #release(lost: boolean): void {
    const held = this.#held;
    this.#held = [];
    for (const found of held) {
      if (found.kind === 'gap') this.damages.push({ ...found, lost });
      else if (found.meta.n > this.#lastN) this.#take(found);
    }
  }

  #take(line: FoundLine): void {
    this.#lastN = line.meta.n;
    this.#adopt(line);
  }
}

function missing(before: FoundLine, from: number, to: number): FoundGap {
  const { segment, byte } = before;
  const reason = from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
  return { kind: 'gap', segment, byte, length: 0, reason, ended: true, names: [] };
}
