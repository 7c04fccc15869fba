import { CONTENDERS } from './contenders/index.ts';
import type { Contender } from './contenders/contender.ts';
import { Findings } from './findings.ts';
import { Scratch } from './measure/folder.ts';
import { barLine, tableOf } from './report/table.ts';
import type { Context, Workload } from './workload.ts';

/** How much is measured: everything as long as it takes, or less of it within a minute. */
export type Scale = 'full' | 'quick';

export interface RunOptions {
  readonly scale: Scale;
  readonly workloads: readonly Workload[];
  /** Leaves the peers out. */
  readonly only?: 'turnkeep' | undefined;
  /** What a person reads while it runs. */
  readonly say: (text: string) => void;
}

/** Runs workloads one after the other, each in folders of its own. */
export async function runWorkloads(options: RunOptions): Promise<Findings> {
  const { workloads, say } = options;
  const findings = new Findings();
  const shelf = new Shelf();
  try {
    for (const workload of workloads) {
      say(`\n${workload.name}: ${workload.measures}`);
      const start = performance.now();
      await runWorkload(workload, options, shelf, findings);
      sayFindings(findings, workload.name, say);
      say(`  took ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    }
  } finally {
    shelf.remove();
  }
  return findings;
}

/** What several workloads use. */
class Shelf {
  readonly #scratch = new Scratch();
  readonly #made = new Map<string, Promise<unknown>>();

  take<Made>(name: string, make: (folder: string) => Promise<Made>): Promise<Made> {
    const made = this.#made.get(name) ?? make(this.#scratch.folder());
    this.#made.set(name, made);
    return made as Promise<Made>; // a name stands for one thing
  }

  remove(): void {
    this.#scratch.remove();
  }
}

async function runWorkload(workload: Workload, options: RunOptions, shelf: Shelf, findings: Findings): Promise<void> {
  const scratch = new Scratch();
  try {
    await workload.run(contextOf(workload.name, options, { scratch, shelf }, findings));
  } finally {
    scratch.remove();
  }
}

function sayFindings({ rows, bars, notes }: Findings, name: string, say: (text: string) => void): void {
  const own = <Found extends { readonly workload: string }>(all: readonly Found[]) =>
    all.filter(({ workload }) => workload === name);
  if (own(rows).length > 0) say(tableOf(own(rows)));
  for (const { text } of own(notes)) say(`  note: ${text}`);
  for (const bar of own(bars)) say(barLine(bar));
}

interface Places {
  readonly scratch: Scratch;
  readonly shelf: Shelf;
}

function contextOf(workload: string, { scale, only }: RunOptions, places: Places, findings: Findings): Context {
  return {
    pick: (full, quick) => (scale === 'full' ? full : quick),
    folder: () => places.scratch.folder(),
    shared: (name, make) => places.shelf.take(name, make),
    contenders: async (names) => presentOf(names, { scale, only }, (text) => findings.addNote(workload, text)),
    figure: (figure) => void findings.addFigure(workload, figure),
    bar: (bar) => void findings.addBar(workload, bar),
    plot: (plot) => void findings.plots.push(plot),
    note: (text) => findings.addNote(workload, text),
  };
}

async function presentOf(
  names: readonly string[],
  { scale, only }: Pick<RunOptions, 'scale' | 'only'>,
  note: (text: string) => void,
): Promise<readonly Contender[]> {
  const present: Contender[] = [];
  const named = CONTENDERS.filter(({ name, kind }) => names.includes(name) && (only ?? kind) === kind);
  // A quick run has time for those that may be compared.
  const asked = scale === 'full' ? named : named.filter(isComparable);
  for (const contender of asked) {
    const why = await contender.missing();
    if (why === undefined) present.push(contender);
    else note(`${contender.name} is missing: ${why}`);
  }
  return present;
}

function isComparable({ kind, survives }: Contender): boolean {
  return kind === 'turnkeep' || survives === 'power loss';
}
