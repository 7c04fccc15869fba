import type { Contender, Store } from '../contenders/contender.ts';
import { median, medianRatio, timed } from '../measure/figures.ts';
import { Samples } from '../measure/samples.ts';
import { makeTurn, pooledTurn } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const LANGGRAPH = 'langgraph sqlite, synced';
const OURS = ['turnkeep sqlite', 'turnkeep journal', 'turnkeep postgres'];
const MEASURED = [
  ...OURS,
  LANGGRAPH,
  'langgraph sqlite, as shipped',
  'langgraph postgres',
  'openai session on sqlite',
  'openai session and state',
  'mastra libsql, synced',
  'sqlite rows by hand',
  'json file, rewritten',
  'jsonl file, not synced',
];

/** The share by which a conversation may grow while it still counts as one of its length. */
const DRIFT = 0.1;
/** Of one contender, before the next has its turn: the first of them finds its caches cold. */
const ROUNDS_IN_A_ROW = 5;

/** How the cost of a turn follows what the conversation already holds. */
export const history: Workload = {
  name: 'history',
  measures: 'time and bytes of a turn in a conversation of 10, 100, 1,000 and 10,000 turns',
  async run(context) {
    const lengths = context.pick([10, 100, 1_000, 10_000], [10, 1_000]);
    const contenders = await context.contenders(context.pick(MEASURED, [...OURS, LANGGRAPH]));
    const times = await timesOf(context, contenders, lengths);
    const bytes = new Samples();
    for (const contender of contenders)
      for (const length of lengths) bytes.add(contender.name, length, await bytesOfTurn(context, contender, length));
    report(context, lengths, times, bytes);
  },
};

/** Conversations of one length, which take turns until they are too long. */
class Talks {
  readonly length: number;
  readonly #store: Store;
  #waiting: { readonly name: string; turns: number }[] = [];
  #made = 0;

  constructor(store: Store, length: number) {
    this.#store = store;
    this.length = length;
  }

  /** Makes the next turn of one of them; answers the milliseconds. */
  async turn(): Promise<number> {
    const talk = this.#waiting[0] ?? (await this.#refill());
    const turn = makeTurn(talk.turns);
    const took = await timed(() => this.#store.turn(talk.name, turn));
    talk.turns += 1;
    if (talk.turns >= this.length * (1 + DRIFT)) this.#waiting.shift();
    return took;
  }

  /** Short ones grow side by side, so that none of them is fresher in a cache than a long one. */
  async #refill(): Promise<{ readonly name: string; turns: number }> {
    const count = Math.max(1, Math.floor(200 / this.length));
    this.#waiting = Array.from({ length: count }, () => ({
      name: `of-${this.length}-${this.#made++}`,
      turns: this.length,
    }));
    await Promise.all(this.#waiting.map(({ name }) => this.#store.grow(name, this.length)));
    const [first] = this.#waiting;
    if (!first) throw new Error('a conversation was made');
    return first;
  }
}

/** Contenders take turns, a few rounds of all lengths each, until each has its samples or has taken its time. */
async function timesOf(
  context: Context,
  contenders: readonly Contender[],
  lengths: readonly number[],
): Promise<Samples> {
  const times = new Samples();
  const seats = await Promise.all(
    contenders.map(async (contender) => {
      const store = await contender.open(context.folder());
      return {
        name: contender.name,
        store,
        talks: lengths.map((length) => new Talks(store, length)),
        tookMs: 0,
        samples: 0,
      };
    }),
  );
  for (const { talks } of seats) for (const talk of talks) for (let at = 0; at < 3; at++) await talk.turn();
  const limit = context.pick({ samples: 200, ms: 15_000 }, { samples: 30, ms: 200 });
  const goesOn = ({ samples, tookMs }: { readonly samples: number; readonly tookMs: number }) =>
    samples < 3 || (samples < limit.samples && tookMs < limit.ms);
  for (let going = seats; going.length > 0; going = going.filter(goesOn)) {
    for (const seat of going) {
      const start = performance.now();
      for (let round = 0; round < ROUNDS_IN_A_ROW && goesOn(seat); round++, seat.samples++)
        for (const talk of seat.talks) times.add(seat.name, talk.length, await talk.turn());
      seat.tookMs += performance.now() - start;
      await seat.store.settle?.();
    }
  }
  for (const { store } of seats) await store.close();
  return times;
}

/**
 * Bytes that a turn adds to all files, or tables, at this length: of two stores, one of which has a tenth more turns. Ours
 * hold as many turns whatever the length, so that they differ in nothing else.
 */
