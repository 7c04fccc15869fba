import type { MeasuredBar } from './findings.ts';
import { median } from './measure/figures.ts';

/** Ratios as they were, each with the factor by which it may be worse before somebody should look. */
export interface Baseline {
  readonly [bar: string]: { readonly ratio: number; readonly tolerance: number };
}

export interface Comparison {
  readonly name: string;
  readonly says: string;
  /** The median of the runs. */
  readonly ratio: number;
  readonly was: number;
  readonly tolerance: number;
  /** By what factor it is worse than it was; below 1 it is better. */
  readonly worse: number;
  readonly passes: boolean;
}

/** Compares the medians of several runs with the baseline. What the runs did not measure is infinitely worse. */
export function compare(baseline: Baseline, runs: readonly (readonly MeasuredBar[])[]): readonly Comparison[] {
  return Object.entries(baseline).map(([name, { ratio: was, tolerance }]) => {
    const bars = runs.flatMap((run) => run.filter((bar) => bar.name === name));
    const ratio = median(bars.map((bar) => bar.ratio));
    const worse = bars[0] && Number.isFinite(ratio) ? (isLowerBetter(bars[0]) ? ratio / was : was / ratio) : Infinity;
    return { name, says: bars[0]?.says ?? 'not measured', ratio, was, tolerance, worse, passes: worse <= tolerance };
  });
}

/** What was worse is worse only where a second measurement, by itself, finds it so as well. */
export function confirmed(first: readonly Comparison[], second: readonly Comparison[]): readonly Comparison[] {
  return first.map((one) => (one.passes ? one : (second.find(({ name }) => name === one.name) ?? one)));
}

/** The baseline with the ratios of these runs; tolerances stay. */
export function renewed(baseline: Baseline, runs: readonly (readonly MeasuredBar[])[]): Baseline {
  const ratios = compare(baseline, runs).map(({ name, ratio, tolerance }) => {
    return [name, { ratio: Number(ratio.toPrecision(3)), tolerance }] as const;
  });
  return Object.fromEntries(ratios);
}

function isLowerBetter({ limit }: MeasuredBar): boolean {
  return 'better' in limit ? limit.better === 'lower' : 'atMost' in limit;
}
