#!/usr/bin/env node
import { TurnkeepError } from '../core/errors.ts';
import { monotonicNow } from '../platform/clock.ts';
import { pause } from '../platform/timers.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { jsonText } from './json-text.ts';
import { Output, OutputClosed, Progress } from './output.ts';
import { runProgram } from './program.ts';
import type { Shell } from './shell.ts';

/** How long a command that was interrupted may take to close its store; what it had committed is durable already. */
const CLOSING_MS = 5_000;

const args = process.argv.slice(2);
const isJson = args.includes('--json');
const stopping = new AbortController();
let interruption: ExitCode | undefined;

for (const [signal, code] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  process.on(signal, () => {
    // The second time nothing is waited for.
    if (interruption !== undefined) process.exit(code);
    interruption = code;
    stopping.abort(new TurnkeepError('aborted', { reason: signal }));
    void pause(CLOSING_MS).then(() => process.exit(code));
  });
}

const shell: Shell = {
  out: new Output(process.stdout, process.env),
  progress: new Progress(process.stderr, monotonicNow, isJson),
  input: () => {
    // Nobody waits on for what standard input would have given.
    stopping.signal.addEventListener('abort', () => process.stdin.destroy(stopping.signal.reason as Error));
    return process.stdin;
  },
  env: process.env,
  signal: stopping.signal,
};
process.stderr.on('error', () => {
  // Whoever read the messages left; the exit code still tells.
});

process.on('uncaughtException', (error) => void reportAndExit(error));

process.exitCode = await run();
if (interruption !== undefined) process.exit(interruption);

async function run(): Promise<ExitCode> {
  try {
    const code = await runProgram(shell, args);
    await shell.out.flush();
    return code;
  } catch (error) {
    // The reader has seen enough, as after `| head -1`.
    if (error instanceof OutputClosed) return EXIT.ok;
    return report(error);
  }
}

async function reportAndExit(error: unknown): Promise<never> {
  process.exit(await report(error));
}

async function report(error: unknown): Promise<ExitCode> {
  const failure = failureOf(interruption === undefined ? error : stopping.signal.reason);
  try {
    await shell.out.flush();
  } catch {
    // What was printed before the error has no reader any more.
  }
  process.stderr.write(`${isJson ? jsonText(failure.json) : failure.line}\n`);
  if (process.env['TURNKEEP_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return failure.exitCode;
}