async function bytesOfTurn(context: Context, contender: Contender, length: number): Promise<number> {
  const total = context.pick(10_000, 1_000);
  const conversations = contender.rewrites ? 1 : total / length;
  const added = contender.rewrites ? Math.min(length / 10, context.pick(10, 3)) : length / 10;
  const folder = context.folder();
  const sizes: number[] = [];
  for (const [from, turns] of [
    [0, length],
    [length, added],
  ] as const) {
    const store = await contender.open(folder);
    for (let at = 0; at < conversations; at++) await goOn(store, `talk-${at}`, from, turns, contender.rewrites);
    sizes.push(await store.close());
  }
  return ((sizes[1] ?? 0) - (sizes[0] ?? 0)) / (conversations * added);
}

/** A store that keeps the whole state in memory needs it again after it was opened. */
async function goOn(store: Store, name: string, from: number, turns: number, rewrites: boolean): Promise<void> {
  if (from === 0) return store.grow(name, turns);
  const some = Array.from({ length: turns }, (_, at) => pooledTurn(from + at));
  if (rewrites) {
    await store.grow(name, from);
    for (const turn of some) await store.turn(name, turn);
    return;
  }
  await Promise.all(some.map((turn) => store.turn(name, turn)));
}

function report(context: Context, lengths: readonly number[], times: Samples, bytes: Samples): void {
  for (const length of lengths) {
    const turns = length.toLocaleString('en-US');
    for (const who of times.names)
      context.figure({ what: `a turn at ${turns} turns`, who, unit: 'ms', samples: times.of(who, length) });
    for (const who of bytes.names)
      context.figure({ what: `bytes of a turn at ${turns}`, who, unit: 'bytes', samples: bytes.of(who, length) });
  }
  const x = 'turns of history';
  const [time, size] = ['Time of a turn as a conversation grows', 'Bytes that a turn adds as a conversation grows'];
  context.plot({ name: 'history-time', title: time, x, y: 'milliseconds', lines: times.lines() });
  context.plot({ name: 'history-bytes', title: size, x, y: 'bytes', lines: bytes.lines() });
  growth(context, lengths, times, bytes);
  if (times.names.includes(LANGGRAPH)) againstLangGraph(context, times, bytes);
}

function growth(context: Context, lengths: readonly number[], times: Samples, bytes: Samples): void {
  const longest = lengths.at(-1) ?? 0;
  const grown = (samples: Samples, who: string, length: number) =>
    medianRatio(samples.of(who, length), samples.of(who, 10));
  for (const backend of ['sqlite', 'journal']) {
    const who = `turnkeep ${backend}`;
    const says = `of a turn at ${longest.toLocaleString('en-US')} turns against 10, on the ${backend} backend`;
    const [time, size] = [grown(times, who, longest), grown(bytes, who, longest)];
    context.bar({ name: `${backend}-history-time`, says: `time ${says}`, ratio: time, limit: { atMost: 1.3 } });
    context.bar({ name: `${backend}-history-bytes`, says: `bytes ${says}`, ratio: size, limit: { atMost: 1.1 } });
  }
  context.bar({
    name: 'postgres-history-time',
    says: 'time of a turn at 1,000 turns against 10, on Postgres',
    ratio: grown(times, 'turnkeep postgres', 1_000),
    limit: { atMost: 1.3 },
  });
}

function againstLangGraph(context: Context, times: Samples, bytes: Samples): void {
  const against = (samples: Samples, ours: string, theirs: string, length: number) =>
    median(samples.of(theirs, length)) / median(samples.of(ours, length));
  for (const [what, samples, atLeast] of [
    ['time', times, 50],
    ['bytes', bytes, 100],
  ] as const)
    context.bar({
      name: `langgraph-sqlite-${what}`,
      says: `${what} of a turn at 1,000 turns: LangGraph's SQLite saver, made to sync, against Turnkeep on SQLite`,
      ratio: against(samples, 'turnkeep sqlite', LANGGRAPH, 1_000),
      limit: { atLeast },
    });
  if (times.of('langgraph postgres', 100).length === 0) return;
  context.bar({
    name: 'langgraph-postgres-time',
    says: "time of a turn at 100 turns: LangGraph's Postgres saver against Turnkeep on Postgres",
    ratio: against(times, 'turnkeep postgres', 'langgraph postgres', 100),
    limit: { atLeast: 5 },
  });
}
