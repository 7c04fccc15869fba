import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { errorFromData } from '../core/errors.ts';
import type { Receipt } from '../core/receipt.ts';
import type { FromChild, ToChild } from './child-protocol.ts';
import type { Session } from './store.ts';

type Question = ToChild extends infer Asked ? (Asked extends ToChild ? Omit<Asked, 'id'> : never) : never;

/** Another process with the case's store open. */
export class ChildProcess {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answered: FromChild) => void>();
  #count = 0;
  #rest = '';
  #ended: string | undefined;

  constructor() {
    const script = fileURLToPath(new URL('./child.js', import.meta.url));
    this.#process = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    let errors = '';
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    this.#process.on('close', () => this.#end(errors || 'the child process ended'));
  }

  /** Starts a process and opens the session's store in it. */
  static async on(session: Session): Promise<ChildProcess> {
    const child = new ChildProcess();
    const { target, location } = session;
    if (!target.spawn) throw new Error(`${target.name} cannot be opened by another process`);
    await child.#ask({ ask: 'open', target: target.spawn, location });
    return child;
  }

  async commit(commit: object): Promise<Receipt> {
    return (await this.#ask({ ask: 'commit', commit })).receipt as Receipt;
  }

  /** The versions of the first events of a namespace, once they are there. */
  async watch(namespace: string, count: number): Promise<readonly number[]> {
    return (await this.#ask({ ask: 'watch', namespace, count })).versions ?? [];
  }

  async close(): Promise<void> {
    await this.#ask({ ask: 'close' });
    this.#process.stdin.end();
    await this.#gone();
  }

  /** Ends the process at once, as a crash does. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#gone();
  }

  async #gone(): Promise<void> {
    if (this.#ended !== undefined) return;
    await new Promise((resolve) => this.#process.once('close', resolve));
  }

  async #ask(question: Question): Promise<FromChild> {
    const id = (this.#count += 1);
    const answered = await new Promise<FromChild>((resolve) => {
      if (this.#ended !== undefined) return resolve({ id, fault: this.#ended });
      this.#waiting.set(id, resolve);
      this.#process.stdin.write(`${JSON.stringify({ id, ...question })}\n`);
    });
    if (answered.error) throw errorFromData(answered.error);
    if (answered.fault !== undefined) throw new Error(answered.fault);
    return answered;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const answered = JSON.parse(line) as FromChild;
      this.#waiting.get(answered.id)?.(answered);
      this.#waiting.delete(answered.id);
    }
  }

  #end(reason: string): void {
    this.#ended = reason;
    for (const [id, resolve] of this.#waiting) resolve({ id, fault: reason });
    this.#waiting.clear();
  }
}

/** Runs `work` with as many processes on the session's store, and ends them whatever happens. */
export async function withProcesses<Result>(
  session: Session,
  count: number,
  work: (children: readonly ChildProcess[]) => Promise<Result>,
): Promise<Result> {
  const children = await Promise.all(Array.from({ length: count }, async () => ChildProcess.on(session)));
  try {
    return await work(children);
  } finally {
    for (const child of children) await child.kill();
  }
}
