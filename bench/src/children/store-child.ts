import { existsSync, readFileSync } from 'node:fs';
import { openLedger } from 'turnkeep';
import { timed } from '../measure/figures.ts';
import { LONG, NAMESPACE } from '../measure/library.ts';
import { changesOf, pooledTurn } from '../measure/turn.ts';

/** What a fresh process found: times in milliseconds, resident memory in MiB. */
export interface Opening {
  readonly emptyMiB: number;
  readonly openMs: number;
  readonly firstReadMs: number;
  readonly restMiB: number;
  /** The most that it held until its first readings were done. */
  readonly openedMiB: number;
  /** The most that it held while 64 committers were at work. */
  readonly loadMiB: number;
}

const COMMITTERS = 64;

/** Opens a store, reads, and commits for a while: `store-child URL LOAD_MS`. */
const [url = '', loadMs = '0'] = process.argv.slice(2);
const residentMiB = () => process.memoryUsage.rss() / 2 ** 20;
/** By the process's own page tables where the system tells: what it says of the process's use begins with its parent's. */
const mostMiB = () => {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS) / 2 ** 10;
};

const emptyMiB = residentMiB();
const start = performance.now();
const ledger = await openLedger(url);
const openMs = performance.now() - start;
const long = ledger.namespace(NAMESPACE).conversation(LONG);
const firstReadMs = await timed(async () => ((await long.exists()) ? long.window(8) : undefined));
const restMiB = residentMiB();
const openedMiB = mostMiB();
const end = performance.now() + Number(loadMs);
await Promise.all(
  Array.from({ length: COMMITTERS }, async (_, at) => {
    const talk = ledger.namespace('load').conversation(`talk-${process.pid}-${at}`);
    for (let number = 0; performance.now() < end; number++) await talk.commit(changesOf(pooledTurn(number)));
  }),
);
const opening: Opening = { emptyMiB, openMs, firstReadMs, restMiB, openedMiB, loadMiB: mostMiB() };
await ledger.close();
process.stdout.write(JSON.stringify(opening));
