import { createHash } from 'node:crypto';
import type { Backend, Change, Part } from 'turnkeep/core';
import { isTurnkeepError } from 'turnkeep/core';
import type { Surroundings } from 'turnkeep/core';
import { Ledger } from '../../../../packages/turnkeep/dist/ledger/ledger.js';
import { seeded } from '../harness.ts';
import type { CutMode, FaultPlan } from './disk.ts';
import { Machine } from './faults.ts';
import { sha256 } from './turns.ts';

/**
 * The law: a put that was acknowledged is there, byte for byte, until the words that refer to it go; one that was not is
 * there whole or not at all; what a commit refers to is there; and a collection leaves no file that no row names.
 */

const NAMESPACE = 'crash';
const FOLDER = '/store/attachments';
const NOW = Date.UTC(2026, 0, 2);

/** Two parts and a bit, one that fits a part, one that goes again. */
const LARGE = Buffer.alloc(600_000, 'large');
const SMALL = Buffer.from('small');
const PASSING = Buffer.alloc(300_000, 'passing');

/** What was told to a caller, over all lives. */
interface Told {
  readonly puts: Set<Buffer>;
  readonly commits: Set<string>;
  /** True once somebody may have let go of {@link PASSING}. */
  passed: boolean;
}

function ledgerOn(backend: Backend, seed: number): Ledger {
  const random = seeded(seed);
  const nonce = (): string => Buffer.from(Array.from({ length: 16 }, () => random(256))).toString('base64url');
  const surroundings: Surroundings = { sha256, now: () => NOW, nonce };
  return new Ledger(backend, surroundings, () => `minted-${nonce()}`);
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function shows(turnId: string, bytes: Buffer): readonly Change[] {
  const file: Part = { type: 'file', mediaType: 'text/plain', source: { attachment: digestOf(bytes) } };
  const message = { role: 'user' as const, parts: [file], messageId: `m-${turnId}` };
  return [
    { kind: 'turn.record', turnId, origin: 'background' },
    { kind: 'message.append', message },
  ];
}

/** Goes on where something failed, as far as anything can. */
async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return false;
  }
}

async function workload(backend: Backend, told: Told, seed: number): Promise<void> {
  const ledger = ledgerOn(backend, seed);
  const space = ledger.namespace(NAMESPACE);
  const put = async (bytes: Buffer) => {
    if (await attempt(() => space.attachments.put(bytes))) told.puts.add(bytes);
  };
  const commit = async (commitId: string, changes: readonly Change[]) => {
    if (await attempt(() => space.commit({ commitId, conversationId: 'c', changes }))) told.commits.add(commitId);
  };
  await put(LARGE);
  await commit('large', shows('t1', LARGE));
  await put(PASSING);
  await commit('passing', shows('t2', PASSING));
  await put(LARGE);
  told.passed = true;
  await commit('redaction', [{ kind: 'message.redact', messageId: 'm-t2', reason: 'r' }]);
  await attempt(() => space.collect());
  await put(SMALL);
  await commit('small', shows('t3', SMALL));
}

/** The operations of a life without faults. */
export async function operationsOfPuts(): Promise<number> {
  const machine = new Machine();
  const backend = await machine.open();
  await workload(backend, { puts: new Set(), commits: new Set(), passed: false }, 1);
  await backend.close();
  return machine.disk.operations;
}

/** One life with a fault in it, what ends it, and a life that looks at what is left. Answers what speaks against the store. */
export async function runPutFault(plan: FaultPlan, cut: CutMode | 'none', seed: number): Promise<readonly string[]> {
  const machine = new Machine();
  const told: Told = { puts: new Set(), commits: new Set(), passed: false };
  machine.disk.plan(plan);
  await attempt(async () => {
    const backend = await machine.open();
    await workload(backend, told, seed);
    await backend.close().catch(() => undefined);
  });
  if (cut === 'none') machine.processEnds();
  else machine.powerCut(cut, seeded(seed));
  const backend = await machine.open();
  const faults = await breaches(machine, backend, told, seed);
  await backend.close();
  return faults;
}

async function breaches(machine: Machine, backend: Backend, told: Told, seed: number): Promise<readonly string[]> {
  const ledger = ledgerOn(backend, seed + 1);
  const { attachments } = ledger.namespace(NAMESPACE);
  const faults: string[] = [];
  const isThere = async (bytes: Buffer): Promise<boolean> => {
    if (!(await attachments.stat(digestOf(bytes)))) return false;
    const read = await (await attachments.get(digestOf(bytes))).bytes();
    if (!bytes.equals(read)) faults.push(`${bytes.length} bytes came out as others`);
    return true;
  };
  for (const bytes of [LARGE, SMALL, PASSING]) {
    const mayBeGone = bytes === PASSING && told.passed;
    const there = await isThere(bytes);
    if (told.puts.has(bytes) && !mayBeGone && !there) faults.push(`a put of ${bytes.length} bytes is lost`);
  }
  if (told.commits.has('large') && !(await isThere(LARGE))) faults.push('what a commit refers to is not there');
  if (told.commits.has('small') && !(await isThere(SMALL))) faults.push('what a commit refers to is not there');
  const verified = (await ledger.verify()).faults.filter(({ kind }) => kind !== 'store');
  faults.push(...verified.map(({ kind, place, reason }) => `${kind}: ${place}: ${reason}`));
  await ledger.namespace(NAMESPACE).collect({ attachmentGraceMs: 0 });
  return [...faults, ...(await leftFiles(machine, ledger))];
}

/** Files that no row names, once a collection is through. */
async function leftFiles(machine: Machine, ledger: Ledger): Promise<readonly string[]> {
  const { attachments } = ledger.namespace(NAMESPACE);
  const left: string[] = [];
  for (const path of machine.disk.files().keys()) {
    if (!path.startsWith(`${FOLDER}/`)) continue;
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path.includes('/incoming/') || !(await attachments.stat(name))) left.push(`${path} is left`);
  }
  return left;
}
