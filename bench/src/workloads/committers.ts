import { CONTENDERS } from '../contenders/index.ts';
import type { Contender, Store } from '../contenders/contender.ts';
import { medianRatio } from '../measure/figures.ts';
import { RawFile } from '../measure/raw-file.ts';
import { Samples } from '../measure/samples.ts';
import { pooledTurn, textOf } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const COUNTS = [1, 8, 64, 256];
const HISTORY = 10;
const DISK = 'write + fdatasync, grouped';

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
    const rates = new Samples();
    for (let round = 0; round < context.pick(5, 1); round++) {
      for (const count of context.pick(COUNTS, [1, 64])) {
        rates.add(DISK, count, raw.linesPerSecond(linesOf(count), context.pick(400, 150)));
        for (const { contender, store } of rotated(seats, round)) {
          rates.add(contender.name, count, await rateOf(store, count, round, context.pick(600, 250)));
          await store.settle?.();
        }
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

/** `rates` has one rate a round. */
function report(context: Context, rates: Samples, seats: readonly Seat[]): void {
  const names = [...seats.map(({ contender }) => contender.name), DISK];
  for (const count of COUNTS) {
    for (const who of names) {
      const samples = rates.of(who, count);
      const unit = who === DISK ? 'lines/s' : 'turns/s';
      if (samples.length > 0) context.figure({ what: `${count} committers`, who, unit, samples });
    }
  }
  context.plot({
    name: 'committers',
    title: 'Durable turns a second (as shipped where marked: not power-safe)',
    x: 'committers at once',
    y: 'turns a second',
    lines: rates.lines(),
  });
  againstDisk(context, rates);
  context.bar({
    name: 'postgres-64-over-1',
    says: '64 committers on different conversations of one namespace on Postgres, against one',
    ratio: medianRatio(rates.of('turnkeep postgres', 64), rates.of('turnkeep postgres', 1)),
    limit: { atLeast: 6 },
  });
  for (const backend of ['sqlite', 'journal'])
    context.bar({
      name: `${backend}-64-memory`,
      says: `turns a second of 64 committers on the ${backend} backend, against the memory backend`,
      ratio: medianRatio(rates.of(`turnkeep ${backend}`, 64), rates.of('turnkeep memory', 64)),
      limit: { better: 'higher' },
    });
  againstPeers(context, rates, seats);
}

function againstDisk(context: Context, rates: Samples): void {
  for (const [backend, count, atMost] of [
    ['sqlite', 64, 25],
    ['journal', 256, 20],
  ] as const) {
    const lines = rates.of(DISK, count);
    if (lines.length === 0) continue;
    const says = `lines of 1 KB a second that share a sync by ${count}, against turns a second of as many committers on the ${backend} backend`;
    const ratio = medianRatio(lines, rates.of(`turnkeep ${backend}`, count));
    context.bar({ name: `${backend}-${count}-disk`, says, ratio, limit: { atMost } });
  }
}

/** The framework that is fastest in a round, of those whose whole turns survive a power cut in files of this machine. */
function againstPeers(context: Context, rates: Samples, seats: readonly Seat[]): void {
  const equals = seats
    .map(({ contender }) => contender)
    .filter(
      ({ kind, keeps, survives, name }) =>
        kind === 'framework' && keeps === 'whole turns' && survives === 'power loss' && !name.includes('postgres'),
    );
  if (equals.length === 0) return;
  const rounds = rates.of('turnkeep sqlite', 64).length;
  const best = Array.from({ length: rounds }, (_, round) =>
    Math.max(...equals.map(({ name }) => rates.of(name, 64)[round] ?? 0)),
  );
  for (const [backend, atLeast] of [
    ['sqlite', 2],
    ['journal', 6],
  ] as const) {
    const ours = rates.of(`turnkeep ${backend}`, 64);
    const says = `turns a second of 64 committers on the ${backend} backend, against the best framework's store that syncs whole turns`;
    context.bar({ name: `${backend}-64-peers`, says, ratio: medianRatio(ours, best), limit: { atLeast } });
  }
  context.note(
    'Mastra and a session of OpenAI without the state beside it write messages alone, neither checkpoint nor task: they are no equals',
  );
}
