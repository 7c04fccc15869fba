import { median, quantile } from './measure/figures.ts';
import type { Bar, Figure, Plot, Unit } from './workload.ts';

/** A figure as it is reported. Ratios are to the first figure of the same thing. */
export interface Row {
  readonly workload: string;
  readonly what: string;
  readonly who: string;
  readonly unit: Unit;
  readonly median: number;
  readonly p99: number;
  readonly samples: number;
  readonly ratio: number;
}

export interface MeasuredBar extends Bar {
  readonly workload: string;
  readonly holds: boolean;
}

/** All that a run found. */
export class Findings {
  readonly rows: Row[] = [];
  readonly bars: MeasuredBar[] = [];
  readonly plots: Plot[] = [];
  readonly notes: { readonly workload: string; readonly text: string }[] = [];

  addFigure(workload: string, { what, who, unit, samples }: Figure): Row {
    const middle = median(samples);
    const first = this.rows.find((row) => row.workload === workload && row.what === what)?.median ?? middle;
    const p99 = quantile(samples, 0.99);
    const row = { workload, what, who, unit, median: middle, p99, samples: samples.length, ratio: middle / first };
    this.rows.push(row);
    return row;
  }

  addBar(workload: string, bar: Bar): MeasuredBar {
    const measured = { ...bar, workload, holds: holds(bar) };
    this.bars.push(measured);
    return measured;
  }

  addNote(workload: string, text: string): void {
    if (!this.notes.some((note) => note.workload === workload && note.text === text))
      this.notes.push({ workload, text });
  }
}

/** A ratio that could not be measured holds nothing. */
export function holds({ ratio, limit }: Pick<Bar, 'ratio' | 'limit'>): boolean {
  if ('better' in limit) return true;
  return 'atMost' in limit ? ratio <= limit.atMost : ratio >= limit.atLeast;
}
