import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { TurnkeepError } from '../../core/errors.ts';
import { pause } from '../../platform/timers.ts';
import type { WriterLine, WriterOrder } from './writer.ts';

/** What was known of a writer's commits when it died. */
export interface Killed {
  /** Turns whose commits were acknowledged. */
  readonly acknowledged: readonly number[];
  /** Turns whose commits had been sent and not yet answered. */
  readonly onTheirWay: readonly number[];
  readonly signal: string;
}

/** The writer dies once it has had this many answers and then sends another commit. */
const ANSWERS = 24;
/** It is killed at a moment of chance after that, so that it dies now in one part of a commit, now in another. */
const MAX_DELAY_MS = 8;

/** Starts a writing process and kills it with SIGKILL while commits are on their way. */
export async function killWhileWriting(order: WriterOrder, signal: AbortSignal): Promise<Killed> {
  signal.throwIfAborted();
  const program = fileURLToPath(new URL('./writer.js', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    const [by, said] = await Promise.all([death(child, order.url), linesUntilDeath(child.stdout, kill)]);
    signal.throwIfAborted();
    return { ...said, signal: by };
  } finally {
    kill();
    signal.removeEventListener('abort', kill);
  }
}

/** The signal that the writer died by; it is an error if it ended by itself. */
function death(child: ChildProcess, url: string): Promise<string> {
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, by) => {
      if (by !== null) return resolve(by);
      const why = /^.*Error.*$/m.exec(complaint)?.[0] ?? `exit code ${code}`;
      return reject(
        new TurnkeepError('store_unavailable', { place: url, reason: `the writing process ended: ${why}` }),
      );
    });
  });
}

/** Reads what the writer says, and kills it; lines that are in the pipe by then were said while it lived, and count. */
async function linesUntilDeath(output: Readable, kill: () => void): Promise<Omit<Killed, 'signal'>> {
  const sent = new Set<number>();
  const acknowledged = new Set<number>();
  for await (const text of createInterface({ input: output })) {
    const line = JSON.parse(text) as WriterLine; // written by our own writer
    if ('acknowledged' in line) acknowledged.add(line.acknowledged);
    else sent.add(line.sent);
    if ('sent' in line && acknowledged.size >= ANSWERS) void pause(Math.random() * MAX_DELAY_MS).then(kill);
  }
  return { acknowledged: [...acknowledged], onTheirWay: [...sent].filter((turn) => !acknowledged.has(turn)) };
}
