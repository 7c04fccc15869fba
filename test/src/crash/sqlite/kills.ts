import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openLedger } from 'turnkeep';
import { seeded } from '../harness.ts';
import type { CrashOptions, CrashReport } from '../harness.ts';
import { checkConversation } from './left-over.ts';
import type { Said } from './left-over.ts';

/**
 * Kill runs: a child process commits turns of several conversations at once and is killed with SIGKILL at a random event,
 * again and again on the same store. After each kill the store is opened and every conversation checked, the chain and the
 * file verified. The law: an acknowledged commit is there whole, another is whole or not there, and sent again it is done once.
 */
const CHILD = fileURLToPath(new URL('./writer-child.js', import.meta.url));
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
  for (let run = 0; run < runs;) {
    const directory = mkdtempSync(join(tmpdir(), 'turnkeep-kill-'));
    for (let kill = 0; kill < KILLS_PER_STORE && run < runs; kill++, run++) {
      const conversations = 1 + random(12);
      const faults = await oneKill(join(directory, 'store.db'), conversations, 1 + random(LATEST_EVENT), tally);
      tally.faults.push(...faults.map((fault) => `run ${run}, seed ${seed}: ${fault}`));
      if (faults.length === 0) tally.passed += 1;
    }
    rmSync(directory, { recursive: true, force: true });
    if (run % 50 === 0) say(`${run} of ${runs} kills`);
  }
  say(
    `${tally.runsWithCommitInFlight} kills landed inside a commit; of ${tally.inFlight} commits in flight ` +
      `${tally.inFlightKept} had become durable, ${tally.inFlight - tally.inFlightKept} had not`,
  );
  return { passed: tally.passed, faults: tally.faults };
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
  const child = spawn(process.execPath, [CHILD, file, String(conversations)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = new Map<string, Said>();
  let lines = 0;
  for await (const line of linesOf(child)) {
    const [word, name = '', number] = line.split(' ');
    const before = said.get(name) ?? { sent: 0, acknowledged: Number(number) - 1 };
    said.set(name, word === 'send' ? { ...before, sent: Number(number) } : { ...before, acknowledged: Number(number) });
    lines += 1;
    // What it has said until the signal reaches it is read to the end.
    if (lines === events) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.signalCode !== 'SIGKILL') throw new Error(`the writer ended by itself: ${child.exitCode}`);
  return said;
}

function linesOf(child: ChildProcess): AsyncIterable<string> {
  if (!child.stdout) throw new Error('the child has an output');
  return createInterface({ input: child.stdout });
}
