import type { Contender, Store } from '../contenders/contender.ts';
import { median, medianRatio, timed } from '../measure/figures.ts';
import { makeTurn, pooledTurn } from '../measure/turn.ts';
import type { Context, Plot, Workload } from '../workload.ts';

const MEASURED = [
  'turnkeep sqlite',
  'turnkeep journal',
  'turnkeep postgres',
  'langgraph sqlite, synced',
  'langgraph sqlite, as shipped',
  'langgraph postgres',
  'openai session on sqlite',
  'mastra libsql, synced',
  'sqlite rows by hand',
  'json file, rewritten',
  'jsonl file, not synced',
];

/** Turns of history, or a tenth of it in a conversation that goes on until it would be too long to count as such. */
const DRIFT = 0.1;
/** Of one contender, before the next has its turn: the first of them finds its caches cold. */
const ROUNDS_IN_A_ROW = 5;

/** Times and marginal bytes of a turn, by contender and turns of history. */
type Samples = Map<string, Map<number, number[]>>;

/** How the cost of a turn follows what the conversation already holds. */
export const history: Workload = {
  name: 'history',
  measures: 'time and bytes of a turn in a conversation of 10, 100, 1,000 and 10,000 turns',
  async run(context) {
    const lengths = context.pick([10, 100, 1_000, 10_000], [10, 1_000]);
    const contenders = await context.contenders(MEASURED);
    const times = await timesOf(context, contenders, lengths);
    const bytes: Samples = new Map();
    for (const contender of contenders)
      for (const length of lengths) put(bytes, contender.name, length, await bytesOfTurn(context, contender, length));
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
  const times: Samples = new Map();
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
  const limit = context.pick({ samples: 200, ms: 15_000 }, { samples: 40, ms: 300 });
  const goesOn = ({ samples, tookMs }: { readonly samples: number; readonly tookMs: number }) =>
    samples < 3 || (samples < limit.samples && tookMs < limit.ms);
  for (let going = seats; going.length > 0; going = going.filter(goesOn)) {
    for (const seat of going) {
      const start = performance.now();
      for (let round = 0; round < ROUNDS_IN_A_ROW && goesOn(seat); round++, seat.samples++)
        for (const talk of seat.talks) put(times, seat.name, talk.length, await talk.turn());
      seat.tookMs += performance.now() - start;
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

function put(samples: Samples, who: string, length: number, value: number): void {
  const own = samples.get(who) ?? new Map<number, number[]>();
  samples.set(who, own);
  own.set(length, [...(own.get(length) ?? []), value]);
}

function report(context: Context, lengths: readonly number[], times: Samples, bytes: Samples): void {
  for (const length of lengths) {
    const turns = length.toLocaleString('en-US');
    for (const [who, own] of times)
      context.figure({ what: `a turn at ${turns} turns`, who, unit: 'ms', samples: own.get(length) ?? [] });
    for (const [who, own] of bytes)
      context.figure({ what: `bytes of a turn at ${turns}`, who, unit: 'bytes', samples: own.get(length) ?? [] });
  }
  context.plot({
    name: 'history-time',
    title: 'Time of a turn as a conversation grows',
    y: 'milliseconds',
    ...lines(times),
  });
  context.plot({
    name: 'history-bytes',
    title: 'Bytes that a turn adds as a conversation grows',
    y: 'bytes',
    ...lines(bytes),
  });
  growth(context, lengths, times, bytes);
  if (times.has('langgraph sqlite, synced')) againstLangGraph(context, times, bytes);
}

function growth(context: Context, lengths: readonly number[], times: Samples, bytes: Samples): void {
  const longest = lengths.at(-1) ?? 0;
  const turns = longest.toLocaleString('en-US');
  const at = (samples: Samples, who: string, length: number) => samples.get(who)?.get(length) ?? [];
  for (const backend of ['sqlite', 'journal']) {
    const who = `turnkeep ${backend}`;
    const time = medianRatio(at(times, who, longest), at(times, who, 10));
    const says = `at ${turns} turns against 10, on the ${backend} backend`;
    context.bar({
      name: `${backend}-history-time`,
      says: `time of a turn ${says}`,
      ratio: time,
      limit: { atMost: 1.3 },
    });
    const size = medianRatio(at(bytes, who, longest), at(bytes, who, 10));
    context.bar({
      name: `${backend}-history-bytes`,
      says: `bytes of a turn ${says}`,
      ratio: size,
      limit: { atMost: 1.1 },
    });
  }
  const postgres = medianRatio(at(times, 'turnkeep postgres', 1_000), at(times, 'turnkeep postgres', 10));
  const says = 'time of a turn at 1,000 turns against 10, on Postgres';
  context.bar({ name: 'postgres-history-time', says, ratio: postgres, limit: { atMost: 1.3 } });
}

function againstLangGraph(context: Context, times: Samples, bytes: Samples): void {
  const times_ = (samples: Samples, who: string, length: number) => median(samples.get(who)?.get(length) ?? []);
  const against = (samples: Samples, ours: string, theirs: string, length: number) =>
    times_(samples, theirs, length) / times_(samples, ours, length);
  const sqlite = (samples: Samples) => against(samples, 'turnkeep sqlite', 'langgraph sqlite, synced', 1_000);
  const says = "LangGraph's SQLite saver, made to sync, against Turnkeep on SQLite, at 1,000 turns";
  context.bar({
    name: 'langgraph-sqlite-time',
    says: `time of a turn: ${says}`,
    ratio: sqlite(times),
    limit: { atLeast: 50 },
  });
  context.bar({
    name: 'langgraph-sqlite-bytes',
    says: `bytes of a turn: ${says}`,
    ratio: sqlite(bytes),
    limit: { atLeast: 100 },
  });
  if (!times.get('langgraph postgres')?.has(100)) return;
  context.bar({
    name: 'langgraph-postgres-time',
    says: "time of a turn: LangGraph's Postgres saver against Turnkeep on Postgres, at 100 turns",
    ratio: against(times, 'turnkeep postgres', 'langgraph postgres', 100),
    limit: { atLeast: 5 },
  });
}

function lines(samples: Samples): Pick<Plot, 'x' | 'lines'> {
  const points = (own: ReadonlyMap<number, readonly number[]>) =>
    [...own].map(([length, values]) => [length, Math.max(0.001, median(values))] as const);
  return { x: 'turns of history', lines: [...samples].map(([who, own]) => ({ who, points: points(own) })) };
}
