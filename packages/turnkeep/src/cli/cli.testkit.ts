import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Part } from '../core/message.ts';
import type { Namespace } from '../ledger/namespace.ts';
import { openLedger } from '../ledger/open.ts';

/** What a run of the program left. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = join(import.meta.dirname, 'main.js');

/**
 * Starts the compiled program with nothing of this process's environment that it would heed.
 *
 * @param output A file to print to instead of a pipe.
 * @param uid Who runs it, where that is somebody else.
 */
export function startCli(
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
  input: 'ignore' | 'pipe' = 'ignore',
  output?: string,
  uid?: number,
): ChildProcess {
  const { PATH = '' } = process.env;
  const stdout = output === undefined ? ('pipe' as const) : openSync(output, 'w');
  // Node.js itself may lie where only this process may start it, so the program becomes somebody else once it runs.
  const as =
    uid === undefined
      ? []
      : [
          '--import',
          `data:text/javascript,import{isMainThread}from'node:worker_threads';if(isMainThread)process.setuid(${uid})`,
        ];
  const child = spawn(process.execPath, [...as, MAIN, ...args], {
    env: { PATH, ...env },
    stdio: [input, stdout, 'pipe'],
  });
  if (typeof stdout === 'number') closeSync(stdout);
  return child;
}

/** Lines of progress come where work takes long, which is a matter of the machine. */
const PROGRESS = /^.*…\n/gm;

/** Runs the compiled program to its end. */
export async function cli(args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<Ended> {
  return endOf(startCli(args, env));
}

/** What a run leaves once it ends, its progress aside. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return {
    code,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString().replace(PROGRESS, ''),
  };
}

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new store that `fill` writes to; answers its URL. */
export async function storeWith(fill: (namespace: Namespace) => Promise<unknown>): Promise<string> {
  const url = `sqlite:${join(temporaryFolder(), 'store.db')}`;
  const ledger = await openLedger(url);
  await fill(ledger.namespace('default'));
  await ledger.close();
  return url;
}

export function textParts(text: string): readonly Part[] {
  return [{ type: 'text', text }];
}

/** A conversation with a tool call, an edit and a task, as most tests need it. */
export async function fillKiln(namespace: Namespace): Promise<void> {
  const kiln = namespace.conversation('kiln');
  await kiln.create({ title: 'Fix the kiln timer', labels: ['urgent'] });
  const { turnId } = await kiln.record({
    turnId: 'turn_first',
    origin: 'test',
    messages: [
      { role: 'user', parts: textParts('The timer test is flaky') },
      {
        role: 'assistant',
        parts: [
          ...textParts('Let me look.'),
          { type: 'tool_call', callId: 'call_1', name: 'Bash', input: { command: 'make test' } },
        ],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool_result', callId: 'call_1', status: 'error', output: 'line\n'.repeat(400) }],
      },
    ],
  });
  await kiln.record({
    turnId: 'turn_left',
    origin: 'test',
    messages: [{ role: 'user', parts: textParts('Skip the test') }],
  });
  const { graphRevision } = await kiln.info();
  await kiln.record(
    {
      turnId: 'turn_edit',
      origin: 'test',
      parent: { turnId },
      messages: [{ role: 'user', parts: textParts('Mend the test') }],
    },
    { expect: { graphRevision } },
  );
  await kiln.tasks.create({ taskId: 'task_timer', title: 'Mend the timer', assignee: 'ada' });
}

/** What must never reach a terminal, line feeds and tabs aside. */
// eslint-disable-next-line no-control-regex
export const DANGEROUS: RegExp = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufffd]|\p{Bidi_Control}/u;
