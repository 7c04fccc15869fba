import type { MeasuredBar, Row } from '../findings.ts';
import type { Machine } from '../measure/machine.ts';
import { limitOf, machineLines, numberOf } from './table.ts';

/** What `--json` writes. */
export interface Results {
  readonly machine: Machine;
  readonly quick: boolean;
  readonly rows: readonly Row[];
  readonly bars: readonly MeasuredBar[];
  readonly notes: readonly { readonly workload: string; readonly text: string }[];
}

const INTRODUCTION = `Made by \`npm run bench:docs\`; [performance.md](performance.md) says what they mean. Medians; in brackets the 99th
percentile, where there are twenty samples or more.`;

/** Where more than so many take part, they stand below each other and what they did side by side. */
const COLUMNS = 4;

/** The figures of runs as a page; `measures` says what each workload is about, in the order of the page. */
export function figuresPage(results: readonly Results[], measures: ReadonlyMap<string, string>): string {
  const rows = results.flatMap((one) => one.rows);
  const bars = results.flatMap((one) => one.bars);
  const notes = results.flatMap((one) => one.notes);
  const sections = [...measures].flatMap(([name, what]) => {
    const own = rows.filter(({ workload }) => workload === name);
    if (own.length === 0) return [];
    const said = notes.filter(({ workload }) => workload === name).map(({ text }) => `- ${text}`);
    return [`## ${name}`, `${what}.`, matrixOf(own), ...(said.length > 0 ? [said.join('\n')] : [])];
  });
  const page = ['# Figures', INTRODUCTION, machinesOf(results), '## Bars', barTable(bars), ...sections];
  return `${page.join('\n\n')}\n`;
}

/** Each machine state once, however many runs there were in it. */
function machinesOf(results: readonly Results[]): string {
  const lines = results.map(({ machine, rows }) => {
    const workloads = [...new Set(rows.map(({ workload }) => workload))].join(', ');
    return `- ${workloads}: ${machineLines(machine).replace('\n', '; ')}`;
  });
  return lines.join('\n');
}

function barTable(bars: readonly MeasuredBar[]): string {
  const head = '| | bar | measured | asked for | |\n|---|---|---:|---|---|';
  const promised = bars.filter(({ limit }) => !('better' in limit));
  const lines = promised.map((bar) => {
    const verdict = bar.holds ? 'holds' : '**fails**';
    return `| ${bar.name} | ${bar.says} | ${numberOf(bar.ratio)} | ${limitOf(bar)} | ${verdict} |`;
  });
  return [head, ...lines].join('\n');
}

function matrixOf(rows: readonly Row[]): string {
  const whats = distinct(rows.map(({ what }) => what));
  const whos = distinct(rows.map(({ who }) => who));
  const cell = (what: string, who: string) => cellOf(rows.find((row) => row.what === what && row.who === who));
  const headed = (what: string) => `${what}, ${rows.find((row) => row.what === what)?.unit ?? ''}`;
  return whos.length > COLUMNS
    ? tableOf(
        ['', ...whats.map(headed)],
        whos.map((who) => [who, ...whats.map((what) => cell(what, who))]),
      )
    : tableOf(
        ['', ...whos],
        whats.map((what) => [headed(what), ...whos.map((who) => cell(what, who))]),
      );
}

function tableOf(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|---|${'---:|'.repeat(head.length - 1)}`, ...lines.map(line)].join('\n');
}

function cellOf(row: Row | undefined): string {
  if (!row) return '';
  return row.samples < 20 ? numberOf(row.median) : `${numberOf(row.median)} (${numberOf(row.p99)})`;
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
