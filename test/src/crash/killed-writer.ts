import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * Runs a program that never ends, and kills it with SIGKILL once it has said so many lines. Hands on each line, those too
 * that were in the pipe by then: they were said while it lived. Throws where the program ended by itself.
 */
export async function* linesUntilKilled(program: URL, args: readonly string[], lines: number): AsyncGenerator<string> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  let heard = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    yield line;
    heard += 1;
    if (heard === lines) child.kill('SIGKILL');
  }
  await exit;
  if (child.signalCode !== 'SIGKILL') throw new Error(`the program ended by itself, with code ${child.exitCode}`);
}
