import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openLedger } from 'turnkeep';
import type { Conversation, Ledger } from 'turnkeep';
import { openSqlite } from 'turnkeep/sqlite';
import { median, quantile, timed } from './figures.ts';
import { RawFile } from './raw-file.ts';
import { shortTurns, TURN_TEXT, turnChanges } from './turn.ts';

/**
 * Measures the SQLite store through the public API against what the machine can do, in one run:
 *
 *     node test/dist/bench/sqlite.js [--seconds 10] [--messages 100000] [--only alone,many,grown]
 *
 * - `alone`: one turn at a time, against one write and fdatasync of the same bytes: at most 2.5 times as long;
 * - `many`: 64 committers, against lines a second at 64 lines a sync: at least 1/25; all files together at most 2.5 bytes
 *   for a byte of message text; the event loop late by less than 20 ms at the 99th percentile;
 * - `grown`: commits and windows of a conversation of so many messages against one of 10, forks at turn 10,000 against turn
 *   10: at most 1.2 times as long.
 *
 * A shared machine is noisy: ratios within a run are what counts, over several runs.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    messages: { type: 'string', default: '100000' },
    only: { type: 'string', default: 'alone,many,grown' },
  },
});

const COMMITTERS = 64;
const WARM_UP_MS = 3_000;
const RAW_MS = 1_000;
const ALONE_TURNS = 800;
const GROWN_ROUNDS = 600;
const TURNS_OF_TEN_MESSAGES = 5;
const FORKS = 200;

const say = (line: string) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'turnkeep-bench-'));

/** Calls with a fresh store; answers the bytes of all its files once all is indexed and it is closed. */
async function withLedger(name: string, use: (ledger: Ledger) => Promise<void>): Promise<number> {
  const path = join(folder, name);
  const file = join(path, 'store.db');
  const ledger = await openLedger(`sqlite:${file}`);
  await use(ledger);
  await ledger.close();
  const store = await openSqlite(file);
  await store.rebuild();
  await store.close();
  return readdirSync(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0);
}

async function alone(raw: RawFile): Promise<void> {
  await withLedger('alone', async (ledger) => {
    const talk = ledger.namespace('bench').conversation('alone');
    const times: number[] = [];
    const rawTimes: number[] = [];
    for (let turn = 0; turn < ALONE_TURNS; turn++) {
      const changes = turnChanges(turn);
      const line = `${JSON.stringify(changes)}\n`;
      rawTimes.push(await timed(() => raw.append(line)));
      times.push(await timed(() => talk.commit(changes)));
    }
    const [mine, its] = [median(times.slice(ALONE_TURNS / 4)), median(rawTimes.slice(ALONE_TURNS / 4))];
    say(
      `alone: ${mine.toFixed(3)} ms a turn, raw ${its.toFixed(3)} ms: ${(mine / its).toFixed(2)} times (at most 2.5)`,
    );
  });
}

async function many(raw: RawFile): Promise<void> {
  const lines = Array.from({ length: COMMITTERS }, () => `${JSON.stringify(turnChanges(1))}\n`.slice(-1_025));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let turns = 0;
  let rate = 0;
  let times: number[] = [];
  const before = raw.linesPerSecond(lines, RAW_MS);
  const bytes = await withLedger('many', async (ledger) => {
    const over = new AbortController();
    const committer = async (talk: Conversation) => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        times.push(await timed(() => talk.commit(turnChanges(turn))));
        turns += 1;
      }
    };
    const all = Array.from({ length: COMMITTERS }, (_, at) =>
      committer(ledger.namespace('bench').conversation(`talk-${at}`)),
    );
    await pause(WARM_UP_MS);
    const start = turns;
    times = [];
    delay.enable();
    const took = await timed(() => pause(Number(values.seconds) * 1_000));
    delay.disable();
    rate = ((turns - start) / took) * 1_000;
    over.abort();
    await Promise.all(all);
  });
  const lineRate = (before + raw.linesPerSecond(lines, RAW_MS)) / 2;
  say(
    `many: ${rate.toFixed(0)} turns/s, raw ${lineRate.toFixed(0)} lines/s: 1/${(lineRate / rate).toFixed(1)} (at least 1/25)`,
  );
  say(`  latency ${median(times).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`);
  say(`  event loop late by ${(delay.percentile(99) / 1e6).toFixed(1)} ms at p99 (at most 20)`);
  say(`  ${(bytes / (turns * TURN_TEXT)).toFixed(2)} bytes a byte of text, search index built (at most 2.5)`);
}

