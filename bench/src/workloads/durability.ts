import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inChild } from '../children/child.ts';
import type { SyncCount } from '../children/durability-child.ts';
import { CONTENDERS } from '../contenders/index.ts';
import type { Contender } from '../contenders/contender.ts';
import { PostgresPlace } from '../contenders/postgres-place.ts';
import type { Context, Workload } from '../workload.ts';

/** In a child's source folder, since nothing compiles it with the rest. */
const SOURCE = fileURLToPath(new URL('../../src/children/count-syncs.c', import.meta.url));

/** How durable everybody really is: syncs are counted at the C library, settings are read back after a write. */
export const durability: Workload = {
  name: 'durability',
  measures: 'syncs for each turn, counted at the C library, and what the store says of its settings',
  async run(context) {
    const counter = counterIn(context);
    if (counter === undefined) return;
    for (const contender of await context.contenders(CONTENDERS.map(({ name }) => name)))
      await measure(context, contender, counter);
  },
};

/** The counter, compiled; without a C compiler there is none. */
function counterIn(context: Context): string | undefined {
  const library = join(context.folder(), 'count-syncs.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'], { stdio: 'pipe' });
    return library;
  } catch (error) {
    context.note(`syncs were not counted: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    return undefined;
  }
}

async function measure(context: Context, contender: Contender, counter: string): Promise<void> {
  const { name, survives, setup, writes } = contender;
  const folder = context.folder();
  const server = name.endsWith('postgres') ? await PostgresPlace.of(folder) : undefined;
  const before = await serverSyncs(server);
  const count = await inChild<SyncCount>('durability-child', [name, folder], {
    LD_PRELOAD: counter,
    TURNKEEP_SYNCS: join(folder, 'syncs'),
    ...(server && { TURNKEEP_TEST_POSTGRES_URL: server.server }),
  });
  if (server) {
    const all = ((await serverSyncs(server)) - before) / (100 + 64 * 4);
    context.figure({ what: 'syncs a turn, all in all', who: name, unit: 'syncs', samples: [all] });
  } else {
    context.figure({ what: 'syncs a turn, alone', who: name, unit: 'syncs', samples: [count.alone] });
    context.figure({ what: 'syncs a turn, 64 committers', who: name, unit: 'syncs', samples: [count.together] });
  }
  context.note(
    `${name} (${setup}; survives ${survives === 'nothing' ? 'nothing' : `a ${survives}`}): ${count.says}; writes ${writes}`,
  );
}

/** Syncs of the write-ahead log so far, by all of the server; its processes report as their sessions end. */
async function serverSyncs(server: PostgresPlace | undefined): Promise<number> {
  if (!server) return 0;
  const sum = `SELECT coalesce(sum(fsyncs), 0)::float8 AS count FROM pg_stat_io WHERE object = 'wal'`;
  const [row] = await server.query<{ count: number }>(sum);
  return row?.count ?? 0;
}
