import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openLedger } from 'turnkeep';
import { startPostgres } from 'turnkeep/testing';
import type { PostgresServer } from 'turnkeep/testing';
import { seeded } from '../harness.ts';
import type { CrashOptions, CrashReport } from '../harness.ts';
import { checkHistory, hear, nothingSaid } from './history.ts';
import type { Said } from './history.ts';
import { Proxy } from './proxy.ts';

/**
 * Kill runs: a child process with sixteen writers commits to a server of its own through a proxy, and in the middle of it the
 * child is killed, the server stops at once and starts again, or connections are cut, before a commit and between a commit
 * and its answer. The writers must go on afterwards. After some runs the whole history is checked against what they said.
 */
const CHILD = fileURLToPath(new URL('./writer-child.js', import.meta.url));
const RUNS_PER_STORE = 25;
const FAULTS = ['client', 'server', 'cut', 'before_commit', 'before_answer'] as const;
/** Answers to wait for before a fault, at most; and after it, to see that the writers go on. */
const ANSWERS_BEFORE = 60;
const ANSWERS_AFTER = 3;
const GO_ON_MS = 60_000;

export async function killRuns({ runs, seed, say }: CrashOptions): Promise<CrashReport> {
  const random = seeded(seed);
  const faults: string[] = [];
  const counts = new Map<string, number>();
  let passed = 0;
  for (let run = 0; run < runs; run += RUNS_PER_STORE) {
    const length = Math.min(RUNS_PER_STORE, runs - run);
    const store = await CrashStore.open();
    try {
      for (let at = 0; at < length; at++) {
        const fault = FAULTS[random(FAULTS.length)] ?? 'cut';
        counts.set(fault, (counts.get(fault) ?? 0) + 1);
        await store.suffer(fault, 1 + random(ANSWERS_BEFORE));
      }
      const found = await store.check();
      faults.push(...found.map((one) => `runs ${run} to ${run + length - 1}, seed ${seed}: ${one}`));
      if (found.length === 0) passed += length;
      say(`${run + length} of ${runs} runs; ${store.summary}`);
    } finally {
      await store.end();
    }
  }
  say([...counts].map(([fault, count]) => `${fault}: ${count}`).join(', '));
  return { passed, faults };
}

/** A server, a proxy before it, and the writers that work through it. */
class CrashStore {
  readonly #server: PostgresServer;
  readonly #proxy: Proxy;
  readonly #said: Said = nothingSaid();
  #child: ChildProcess;
  #children = 0;

  private constructor(server: PostgresServer, proxy: Proxy) {
    this.#server = server;
    this.#proxy = proxy;
    this.#child = this.#start();
  }

  static async open(): Promise<CrashStore> {
    const server = await startPostgres();
    return new CrashStore(server, await Proxy.open(server.url));
  }

  get summary(): string {
    const { sent, acknowledged, failed } = this.#said;
    return `${sent.size} commits sent, ${acknowledged.size} answered, ${failed.size} failed, ${this.#proxy.cuts} cut at COMMIT`;
  }

  /** Lets the writers work for so many answers, then the fault happens, then they go on. */
  async suffer(fault: (typeof FAULTS)[number], answers: number): Promise<void> {
    await this.#answers(answers);
    await this.#happen(fault);
    await this.#answers(ANSWERS_AFTER);
  }

  async check(): Promise<readonly string[]> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    const ledger = await openLedger(this.#server.url);
    try {
      return await checkHistory(ledger, this.#said);
    } finally {
      await ledger.close();
    }
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#proxy.close();
    await this.#server.destroy();
  }

  async #happen(fault: (typeof FAULTS)[number]): Promise<void> {
    switch (fault) {
      case 'client':
        this.#child.kill('SIGKILL');
        await once(this.#child, 'close');
        this.#child = this.#start();
        return;
      case 'server':
        await this.#server.stop('immediate');
        await this.#server.start();
        return;
      case 'cut':
        this.#proxy.cut('now');
        return;
      case 'before_commit':
      case 'before_answer':
        this.#proxy.cut(fault);
    }
  }

  #start(): ChildProcess {
    this.#children += 1;
    const child = spawn(process.execPath, [CHILD, this.#proxy.url, `p${this.#children}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => hear(this.#said, line));
    child.stdin.on('error', () => undefined);
    return child;
  }

  async #answers(count: number): Promise<void> {
    const target = this.#said.acknowledged.size + count;
    const end = performance.now() + GO_ON_MS;
    while (this.#said.acknowledged.size < target) {
      if (performance.now() > end) throw new Error(`the writers do not go on: ${this.summary}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
  }
}
