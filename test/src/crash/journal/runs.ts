import { seeded } from '../harness.ts';
import type { CrashOptions, CrashReport } from '../harness.ts';
import { damageFaults, flips, originalStore, wounds } from './damage.ts';
import type { Damage } from './damage.ts';
import { faultRuns, operationsOfALife, runFault } from './faults.ts';
import { killFaults } from './kills.ts';

const KILLS_PER_STORE = 10;
const FAULTS_PER_KILL_STORE = 2_000;

/** A count of what passed, and what failed in words. */
class Tally {
  passed = 0;
  readonly faults: string[] = [];

  async run(name: string, work: () => Promise<readonly string[]>): Promise<void> {
    const found = await work().catch((error: unknown) => [
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    ]);
    if (found.length === 0) this.passed += 1;
    else this.faults.push(`${name}: ${found.join('; ')}`);
  }
}

/**
 * `runs` faults of a file system, each at its own operation; a store of killed processes for every few hundred of them; and
 * once all damage: every byte turned, every cut of the last segment, NUL bytes, glued lines, swapped and missing files.
 * Fewer runs than a damage is long take a share of it.
 */
export async function journalRuns({ runs, seed, say }: CrashOptions): Promise<CrashReport> {
  const tally = new Tally();
  await allDamage(runs, seed, say, tally);
  await allKills(runs, seed, say, tally);
  await allFaults(runs, seed, say, tally);
  return tally;
}

async function allFaults(runs: number, seed: number, say: (line: string) => void, tally: Tally): Promise<void> {
  const operations = await operationsOfALife();
  say(`faults: ${runs} over the ${operations.all} operations of a life, ${operations.log} of them on the log`);
  let done = 0;
  for (const run of faultRuns(operations, seed)) {
    if (done >= runs) return;
    done += 1;
    await tally.run(`fault ${JSON.stringify(run)}`, () => runFault(run));
    if (done % 1_000 === 0) say(`${done} of ${runs} faults, ${tally.faults.length} failed so far`);
  }
}

async function allKills(runs: number, seed: number, say: (line: string) => void, tally: Tally): Promise<void> {
  const stores = Math.ceil(runs / FAULTS_PER_KILL_STORE);
  const kills = Math.min(KILLS_PER_STORE, runs);
  for (let store = 0; store < stores; store++) {
    const random = seeded(seed + store);
    await tally.run(`kills of store ${store}, seed ${seed}`, () => killFaults(kills, random));
  }
  say(`kills: ${stores * kills} processes on ${stores} stores`);
}

async function allDamage(runs: number, seed: number, say: (line: string) => void, tally: Tally): Promise<void> {
  const original = await originalStore();
  const all: Damage[] = [...wounds(original)];
  const random = seeded(seed);
  const wanted = Math.min(all.length, runs);
  for (let at = 0; at < wanted; at++) {
    const damage = all[wanted === all.length ? at : random(all.length)];
    if (damage) await tally.run(`damage: ${damage.what}`, () => damageFaults(original, damage));
  }
  let count = 0;
  let total = 0;
  for (const bytes of original.files.values()) total += bytes.length;
  for (const damage of flips(original, seed)) {
    if (runs < total && random(total) >= runs) continue;
    count += 1;
    await tally.run(`damage: ${damage.what}, seed ${seed}`, () => damageFaults(original, damage));
  }
  say(`damage: ${wanted} wounds and ${count} of ${total} bytes turned, ${tally.faults.length} failed`);
}
