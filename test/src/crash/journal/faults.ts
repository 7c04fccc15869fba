import type { Backend, Envelope } from 'turnkeep/core';
import { isTurnkeepError } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
import type { JournalBackend, Owner, Processes } from 'turnkeep/journal';
import { seeded } from '../harness.ts';
import { CUT_MODES, SimulatedDisk } from './disk.ts';
import type { CutMode, FaultKind, FaultPlan, Random } from './disk.ts';
import { breaches, contents } from './law.ts';
import { erasureOf, redactionOf, sha256, turnOf } from './turns.ts';

const DIRECTORY = '/store';
const SETTINGS = {
  foldCommits: 3,
  foldBytes: 4_000,
  segmentBytes: 12_000,
  mergeRuns: 2,
  cacheBytes: 100_000,
  filterBytes: 3_000,
};
const KINDS: readonly FaultKind[] = ['death', 'short', 'sync', 'EIO', 'ENOSPC', 'EMFILE', 'full_for_a_while'];
const CONVERSATIONS = ['a', 'b', 'c', 'd'];
const TURNS = 3;

/** What was sent to a store over all its lives. */
class Sender {
  readonly envelopes = new Map<string, Envelope>();
  readonly acknowledged = new Set<string>();
  readonly refused = new Set<string>();

  /** Sends a commit and notes what became of it. One whose answer never comes stays open. */
  async send(backend: Backend, envelope: Envelope): Promise<void> {
    const { commitId } = envelope.commit;
    this.envelopes.set(commitId, envelope);
    try {
      await backend.commit(envelope);
      this.refused.delete(commitId);
      this.acknowledged.add(commitId);
    } catch (error) {
      if (!isTurnkeepError(error)) throw error;
      const isOpen = error.code === 'outcome_unknown' || this.acknowledged.has(commitId);
      if (!isOpen && !this.#wasOpen.has(commitId)) this.refused.add(commitId);
      if (error.code === 'outcome_unknown') {
        this.#wasOpen.add(commitId);
        this.refused.delete(commitId);
      }
    }
  }

  readonly #wasOpen = new Set<string>();
}

/** Processes of one machine: each opening is a process of its own, all earlier ones are dead. */
function processesOf(boot: number, start: number): Processes {
  const self: Owner = { pid: 1, host: 'machine', boot: String(boot), start: String(start), space: '' };
  return { self: () => self, mayLive: (owner) => owner.boot === self.boot && owner.start === self.start };
}

/** A disk, and the processes that come and go on it. */
export class Machine {
  disk: SimulatedDisk = new SimulatedDisk();
  #boot = 1;
  #start = 1;

