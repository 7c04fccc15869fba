import { parseArgs } from 'node:util';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { openLedger } from 'turnkeep';
import type { Ledger } from 'turnkeep';
import { testPostgresUrl } from 'turnkeep/testing';
import { median, timed } from './figures.ts';
import { TURN_TEXT, textOf, turnChanges } from './turn.ts';

/**
 * Measures the Postgres store through the public API, client and server on one machine, in one run:
 *
 *     node test/dist/bench/postgres.js [--seconds 3] [--rounds 5] [--only many,grown,peer]
 *
 * - `many`: 64 committers on different conversations of one namespace, against one: at least 6 times as many turns a second;
 * - `grown`: a turn of a conversation of 1,000 turns against one of 10: at most 1.3 times as long;
 * - `peer`: a turn at 100 turns, against LangGraph's saver for Postgres that persists the same turn: at most 1/5.
 *
 * A shared machine is noisy: what is compared alternates, and medians of ratios are what counts.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'many,grown,peer' },
  },
});

const COMMITTERS = 64;
const SAMPLES = 60;
const say = (line: string) => process.stdout.write(`${line}\n`);
const url = await testPostgresUrl();
let stores = 0;

/** Calls with a fresh store. */
async function withLedger(use: (ledger: Ledger) => Promise<void>): Promise<void> {
  const place = new URL(url);
  place.searchParams.set('schema', `bench_${process.pid}_${(stores += 1)}`);
  const ledger = await openLedger(place.href);
  try {
    await use(ledger);
  } finally {
    await ledger.close();
  }
}

class Writer {
  readonly #conversation: ReturnType<ReturnType<Ledger['namespace']>['conversation']>;
  turns = 0;

  constructor(ledger: Ledger, name: string) {
    this.#conversation = ledger.namespace('bench').conversation(name);
  }

  async turn(): Promise<void> {
    await this.#conversation.commit(turnChanges(this.turns));
    this.turns += 1;
  }
}

/** Turns a second of so many writers at once. */
async function rateOf(writers: readonly Writer[]): Promise<number> {
  const end = performance.now() + Number(values.seconds) * 1_000;
  let turns = 0;
  const tookMs = await timed(async () =>
    Promise.all(
      writers.map(async (writer) => {
        while (performance.now() < end) {
          await writer.turn();
          turns += 1;
        }
      }),
    ),
  );
  return (turns * 1_000) / tookMs;
}

async function many(): Promise<void> {
  await withLedger(async (ledger) => {
    const writers = Array.from({ length: COMMITTERS }, (_, at) => new Writer(ledger, `c${at}`));
    const one = writers.slice(0, 1);
    await rateOf(writers);
    const ratios: number[] = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      const [alone, together] = [await rateOf(one), await rateOf(writers)];
      ratios.push(together / alone);
      say(
        `many: ${alone.toFixed(0)} turns/s alone, ${together.toFixed(0)} by ${COMMITTERS}: ${(together / alone).toFixed(2)} times`,
      );
    }
    say(`many: ${median(ratios).toFixed(2)} times as many (at least 6)`);
  });
}

async function grown(): Promise<void> {
  await withLedger(async (ledger) => {
    const long = new Writer(ledger, 'long');
    while (long.turns < 1_000) await long.turn();
    const [short, at1000]: [number[], number[]] = [[], []];
    for (let at = 0; at < SAMPLES; at++) {
      const fresh = new Writer(ledger, `short${at}`);
      while (fresh.turns < 10) await fresh.turn();
      short.push(await timed(async () => fresh.turn()));
      at1000.push(await timed(async () => long.turn()));
    }
    const [at10, later] = [median(short), median(at1000)];
    say(
      `grown: ${at10.toFixed(2)} ms at 10 turns, ${later.toFixed(2)} ms at 1,000: ${(later / at10).toFixed(2)} times (at most 1.3)`,
    );
  });
}

/** The messages of so many turns, as an agent's state holds them: all of them, in each checkpoint. */
function messagesOf(turns: number): readonly object[] {
  return Array.from({ length: turns }, () => [
    { role: 'user', content: textOf(TURN_TEXT / 2) },
    { role: 'assistant', content: textOf(TURN_TEXT / 2) },
  ]).flat();
}

async function peer(): Promise<void> {
  const saver = PostgresSaver.fromConnString(url, { schema: `peer_${process.pid}` });
  await saver.setup();
  const put = async (thread: string, turns: number): Promise<void> => {
    const checkpoint = {
      ...emptyCheckpoint(),
      id: `${String(turns).padStart(8, '0')}-${thread}`,
      channel_values: { messages: messagesOf(turns) },
      channel_versions: { messages: turns },
    };
    const config = { configurable: { thread_id: thread, checkpoint_ns: '' } };
    await saver.put(config, checkpoint, { source: 'loop', step: turns, parents: {} }, { messages: turns });
  };
  await withLedger(async (ledger) => {
    const ours: number[] = [];
    const theirs: number[] = [];
    const writer = new Writer(ledger, 'c');
    while (writer.turns < 100) await writer.turn();
    for (let at = 0; at < 5; at++) await put('warm', at + 1);
    for (let at = 0; at < SAMPLES; at++) {
      theirs.push(await timed(async () => put('thread', 100 + at)));
      ours.push(await timed(async () => writer.turn()));
    }
    const [mine, other] = [median(ours), median(theirs)];
    say(
      `peer: ${mine.toFixed(2)} ms a turn, LangGraph's put ${other.toFixed(2)} ms: 1/${(other / mine).toFixed(1)} (at most 1/5)`,
    );
  });
  await saver.end();
}

const parts: { readonly [part: string]: () => Promise<void> } = { many, grown, peer };
for (const part of values.only.split(',')) await parts[part]?.();
process.exit(0);
