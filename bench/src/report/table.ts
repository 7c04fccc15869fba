import type { MeasuredBar, Row } from '../findings.ts';
import type { Machine } from '../measure/machine.ts';
import type { Bar } from '../workload.ts';

const WIDTHS = { who: 30, middle: 13, p99: 13, ratio: 9, samples: 8 };

/** The figures of a workload: what was done as a headline, below it who took how long. */
export function tableOf(rows: readonly Row[]): string {
  const groups = groupedBy(rows);
  return [...groups].map(([what, group]) => [headline(what, group), ...group.map(lineOf)].join('\n')).join('\n');
}

function groupedBy(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.what, [...(groups.get(row.what) ?? []), row]);
  return groups;
}

function headline(what: string, [first]: readonly Row[]): string {
  const { who, middle, p99, ratio, samples } = WIDTHS;
  const heads = ['median'.padStart(middle), 'p99'.padStart(p99), 'ratio'.padStart(ratio), 'samples'.padStart(samples)];
  return `  ${`${what}, ${first?.unit ?? ''}`.padEnd(who)}${heads.join('')}`;
}

function lineOf(row: Row): string {
  const { who, middle, p99, ratio, samples } = WIDTHS;
  const spread = row.samples < 20 ? '' : numberOf(row.p99);
  const cells = [numberOf(row.median).padStart(middle), spread.padStart(p99)];
  const last = [row.ratio.toFixed(2).padStart(ratio), String(row.samples).padStart(samples)];
  return `    ${row.who.padEnd(who - 2)}${[...cells, ...last].join('')}`;
}

/** Three digits that count, thousands apart. */
export function numberOf(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function barLine(bar: MeasuredBar): string {
  const verdict = 'better' in bar.limit ? 'ratio' : bar.holds ? 'holds' : 'FAILS';
  return `  ${verdict}  ${bar.name.padEnd(28)} ${numberOf(bar.ratio)} (${limitOf(bar)}): ${bar.says}`;
}

export function limitOf({ limit }: Pick<Bar, 'limit'>): string {
  if ('better' in limit) return `${limit.better} is better`;
  return 'atMost' in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`;
}

export function machineLines(machine: Machine): string {
  const { cpu, cores, memoryMiB, system, node, disk, loadBefore, commit, versions } = machine;
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${cores} × ${cpu}, ${memoryMiB} MiB, ${disk}, ${system}, Node.js ${node}, load ${loadBefore}`,
    `${packages.join(', ')}; commit ${commit}`,
  ].join('\n');
}
