import { CONTENDERS } from '../contenders/index.ts';
import type { Contender, Store } from '../contenders/contender.ts';
import { median, medianRatio } from '../measure/figures.ts';
import { RawFile } from '../measure/raw-file.ts';
import { pooledTurn, textOf } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const COUNTS = [1, 8, 64, 256];
const HISTORY = 10;
const DISK = 'write + fdatasync, grouped';

/** The rates of each contender at each number of committers, one a round. */
type Rates = Map<string, Map<number, number[]>>;

interface Seat {
  readonly contender: Contender;
  readonly store: Store;
}

/**
 * So many committers at once, each with a conversation of its own that has ten turns of history. Contenders take turns
 * round by round; what is compared was measured in the same round.
 */
export const committers: Workload = {
  name: 'committers',
  measures: 'durable turns a second by 1, 8, 64 and 256 committers, at 10 turns of history',
  async run(context) {
    const seats: Seat[] = [];
    for (const contender of await context.contenders(CONTENDERS.map(({ name }) => name)))
      seats.push({ contender, store: await contender.open(context.folder()) });
    const raw = new RawFile(context.folder());
    const rates: Rates = new Map();
    for (let round = 0; round < context.pick(5, 1); round++) {
      for (const count of context.pick(COUNTS, [1, 64])) {
        note(rates, DISK, count, raw.linesPerSecond(linesOf(count), context.pick(400, 150)));
        for (const { contender, store } of rotated(seats, round))
          note(rates, contender.name, count, await rateOf(store, count, round, context.pick(600, 250)));
      }
    }
    for (const { store } of seats) await store.close();
    raw.close();
    report(context, rates, seats);
  },
};

/** Turns a second of so many committers. */
async function rateOf(store: Store, count: number, round: number, durationMs: number): Promise<number> {
  const names = Array.from({ length: count }, (_, at) => `talk-${round}-${count}-${at}`);
  await Promise.all(names.map((name) => store.grow(name, HISTORY)));
  const start = performance.now();
  const end = start + durationMs;
  let turns = 0;
  await Promise.all(
    names.map(async (name) => {
      for (let number = HISTORY; performance.now() < end; number++) {
        await store.turn(name, pooledTurn(number));
        turns += 1;
      }
    }),
  );
  return (turns * 1_000) / (performance.now() - start);
}

/** Lines of 1 KB. */
function linesOf(count: number): readonly string[] {
  return Array.from({ length: count }, () => `${textOf(1_023)}\n`);
}

/** Whoever was first is last in the next round: the heat of a neighbour goes round. */
function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const start = by % Math.max(1, items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

function note(rates: Rates, who: string, count: number, rate: number): void {
  const own = rates.get(who) ?? new Map<number, number[]>();
  rates.set(who, own);
  own.set(count, [...(own.get(count) ?? []), rate]);
}

function report(context: Context, rates: Rates, seats: readonly Seat[]): void {
  const names = [...seats.map(({ contender }) => contender.name), DISK];
  for (const count of COUNTS) {
    for (const who of names) {
      const samples = rates.get(who)?.get(count) ?? [];
      const unit = who === DISK ? 'lines/s' : 'turns/s';
      if (samples.length > 0) context.figure({ what: `${count} committers`, who, unit, samples });
    }
  }
  context.plot({
    name: 'committers',
    title: 'Durable turns a second (as shipped where marked: not power-safe)',
    x: 'committers at once',
    y: 'turns a second',
    lines: names.flatMap((who) => lineOf(who, rates.get(who))),
  });
  const at = (who: string, count: number) => rates.get(who)?.get(count) ?? [];
  context.bar({
    name: 'sqlite-64-disk',
    says: 'lines of 1 KB a second that share a sync by 64, against turns a second of 64 committers on SQLite',
    ratio: medianRatio(at(DISK, 64), at('turnkeep sqlite', 64)),
    limit: { atMost: 25 },
  });
  if (at(DISK, 256).length > 0)
    context.bar({
      name: 'journal-256-disk',
      says: 'lines of 1 KB a second that share a sync by 256, against turns a second of 256 committers on the journal',
      ratio: medianRatio(at(DISK, 256), at('turnkeep journal', 256)),
      limit: { atMost: 20 },
    });
  context.bar({
    name: 'postgres-64-over-1',
    says: '64 committers on different conversations of one namespace on Postgres, against one',
    ratio: medianRatio(at('turnkeep postgres', 64), at('turnkeep postgres', 1)),
    limit: { atLeast: 6 },
  });
  for (const backend of ['sqlite', 'journal'])
    context.bar({
      name: `${backend}-64-memory`,
      says: `turns a second of 64 committers on the ${backend} backend, against the memory backend`,
      ratio: medianRatio(at(`turnkeep ${backend}`, 64), at('turnkeep memory', 64)),
      limit: { better: 'higher' },
    });
  peers(context, rates, seats);
}

/** The framework that is fastest in a round, of those whose turns survive a power cut in files of this machine. */
function peers(context: Context, rates: Rates, seats: readonly Seat[]): void {
  const equals = seats
    .map(({ contender }) => contender)
    .filter(
      ({ kind, survives, name }) => kind === 'framework' && survives === 'power loss' && !name.includes('postgres'),
    );
  if (equals.length === 0) return;
  const rounds = rates.get('turnkeep sqlite')?.get(64)?.length ?? 0;
  const best = Array.from({ length: rounds }, (_, round) =>
    Math.max(...equals.map(({ name }) => rates.get(name)?.get(64)?.[round] ?? 0)),
  );
  for (const [backend, atLeast] of [
    ['sqlite', 2],
    ['journal', 6],
  ] as const) {
    const ours = rates.get(`turnkeep ${backend}`)?.get(64) ?? [];
    const says = `turns a second of 64 committers on the ${backend} backend, against the best framework's store that syncs each turn`;
    context.bar({ name: `${backend}-64-peers`, says, ratio: medianRatio(ours, best), limit: { atLeast } });
  }
  context.note(
    'a session of OpenAI and Mastra write messages alone, without checkpoint and task: less than a whole turn',
  );
}

function lineOf(who: string, rates: ReadonlyMap<number, readonly number[]> | undefined) {
  if (!rates) return [];
  return [{ who, points: [...rates].map(([count, samples]) => [count, median(samples)] as const) }];
}
