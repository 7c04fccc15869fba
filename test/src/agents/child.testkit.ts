import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Another process that works on a turn, and what it says, a JSON object a line. */
export class Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #errors = '';

  constructor(program: 'clerk-child' | 'slow-child', args: readonly string[]) {
    const script = fileURLToPath(new URL(`./${program}.js`, import.meta.url));
    this.process = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.process.stderr.setEncoding('utf8').on('data', (words: string) => (this.#errors += words));
    this.#ended = once(this.process, 'close');
  }

  /** The next line that it says. */
  async says(): Promise<{ readonly began?: boolean; readonly state?: string; readonly code?: string }> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`the child ended: ${this.#errors}`);
    return JSON.parse(line.value) as { readonly state?: string };
  }

  /** Lets its step end. */
  tell(): void {
    this.process.stdin.write('go\n');
  }

  /** How it ended: its signal, or its exit code. */
  async end(): Promise<string> {
    await this.#ended;
    const { signalCode, exitCode } = this.process;
    if (exitCode !== null && exitCode !== 0) throw new Error(this.#errors);
    return signalCode ?? `code ${exitCode}`;
  }

  kill(): void {
    this.process.kill('SIGKILL');
  }
}
