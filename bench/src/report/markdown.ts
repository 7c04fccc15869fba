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
  const versions = distinct(results.map(({ machine }) => machine.node));
  const parts = versions.map((version) => {
    const runs = results.filter(({ machine }) => machine.node === version);
    return [`## Node.js ${version}`, machinesOf(runs), '### Bars', barTable(runs), ...sectionsOf(runs, measures)];
  });
  return `${['# Figures', INTRODUCTION, ...parts.flat()].join('\n\n')}\n`;
}

function sectionsOf(runs: readonly Results[], measures: ReadonlyMap<string, string>): readonly string[] {
  return [...measures].flatMap(([name, what]) => {
    const rows = runs.flatMap((run) => run.rows.filter(({ workload }) => workload === name));
    if (rows.length === 0) return [];
    const notes = runs.flatMap((run) => run.notes.filter(({ workload }) => workload === name));
    const said = notes.map(({ text }) => `- ${text}`).join('\n');
    return [`### ${name}`, `${what[0]?.toUpperCase()}${what.slice(1)}.`, matrixOf(rows), ...(said ? [said] : [])];
  });
}

/** What each run measured, and on what. */
function machinesOf(results: readonly Results[]): string {
  const lines = results.map(({ machine, rows }) => {
    const workloads = [...new Set(rows.map(({ workload }) => workload))].join(', ');
    return `- ${workloads}: ${machineLines(machine).replace('\n', '; ')}`;
  });
  return lines.join('\n');
}

function barTable(runs: readonly Results[]): string {
  const bars = runs.flatMap((run) => run.bars);
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