  open(): Promise<JournalBackend> {
    const processes = processesOf(this.#boot, this.#start);
    return openJournal(DIRECTORY, { fileSystem: this.disk, processes, settings: SETTINGS, sha256 });
  }

  /** The process is gone; caches stay. */
  processEnds(): void {
    this.disk = this.disk.afterDeath();
    this.#start += 1;
  }

  powerCut(mode: CutMode, random: Random): void {
    this.disk = this.disk.afterCut(mode, random);
    this.#start += 1;
    this.#boot += 1;
  }
}

/** Turns of several conversations at once, then a redaction and an erasure, what maintenance does with them, and a cooling. */
async function workload(backend: Backend, sender: Sender, from: number): Promise<void> {
  for (let k = from; k < from + TURNS; k++) {
    await Promise.all(CONVERSATIONS.map((conversation) => sender.send(backend, turnOf(conversation, k))));
    await sender.send(backend, turnOf('a', k));
  }
  await sender.send(backend, redactionOf('b', from + 1));
  await sender.send(backend, turnOf(`gone-${from}`, 0));
  await sender.send(backend, erasureOf(`gone-${from}`));
  await backend.collect('crash');
  await backend.cool('crash', { hotMessages: 3 });
  await sender.send(backend, redactionOf('a', from));
  await backend.collect('crash');
  await sender.send(backend, turnOf('a', from + TURNS - 1));
}

export interface Operations {
  readonly all: number;
  readonly log: number;
}

/** The number of operations of a life without faults. */
export async function operationsOfALife(): Promise<Operations> {
  const machine = new Machine();
  const backend = await machine.open();
  await workload(backend, new Sender(), 0);
  await backend.close();
  const { operations, logOperations } = machine.disk;
  return { all: operations, log: logOperations };
}

export interface FaultRun {
  readonly plan: FaultPlan;
  /** Where the life before the one with the fault dies, for a fault that meets a recovery; 0 where there is none before. */
  readonly diedAt: number;
  /** `none`: the process ends, the machine goes on. */
  readonly cut: CutMode | 'none';
  readonly seed: number;
}

/** One life with a fault in it, what ends it, and two lives after. Answers what speaks against the store. */
export async function runFault({ plan, diedAt, cut, seed }: FaultRun): Promise<readonly string[]> {
  const random = seeded(seed);
  const machine = new Machine();
  const sender = new Sender();
  if (diedAt > 0) {
    machine.disk.plan({ operation: diedAt, scope: 'all', kind: 'death', share: 0 });
    await life(machine, sender, 0);
    if (random(2) === 0) machine.processEnds();
    else machine.powerCut(CUT_MODES[random(CUT_MODES.length)] ?? 'nothing', random);
  }
  machine.disk.plan(plan);
  await life(machine, sender, 0);
  if (cut === 'none') machine.processEnds();
  else machine.powerCut(cut, random);
  // To check a store is to maintain it, which makes all of it durable: half of the runs go on as they are.
  const first = random(2) === 0 ? [] : await check(machine, sender);
  if (first.length > 0) return first;
  await resend(machine, sender);
  machine.powerCut(CUT_MODES[random(CUT_MODES.length)] ?? 'nothing', random);
  return check(machine, sender);
}

/**
 * An operation of a collection fails, the handle is closed, and the next one writes: what it acknowledges must stand, though
 * the segment under it was replaced and the failure may have been that of its name.
 */
export async function runCollectionFault(operation: number, kind: FaultKind): Promise<readonly string[]> {
  const machine = new Machine();
  const sender = new Sender();
  const backend = await machine.open();
  for (let k = 0; k < TURNS; k++) await sender.send(backend, turnOf('a', k));
  await sender.send(backend, redactionOf('a', 1));
  machine.disk.plan({ operation, scope: 'all', kind, share: 0.5 });
  await backend.collect('crash').catch(() => 0);
  machine.disk.plan(undefined);
  await backend.close();
  machine.processEnds();
  await sender.send(await machine.open(), turnOf('new', 0));
  machine.powerCut('nothing', () => 0);
  return check(machine, sender);
}

/**
 * A process dies in the middle of a cooling, the next one puts in order what it left, and then the power goes: what was
 * renamed may not be there any more, and what took its place must be.
 */
export async function runCoolingFault(operation: number): Promise<readonly string[]> {
  const machine = new Machine();
  const sender = new Sender();
  const backend = await machine.open();
  for (let k = 0; k < 2 * TURNS; k++) await sender.send(backend, turnOf('a', k));
  machine.disk.plan({ operation, scope: 'all', kind: 'death', share: 0.5 });
  await backend.cool('crash', { hotMessages: 3 }).catch(() => 0);
  await backend.close().catch(() => undefined);
  machine.processEnds();
  // A commit makes durable which segments there are.
  await sender.send(await machine.open(), turnOf('new', 0));
  machine.powerCut('nothing', () => 0);
  return check(machine, sender);
}

/** A process that opens the store, works, and closes it, as far as it comes. */
async function life(machine: Machine, sender: Sender, from: number): Promise<void> {
  const work = async () => {
    const backend = await machine.open();
    try {
      await workload(backend, sender, from);
    } finally {
      await backend.close();
    }
  };
  await work().catch((error: unknown) => {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
  });
}

async function check(machine: Machine, sender: Sender): Promise<readonly string[]> {
  const backend = await machine.open();
  const before = await contents(backend);
  await backend.close();
  machine.processEnds();
  const again = await machine.open();
  try {
    if ((await contents(again)) !== before) return ['opening it once more made another store of it'];
    return await breaches(again, sender);
  } finally {
    await again.close();
    machine.processEnds();
  }
}

/** What was not acknowledged is sent again, as a client would, and something new. All of it must be acknowledged now. */
async function resend(machine: Machine, sender: Sender): Promise<void> {
  const backend = await machine.open();
  for (const [id, envelope] of sender.envelopes) if (!sender.acknowledged.has(id)) await sender.send(backend, envelope);
  for (const conversation of CONVERSATIONS) await sender.send(backend, turnOf(conversation, 0));
  await sender.send(backend, turnOf('new', 0));
  if (!sender.acknowledged.has('new.0')) throw new Error('a sound disk did not take a commit');
}

/**
 * Every operation with every kind of fault, those of the log twice, in an order that the seed decides; then again, with
 * other ends.
 */
export function* faultRuns(operations: Operations, seed: number): Generator<FaultRun> {
  const random = seeded(seed);
  const cuts: readonly FaultRun['cut'][] = ['none', ...CUT_MODES];
  const places = [
    ...Array.from({ length: operations.all }, (_, at) => ({ scope: 'all', operation: at + 1 }) as const),
    ...Array.from({ length: operations.log }, (_, at) => ({ scope: 'log', operation: at + 1 }) as const),
  ];
  for (;;) {
    for (const at of shuffled(places.length * KINDS.length, random)) {
      const kind = KINDS[at % KINDS.length] ?? 'EIO';
      const place = places[Math.floor(at / KINDS.length)] ?? { scope: 'all', operation: 1 };
      const diedAt = random(2) === 0 ? 0 : 1 + random(operations.all);
      const diesAfter = random(2) === 0 ? undefined : random(16);
      const plan = { ...place, kind, share: random(1_001) / 1_000, diesAfter };
      yield { diedAt, plan, cut: cuts[random(cuts.length)] ?? 'none', seed: random(0x7fffffff) };
    }
  }
}

function shuffled(count: number, random: Random): readonly number[] {
  const order = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at--) {
    const other = random(at + 1);
    [order[at], order[other]] = [order[other] as number, order[at] as number];
  }
  return order;
}
