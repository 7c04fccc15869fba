import type { Contender } from './contenders/contender.ts';

export type Unit = 'ms' | 'turns/s' | 'lines/s' | 'messages/s' | 'bytes' | 'MiB' | 'syncs' | 'times';

/** Samples of one thing by one of those who do it. Figures of the same thing stand together, the first one is 1. */
export interface Figure {
  readonly what: string;
  readonly who: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
}

/** What a ratio may be; one without a figure of its own is only compared with what it was (`guard.ts`). */
export type Limit =
  | { readonly atMost: number }
  | { readonly atLeast: number }
  | { readonly better: 'lower' | 'higher' };

/** A promise about a ratio, whose two sides were measured in the same run. */
export interface Bar {
  /** Its name among all bars: `sqlite-alone`. */
  readonly name: string;
  readonly says: string;
  readonly ratio: number;
  readonly limit: Limit;
}

/** Lines over two logarithmic axes. */
export interface Plot {
  /** The file's name, without its extension. */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly { readonly who: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

/** What a workload is given, and where it says what it found. */
export interface Context {
  /** The first in a full run, the second in a quick one. */
  pick<Value>(full: Value, quick: Value): Value;
  /** Those of the names that can run here; what is missing is noted. */
  contenders(names: readonly string[]): Promise<readonly Contender[]>;
  /** A new folder that goes with the workload. */
  folder(): string;
  /** What several workloads use: made at the first call of a run, in a folder that goes with the run. */
  shared<Made>(name: string, make: (folder: string) => Promise<Made>): Promise<Made>;
  figure(figure: Figure): void;
  bar(bar: Bar): void;
  plot(plot: Plot): void;
  /** What a reader of the figures must know: what differs, what is missing. */
  note(text: string): void;
}

/** One thing that is measured: a file of `workloads/` each. */
export interface Workload {
  readonly name: string;
  readonly measures: string;
  /** A quick run leaves it out unless it is named: what is small says little of it. */
  readonly onlyWhole?: true;
  run(context: Context): Promise<void>;
}
