import { CLAUSES } from './case.ts';
import type { ConformanceCase, Clause } from './case.ts';
import { CASES } from './cases.ts';
import { MODES, Session, Store } from './store.ts';
import type { Mode } from './store.ts';
import { ConformanceFailure } from './check.ts';
import type { ConformanceTarget } from './target.ts';

const CASE_TIMEOUT_MS = 120_000;

/** How one case ended in one mode. */
export interface ConformanceResult {
  readonly clause: Clause;
  readonly name: string;
  readonly mode: Mode;
  readonly status: 'passed' | 'failed' | 'not_run';
  /** Why it failed, or why it does not apply to this backend. */
  readonly reason?: string | undefined;
  /** What a failed case threw. */
  readonly error?: unknown;
}

export interface ConformanceOptions {
  /** A clause (`S4`), or a text that a clause's title or a case's name contains. Absent: everything. */
  readonly filter?: string | undefined;
  readonly cases?: readonly ConformanceCase[] | undefined;
  readonly modes?: readonly Mode[] | undefined;
  /** How long a case may take before it has failed; two minutes when absent. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Runs the suite on a backend: every case on the handle that wrote, on a second handle, and after a reopen. Nothing is
 * left out in silence: what does not apply is a result of its own, with the reason.
 */
export async function* runConformance(
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): AsyncGenerator<ConformanceResult> {
  const cases = (options.cases ?? CASES).filter((one) => isChosen(one, options.filter));
  for (const mode of options.modes ?? MODES) {
    const stores = new Stores(target, mode);
    try {
      for (const one of cases) yield await resultOf(one, target, stores, options.timeoutMs ?? CASE_TIMEOUT_MS);
    } finally {
      await stores.end();
    }
  }
}

function isChosen({ clause, name }: ConformanceCase, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  if (Object.hasOwn(CLAUSES, filter.toUpperCase())) return clause === filter.toUpperCase();
  const wanted = filter.toLowerCase();
  return [CLAUSES[clause], name].some((text) => text.toLowerCase().includes(wanted));
}

async function resultOf(
  one: ConformanceCase,
  target: ConformanceTarget,
  stores: Stores,
  timeoutMs: number,
): Promise<ConformanceResult> {
  const { clause, name } = one;
  const result = { clause, name, mode: stores.mode };
  const obstacle = obstacleTo(one, target, stores.mode);
  if (obstacle !== undefined) return { ...result, status: 'not_run', reason: obstacle };
  try {
    await within(
      timeoutMs,
      one.run(async () => stores.open(one.alone === true)),
    );
    return { ...result, status: 'passed' };
  } catch (error) {
    await stores.discard();
    return { ...result, status: 'failed', reason: error instanceof Error ? error.message : String(error), error };
  } finally {
    await stores.endOfCase();
  }
}

/** A backend that never answers has failed as well. */
async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new ConformanceFailure(`it did not end within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function obstacleTo(one: ConformanceCase, target: ConformanceTarget, mode: Mode): string | undefined {
  if (mode === 'reopen' && !target.durable) return 'a store that is not durable ends with its handle';
  if (one.needs === 'durable' && !target.durable) return 'the store is not durable';
  const needsProcesses = one.needs === 'processes' || one.needs === 'writing_processes';
  if (needsProcesses && !target.spawn) return 'other processes cannot open the store';
  if (one.needs === 'writing_processes' && target.oneWriter) return 'the store has one writer at a time';
  return undefined;
}

/** The stores of one mode. Cases share one, each in a namespace of its own, until a case fails. */
class Stores {
  readonly mode: Mode;
  readonly #target: ConformanceTarget;
  #shared: Session | undefined;
  #own: Session[] = [];
  #count = 0;

  constructor(target: ConformanceTarget, mode: Mode) {
    this.#target = target;
    this.mode = mode;
  }

  async open(alone: boolean): Promise<Store> {
    const session = alone ? await this.#openAlone() : (this.#shared ??= await this.#create());
    this.#count += 1;
    return new Store(session, this.mode, `case-${this.#count}`);
  }

  /** After a failure nobody knows what the store holds: the next case gets another one. */
  async discard(): Promise<void> {
    const session = this.#shared;
    this.#shared = undefined;
    await session?.destroy().catch(() => undefined);
  }

  async endOfCase(): Promise<void> {
    const own = this.#own;
    this.#own = [];
    for (const session of own) await session.destroy().catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.endOfCase();
    await this.#shared?.destroy();
    this.#shared = undefined;
  }

  async #openAlone(): Promise<Session> {
    const session = await this.#create();
    this.#own.push(session);
    return session;
  }

  async #create(): Promise<Session> {
    return new Session(this.#target, await this.#target.create());
  }
}
