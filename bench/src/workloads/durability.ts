import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inChild } from '../children/child.ts';
import { COUNTED } from '../children/sync-count.ts';
import type { SyncCount } from '../children/sync-count.ts';
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
  onlyWhole: true,
  async run(context) {
    const counter = counterIn(context);
    if (counter === undefined) return;
    const contenders = await context.contenders(CONTENDERS.map(({ name }) => name));
    const inFiles = contenders.filter((contender) => !isOnServer(contender));
    // A count does not mind the company.
    const counts = await Promise.all(inFiles.map((contender) => countOf(contender, context.folder(), counter)));
    for (const [at, { name }] of inFiles.entries()) {
      context.figure({
        what: 'syncs a turn, alone',
        who: name,
        unit: 'syncs',
        samples: [counts[at]?.alone ?? Number.NaN],
      });
    }
    for (const [at, { name }] of inFiles.entries()) {
      const samples = [counts[at]?.together ?? Number.NaN];
      context.figure({ what: 'syncs a turn, 64 committers', who: name, unit: 'syncs', samples });
    }
    for (const [at, contender] of inFiles.entries()) describe(context, contender, counts[at]?.says ?? '');
    for (const contender of contenders.filter(isOnServer)) await onServer(context, contender, counter);
  },
};

function isOnServer({ name }: Contender): boolean {
  return name.endsWith('postgres');
}

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

async function countOf(
  { name }: Contender,
  folder: string,
  counter: string,
  environment: { readonly [name: string]: string } = {},
): Promise<SyncCount> {
  const counting = { LD_PRELOAD: counter, TURNKEEP_SYNCS: join(folder, 'syncs') };
  return inChild<SyncCount>('durability-child', [name, folder], { ...environment, ...counting });
}

/** The server syncs in processes of its own, and says how often. */
async function onServer(context: Context, contender: Contender, counter: string): Promise<void> {
  const folder = context.folder();
  const place = await PostgresPlace.of(folder);
  const before = await serverSyncs(place);
  const { says } = await countOf(contender, folder, counter, { TURNKEEP_TEST_POSTGRES_URL: place.server });
  const samples = [((await serverSyncs(place)) - before) / (COUNTED.alone + COUNTED.committers * COUNTED.turns)];
  context.figure({ what: 'syncs a turn, alone and 64', who: contender.name, unit: 'syncs', samples });
  describe(context, contender, says);
}

function describe(context: Context, { name, setup, survives, writes }: Contender, says: string): void {
  const what = survives === 'nothing' ? 'nothing' : `a ${survives}`;
  context.note(`${name} (${setup}; survives ${what}): ${says}; writes ${writes}`);
}

/** Syncs of the write-ahead log so far, by all of the server; its processes report as their sessions end. */
async function serverSyncs(server: PostgresPlace): Promise<number> {
  const sum = `SELECT coalesce(sum(fsyncs), 0)::float8 AS count FROM pg_stat_io WHERE object = 'wal'`;
  const [row] = await server.query<{ count: number }>(sum);
  return row?.count ?? 0;
}
