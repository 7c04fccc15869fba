import { median } from './figures.ts';

/** Samples of several who did something, at several sizes of it: turns of history, committers at once. */
export class Samples {
  readonly #all = new Map<string, Map<number, number[]>>();

  /** Who has samples, in the order of their first. */
  get names(): readonly string[] {
    return [...this.#all.keys()];
  }

  add(who: string, size: number, value: number): void {
    const own = this.#all.get(who) ?? new Map<number, number[]>();
    this.#all.set(who, own);
    own.set(size, [...(own.get(size) ?? []), value]);
  }

  /** In the order they were added; none where nothing was. */
  of(who: string, size: number): readonly number[] {
    return this.#all.get(who)?.get(size) ?? [];
  }

  /** The medians over the sizes, for a plot. */
  lines(): readonly { readonly who: string; readonly points: readonly (readonly [size: number, median: number])[] }[] {
    return [...this.#all].map(([who, own]) => ({
      who,
      points: [...own].map(([size, values]) => [size, median(values)] as const),
    }));
  }
}
