import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import { inFolder, seeded } from '../harness.ts';
import type { CrashOptions, CrashReport } from '../harness.ts';
import { linesUntilKilled } from '../killed-writer.ts';
import { checkConversation } from './left-over.ts';
import type { Said } from './left-over.ts';

/**
 * Kill runs: a child process commits turns of several conversations at once and is killed with SIGKILL at a random event,
 * again and again on the same store. After each kill the store is opened and every conversation checked, the chain and the
 * file verified. The law: an acknowledged commit is there whole, another is whole or not there, and sent again it is done once.
 */
const WRITER = new URL('./writer-child.js', import.meta.url);
const KILLS_PER_STORE = 10;
const LATEST_EVENT = 60;

interface Tally {
  readonly faults: string[];
  passed: number;
  inFlight: number;
  inFlightKept: number;
  runsWithCommitInFlight: number;
}

export async function killRuns({ runs, seed, say }: CrashOptions): Promise<CrashReport> {
  const random = seeded(seed);
  const tally: Tally = { faults: [], passed: 0, inFlight: 0, inFlightKept: 0, runsWithCommitInFlight: 0 };
  for (let run = 0; run < runs; run += KILLS_PER_STORE) {
    const faults = await inFolder((folder) => killsOfOne(folder, Math.min(KILLS_PER_STORE, runs - run), random, tally));
    tally.faults.push(...faults.map((fault) => `store of run ${run}, seed ${seed}: ${fault}`));
    if (run % 50 === 0) say(`${run} of ${runs} kills`);
  }
  say(
    `${tally.runsWithCommitInFlight} kills landed inside a commit; of ${tally.inFlight} commits in flight ` +
      `${tally.inFlightKept} had become durable, ${tally.inFlight - tally.inFlightKept} had not`,
  );
  return { passed: tally.passed, faults: tally.faults };
}

/** Kills writers of one store, again and again. */
async function killsOfOne(
  folder: string,
  kills: number,
  random: ReturnType<typeof seeded>,
  tally: Tally,
): Promise<readonly string[]> {
  const all: string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const faults = await oneKill(join(folder, 'store.db'), 1 + random(12), 1 + random(LATEST_EVENT), tally);
    all.push(...faults.map((fault) => `kill ${kill}: ${fault}`));
    if (faults.length === 0) tally.passed += 1;
  }
  return all;
}

async function oneKill(file: string, conversations: number, events: number, tally: Tally): Promise<readonly string[]> {
  const said = await writeAndKill(file, conversations, events);
  const ledger = await openLedger(`sqlite:${file}`);
  try {
    const faults: string[] = [];
    let inFlight = 0;
    for (const [name, words] of said) {
      const left = await checkConversation(ledger, name, words);
      faults.push(...left.faults);
      inFlight += left.inFlight ? 1 : 0;
      tally.inFlightKept += left.inFlightKept ? 1 : 0;
    }
    tally.inFlight += inFlight;
    tally.runsWithCommitInFlight += inFlight > 0 ? 1 : 0;
    const report = await ledger.verify();
    return [...faults, ...report.faults.map((fault) => `${fault.kind} at ${fault.place}: ${fault.reason}`)];
  } finally {
    await ledger.close();
  }
}

/** Runs a writer until it has said so many lines, kills it, and answers what it had said of each conversation. */
async function writeAndKill(file: string, conversations: number, events: number): Promise<ReadonlyMap<string, Said>> {
  const said = new Map<string, Said>();
  for await (const line of linesUntilKilled(WRITER, [file, String(conversations)], events)) {
    const [word, name = '', number] = line.split(' ');
    const before = said.get(name) ?? { sent: 0, acknowledged: Number(number) - 1 };
    said.set(name, word === 'send' ? { ...before, sent: Number(number) } : { ...before, acknowledged: Number(number) });
  }
  return said;
}
