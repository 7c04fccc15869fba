/** A stream of numbers that follows from its seed alone. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    for (let at = 0; at < 4; at++) this.next();
  }

  /** From 0 up to but not including 2^32. */
  next(): number {
    // Marsaglia's xorshift over a counter, mixed: short, and good enough to choose test cases with.
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    return (bits ^ (bits >>> 16)) >>> 0;
  }

  /** From 0 up to but not including `end`. */
  below(end: number): number {
    return this.next() % end;
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(Math.max(1, items.length))];
  }

  /** One of several, each as often as its weight says. */
  weighted<Item>(items: readonly (readonly [number, Item])[]): Item | undefined {
    let at = this.below(items.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, item] of items) if ((at -= weight) < 0) return item;
    return undefined;
  }
}
