import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inChild } from '../children/child.ts';
import type { Opening } from '../children/store-child.ts';
import { libraryOf } from '../measure/library.ts';
import type { Context, Workload } from '../workload.ts';

const WRITER = fileURLToPath(new URL('../children/writer-child.js', import.meta.url));
const SECONDS_OF_OPENING = 3;
const MIB_OF_OPENING = 400;

/** A fresh process opens a large store, and one whose writer was killed; what it holds in memory, idle and at work. */
export const opening: Workload = {
  name: 'opening',
  measures: 'opening 1,000,000 messages in a fresh process, recovery after a kill, memory at rest and under load',
  onlyWhole: true,
  async run(context) {
    for (const backend of ['sqlite', 'journal'] as const) {
      await large(context, backend);
      await killed(context, backend);
    }
  },
};

async function large(context: Context, backend: 'sqlite' | 'journal'): Promise<void> {
  const { url, messages } = await libraryOf(context, backend);
  const who = `turnkeep ${backend}`;
  const found: Opening[] = [];
  for (let at = 0; at < context.pick(5, 1); at++)
    found.push(await inChild<Opening>('store-child', [url, String(context.pick(5_000, 1_000))]));
  const of = (field: keyof Opening) => found.map((one) => one[field]);
  context.figure({ what: 'opened', who, unit: 'ms', samples: of('openMs') });
  context.figure({ what: 'first window of 8', who, unit: 'ms', samples: of('firstReadMs') });
  context.figure({ what: 'memory of the bare process', who, unit: 'MiB', samples: of('emptyMiB') });
  context.figure({ what: 'memory at rest', who, unit: 'MiB', samples: of('restMiB') });
  context.figure({ what: 'most memory, 64 committers', who, unit: 'MiB', samples: of('loadMiB') });
  if (backend !== 'journal') return;
  const says = `with ${messages.toLocaleString('en-US')} messages on the journal`;
  context.bar({
    name: 'journal-open-time',
    says: `milliseconds to open and read once, ${says}, of ${SECONDS_OF_OPENING * 1_000}`,
    ratio: Math.max(...found.map(({ openMs, firstReadMs }) => openMs + firstReadMs)) / (SECONDS_OF_OPENING * 1_000),
    limit: { atMost: 1 },
  });
  context.bar({
    name: 'journal-open-memory',
    says: `MiB at most to open and read once, ${says}, of ${MIB_OF_OPENING}`,
    ratio: Math.max(...of('openedMiB')) / MIB_OF_OPENING,
    limit: { atMost: 1 },
  });
}

/** Opening after SIGKILL in the middle of commits. */
async function killed(context: Context, backend: 'sqlite' | 'journal'): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < context.pick(5, 1); at++) {
    const url = `${backend}:${join(context.folder(), 'store')}`;
    const writer = spawn(process.execPath, [WRITER, url, String(context.pick(20_000, 1_000))]);
    await once(writer.stdout, 'data');
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    times.push((await inChild<Opening>('store-child', [url, '0'])).openMs);
  }
  const what = `opened after a kill at ${context.pick('20,000', '1,000')} turns`;
  context.figure({ what, who: `turnkeep ${backend}`, unit: 'ms', samples: times });
}
