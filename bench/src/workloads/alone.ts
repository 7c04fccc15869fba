import { CONTENDERS } from '../contenders/index.ts';
import type { Store } from '../contenders/contender.ts';
import { median, timed } from '../measure/figures.ts';
import { RawFile } from '../measure/raw-file.ts';
import { changesOf, makeTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const WHAT = 'one turn';
const DISK = 'write + fdatasync';
/** Turns of one contender in a row, each beside the disk, whose pace changes by the second. */
const STRETCH = { warmUp: 10, measured: 40 };
/** Turns of each contender before any is measured: as a process that has been at work for a few seconds. */
const WARM_UP = 4_000;
const HISTORY = 10;

const BARS: readonly (readonly [who: string, name: string, atMost: number])[] = [
  ['turnkeep sqlite', 'sqlite-alone', 2.5],
  ['turnkeep journal', 'journal-alone', 1.6],
];

interface Times {
  readonly own: number[];
  readonly disk: number[];
  /** The ratio of the medians of each stretch. */
  readonly ratios: number[];
}

/** One committer, turn after turn, each turn beside one write and fdatasync of as many bytes. */
export const alone: Workload = {
  name: 'alone',
  measures: 'one durable turn at a time, against one write and fdatasync of the same bytes',
  async run(context) {
    const raw = new RawFile(context.folder());
    const seats: { readonly who: string; readonly store: Store; readonly times: Times }[] = [];
    for (const contender of await context.contenders(CONTENDERS.map(({ name }) => name)))
      seats.push({ who: contender.name, store: await contender.open(context.folder()), times: noTimes() });
    for (const { store } of seats) {
      await warmUp(store, context.pick(WARM_UP, HISTORY));
      await store.settle?.();
    }
    const pool = noTimes();
    for (let round = 0; round < context.pick(12, 1); round++) {
      await stretch(raw, pool, async (_, turn) => raw.appendLater(lineOf(turn)));
      for (const { store, times } of seats) {
        await stretch(raw, times, (at, turn) => store.turn(`talk-${round}-${Math.floor(at / HISTORY)}`, turn));
        await store.settle?.();
      }
    }
    for (const { store } of seats) await store.close();
    raw.close();
    report(
      context,
      new Map([['the same, by the pool', pool], ...seats.map(({ who, times }) => [who, times] as const)]),
    );
  },
};

async function warmUp(store: Store, turns: number): Promise<void> {
  for (let at = 0; at < turns; at++) await store.turn(`warm-${Math.floor(at / HISTORY)}`, makeTurn(at % HISTORY));
}

function noTimes(): Times {
  return { own: [], disk: [], ratios: [] };
}

/** Conversations of ten turns at most: some peers write the whole history each time, which `history` shows. */
async function stretch(raw: RawFile, times: Times, commit: (at: number, turn: Turn) => Promise<void>): Promise<void> {
  const [own, disk]: [number[], number[]] = [[], []];
  for (let at = 0; at < STRETCH.warmUp + STRETCH.measured; at++) {
    const turn = makeTurn(at % HISTORY);
    const line = lineOf(turn);
    disk.push(await timed(() => raw.append(line)));
    own.push(await timed(() => commit(at, turn)));
  }
  times.own.push(...own.slice(STRETCH.warmUp));
  times.disk.push(...disk.slice(STRETCH.warmUp));
  times.ratios.push(median(own.slice(STRETCH.warmUp)) / median(disk.slice(STRETCH.warmUp)));
}

/** The commit as it is submitted, as a line of JSON. */
function lineOf(turn: Turn): string {
  return `${JSON.stringify(changesOf(turn))}\n`;
}

function report(context: Context, all: ReadonlyMap<string, Times>): void {
  context.figure({ what: WHAT, who: DISK, unit: 'ms', samples: [...all.values()].flatMap(({ disk }) => disk) });
  for (const [who, { own }] of all) context.figure({ what: WHAT, who, unit: 'ms', samples: own });
  for (const [who, { ratios }] of all)
    context.figure({ what: 'one turn, by the disk', who, unit: 'times', samples: ratios });
  for (const [who, name, atMost] of BARS) {
    const says = `a durable turn of ${who} against one write + fdatasync of the submitted bytes`;
    context.bar({ name, says, ratio: median(all.get(who)?.ratios ?? []), limit: { atMost } });
  }
}
