/**
 * A number from 0 to 2^52 - 1 that tells values apart: two different ones have the same once in 2^52. It shows what was
 * lost or changed by accident; against somebody who means to deceive stands the chain of the log, which is SHA-256.
 */
export type Checksum = number;

const RANGE = 2 ** 52;
const LOW = 2 ** 32;

/** The checksum of JSON values, one after the other. The order of an object's members does not matter; `undefined` ones are left out. */
export function checksum(...values: readonly unknown[]): Checksum {
  const state = new State();
  for (const value of values) state.value(value);
  return state.end();
}

/** Sums of checksums; the order of adding and subtracting does not matter. */
export function plus(sum: Checksum, other: Checksum): Checksum {
  const both = sum + other;
  return both < RANGE ? both : both - RANGE;
}

export function minus(sum: Checksum, other: Checksum): Checksum {
  return sum < other ? sum - other + RANGE : sum - other;
}

/** What stands before a value, so that `['1']`, `[1]` and `['[1]']` differ. */
const TAGS = { null: 1, true: 2, false: 3, number: 4, text: 5, list: 6, object: 7 } as const;

class State {
  #low = 0x2545f491;
  #high = 0x4f6cdd1d;

  value(value: unknown): void {
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (value === null || value === undefined) this.#mix(TAGS.null);
    else if (typeof value === 'boolean') this.#mix(value ? TAGS.true : TAGS.false);
    else if (Array.isArray(value)) this.#list(value);
    else this.#object(value as Readonly<Record<string, unknown>>);
  }

  end(): Checksum {
    return (finished(this.#high) & 0xfffff) * LOW + finished(this.#low);
  }

  #mix(unit: number): void {
    const low = Math.imul(this.#low ^ unit, LOW_FACTOR);
    const high = Math.imul(this.#high ^ unit, HIGH_FACTOR);
    // Turned, so that the upper bits meet the next unit as well.
    this.#low = (low << 13) | (low >>> 19);
    this.#high = (high << 17) | (high >>> 15);
  }

  /** As {@link #mix} of each unit, with the state in local variables: most of the time is spent here. */
  #text(text: string): void {
    this.#mix(TAGS.text);
    this.#mix(text.length);
    let low = this.#low;
    let high = this.#high;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      low = Math.imul(low ^ unit, LOW_FACTOR);
      high = Math.imul(high ^ unit, HIGH_FACTOR);
      low = (low << 13) | (low >>> 19);
      high = (high << 17) | (high >>> 15);
    }
    this.#low = low;
    this.#high = high;
  }

  /** Whole ones by their two halves, as rows and heads have them; any other by its text. */
  #number(number: number): void {
    if (!Number.isSafeInteger(number) || number < 0) return this.#text(String(number));
    this.#mix(TAGS.number);
    this.#mix(number | 0);
    this.#mix(Math.floor(number / LOW));
  }

  #list(items: readonly unknown[]): void {
    this.#mix(TAGS.list);
    this.#mix(items.length);
    for (const item of items) this.value(item);
  }

  /** The sum over its members, so that their order does not matter and nothing has to be sorted. */
  #object(object: Readonly<Record<string, unknown>>): void {
    let sum = 0;
    for (const key of Object.keys(object)) {
      if (object[key] !== undefined) sum = plus(sum, checksum(key, object[key]));
    }
    this.#mix(TAGS.object);
    this.#number(sum);
  }
}

const LOW_FACTOR = 0x9e3779b1;
const HIGH_FACTOR = 0x85ebca6b;

/** Spreads every bit of the state over about half of the result's bits; otherwise sums would not show it. */
function finished(state: number): number {
  let bits = state ^ (state >>> 16);
  bits = Math.imul(bits, 0x7feb352d);
  bits ^= bits >>> 15;
  bits = Math.imul(bits, 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