async function grown(): Promise<void> {
  await withLedger('grown', async (ledger) => {
    const namespace = ledger.namespace('bench');
    const long = namespace.conversation('long');
    for (let turns = Number(values.messages) / 2; turns > 0; turns -= 300)
      await long.commit(shortTurns(Math.min(turns, 300)));
    await long.commit(turnChanges(0));
    const commits: { long: number[]; short: number[] } = { long: [], short: [] };
    const windows: { long: number[]; short: number[] } = { long: [], short: [] };
    for (let round = 0; round < GROWN_ROUNDS; round++) {
      const short = namespace.conversation(`short-${round}`);
      // Turns of both lie equally far apart in the log: six short conversations grow at a time.
      for (let turn = 0; turn < Math.min(TURNS_OF_TEN_MESSAGES, round + 1); turn++) {
        await namespace.conversation(`short-${round + TURNS_OF_TEN_MESSAGES - turn}`).commit(turnChanges(turn));
      }
      if (round < TURNS_OF_TEN_MESSAGES) continue;
      commits.long.push(await timed(() => long.commit(turnChanges(round - TURNS_OF_TEN_MESSAGES + 1))));
      windows.long.push(await timed(() => long.window(8)));
      commits.short.push(await timed(() => short.commit(turnChanges(TURNS_OF_TEN_MESSAGES))));
      windows.short.push(await timed(() => short.window(8)));
    }
    for (const [what, { long: slow, short: fast }] of Object.entries({ commits, windows })) {
      sayGrowth(what, slow, `with ${values.messages} messages`, fast, 'with 10');
    }
    await forks(ledger, long);
  });
}

/** Forks of the long conversation at a late turn and at an early one, by turns. */
async function forks(ledger: Ledger, long: Conversation): Promise<void> {
  const late: number[] = [];
  const early: number[] = [];
  const turns = await long.graph();
  const [lateTurn, earlyTurn] = [turns[Math.min(10_000, turns.length) - 1], turns[9]];
  if (!lateTurn || !earlyTurn) throw new Error('the long conversation has its turns');
  const at = async (turnId: string) => (await long.window(1, { leaf: turnId })).messages[0]?.messageId ?? '';
  const [lateMessage, earlyMessage] = [await at(lateTurn.turnId), await at(earlyTurn.turnId)];
  for (let round = 0; round < FORKS; round++) {
    late.push(await timed(() => long.fork(lateMessage, { conversationId: `late-${round}` })));
    early.push(await timed(() => long.fork(earlyMessage, { conversationId: `early-${round}` })));
  }
  sayGrowth('forks', late, `at turn ${Math.min(10_000, turns.length)}`, early, 'at turn 10');
}

function sayGrowth(
  what: string,
  slow: readonly number[],
  where: string,
  fast: readonly number[],
  beside: string,
): void {
  const [mine, its] = [median(slow), median(fast)];
  const times = (mine / its).toFixed(2);
  say(`grown: ${what} ${mine.toFixed(3)} ms ${where}, ${its.toFixed(3)} ms ${beside}: ${times} times (at most 1.2)`);
}

const raw = new RawFile(join(folder, 'raw'));
try {
  const parts = values.only.split(',');
  if (parts.includes('alone')) await alone(raw);
  if (parts.includes('many')) await many(raw);
  if (parts.includes('grown')) await grown();
} finally {
  raw.close();
  rmSync(folder, { recursive: true });
}
