import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Ledger } from 'turnkeep';
import { openSqlite } from 'turnkeep/sqlite';
import { bytesIn } from '../measure/folder.ts';
import { timed } from '../measure/figures.ts';
import { TURN_TEXT, changesOf, pooledTurn } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const COMMITTERS = 64;

/** What 64 committers do to the program that they run in, and what their turns take on the disk. */
export const load: Workload = {
  name: 'load',
  measures: '64 committers on SQLite and the journal: latency, delay of the event loop, bytes on the disk',
  async run(context) {
    for (const backend of ['sqlite', 'journal'] as const) await measure(context, backend);
  },
};

async function measure(context: Context, backend: 'sqlite' | 'journal'): Promise<void> {
  const folder = context.folder();
  const file = join(folder, 'store');
  const ledger = await openLedger(`${backend}:${file}`);
  const start = performance.now();
  const { times, turns, delayMs } = await underLoad(ledger, context);
  await ledger.backend.catchUp();
  const perSecond = (turns * 1_000) / (performance.now() - start);
  await ledger.close();
  if (backend === 'sqlite') await buildIndex(file);
  const who = `turnkeep ${backend}`;
  const perText = bytesIn(folder) / (turns * TURN_TEXT);
  context.figure({ what: 'a turn of 64 committers', who, unit: 'ms', samples: times });
  context.figure({ what: 'and the index after them', who, unit: 'turns/s', samples: [perSecond] });
  context.figure({ what: 'event loop late at p99', who, unit: 'ms', samples: [delayMs] });
  context.figure({ what: 'bytes a byte of text', who, unit: 'times', samples: [perText] });
  if (backend !== 'sqlite') return;
  context.bar({
    name: 'sqlite-bytes',
    says: 'all files with the search index built, a byte of message text',
    ratio: perText,
    limit: { atMost: 2.5 },
  });
  context.bar({
    name: 'sqlite-event-loop',
    says: 'milliseconds that the event loop of 64 committers is late at the 99th percentile, of 20',
    ratio: delayMs / 20,
    limit: { atMost: 1 },
  });
}

async function underLoad(ledger: Ledger, context: Context) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const over = new AbortController();
  let times: number[] = [];
  let turns = 0;
  const committing = Array.from({ length: COMMITTERS }, async (_, at) => {
    const talk = ledger.namespace('bench').conversation(`talk-${at}`);
    for (let number = 0; !over.signal.aborted; number++) {
      const changes = changesOf(pooledTurn(number));
      times.push(await timed(() => talk.commit(changes)));
      turns += 1;
    }
  });
  await pause(context.pick(3_000, 300));
  times = [];
  delay.enable();
  await pause(context.pick(10_000, 1_000));
  delay.disable();
  over.abort();
  await Promise.all(committing);
  return { times, turns, delayMs: delay.percentile(99) / 1e6 };
}

async function buildIndex(file: string): Promise<void> {
  const store = await openSqlite(file);
  await store.rebuild();
  await store.close();
}
