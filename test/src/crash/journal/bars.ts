import { closeSync, fdatasync, fdatasyncSync, mkdtempSync, openSync, rmSync, write, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Backend } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
import { MemoryBackend } from 'turnkeep/memory';
import { sha256, turnOf } from './turns.ts';

/**
 * The journal's bars, against the disk in the same run: one durable turn against one write and fdatasync of as many bytes,
 * and turns of 256 committers against lines of 1 KB that share a sync by 256. The memory backend says what the rules take.
 */
const TURNS = 600;
const COMMITTERS = 256;
const SECONDS = 4;
const LINE = Buffer.alloc(1_024, 'x');

const directory = mkdtempSync(join(tmpdir(), 'turnkeep-bars-'));
const raw = openSync(join(directory, 'raw'), 'w');
let rawAt = 0;

function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[times.length >> 1] ?? 0;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1_000;
}

async function rawAppend(bytes: Buffer): Promise<void> {
  await promisify(write)(raw, bytes, 0, bytes.length, rawAt);
  await promisify(fdatasync)(raw);
  rawAt += bytes.length;
}

async function alone(journal: Backend, lineBytes: number): Promise<string> {
  const turns: number[] = [];
  const appends: number[] = [];
  const prepared: number[] = [];
  for (let k = 0; k < TURNS; k++) {
    prepared.push(await timed(async () => turnOf('warm', k)));
    turns.push(await timed(() => journal.commit(turnOf('alone', k))));
    appends.push(await timed(() => rawAppend(Buffer.alloc(lineBytes, 'x'))));
  }
  const ratio = median(turns) / median(appends);
  return `one turn ${median(turns).toFixed(0)} us (${median(prepared).toFixed(0)} to prepare), write and sync ${median(appends).toFixed(0)} us: ${ratio.toFixed(2)}`;
}

async function together(backend: Backend, name: string): Promise<number> {
  const start = performance.now();
  const end = start + SECONDS * 1_000;
  let turns = 0;
  const work = async (conversation: string) => {
    for (let k = 0; performance.now() < end; k++, turns++) await backend.commit(turnOf(conversation, k));
  };
  await Promise.all(Array.from({ length: COMMITTERS }, (_, at) => work(`${name}-${at}`)));
  return (turns * 1_000) / (performance.now() - start);
}

function rawLines(): number {
  const group = Buffer.concat(Array.from({ length: COMMITTERS }, () => LINE));
  const start = performance.now();
  let lines = 0;
  for (; performance.now() < start + SECONDS * 500; lines += COMMITTERS) {
    rawAt += writeSync(raw, group, 0, group.length, rawAt);
    fdatasyncSync(raw);
  }
  return (lines * 1_000) / (performance.now() - start);
}

const journal = await openJournal(join(directory, 'store'), { sha256 });
process.stdout.write(`${await alone(journal, 3_000)}\n`);
const memory = await together(new MemoryBackend(sha256), 'memory');
const lines = rawLines();
const turns = await together(journal, 'journal');
process.stdout.write(
  `${COMMITTERS} committers: journal ${turns.toFixed(0)} turns/s, memory ${memory.toFixed(0)}; ` +
    `${lines.toFixed(0)} raw lines/s: 1/${(lines / turns).toFixed(1)} (memory 1/${(lines / memory).toFixed(1)})\n`,
);
await journal.close();
closeSync(raw);
rmSync(directory, { recursive: true, force: true });
