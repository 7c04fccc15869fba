import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Conversation, Ledger } from 'turnkeep';
import { PostgresPlace } from '../contenders/postgres-place.ts';
import { median, timed } from '../measure/figures.ts';
import { bytesIn } from '../measure/folder.ts';
import { pieces } from '../measure/prose.ts';
import type { Context, Workload } from '../workload.ts';

const MESSAGE_CHARACTERS = 1_000;
const MESSAGES_A_COMMIT = 20;
/** Maintenance that often, as a store at work has it: what cooling frees is there for what comes next. */
const COMMITS_A_MAINTENANCE = 50;

type Backend = 'sqlite' | 'journal' | 'postgres';

/** A long conversation of English and code whose older messages cool while it grows. */
export const cooling: Workload = {
  name: 'cooling',
  measures: 'cooled messages: bytes on the disk by bytes of their JSON, time to cool, time to read one by its id',
  async run(context) {
    for (const backend of ['sqlite', 'journal', 'postgres'] as const) await measure(context, backend);
  },
};

interface Grown {
  readonly ids: readonly string[];
  readonly jsonBytes: number;
  readonly maintenanceMs: readonly number[];
}

async function measure(context: Context, backend: Backend): Promise<void> {
  const folder = context.folder();
  const place = backend === 'postgres' ? await PostgresPlace.of(folder) : undefined;
  const ledger = await openLedger(place ? place.url() : `${backend}:${join(folder, 'store')}`);
  const talk = ledger.namespace('bench').conversation('talk');
  const grown = await grow(ledger, talk, context.pick(20_000, 2_000));
  const who = `turnkeep ${backend}`;
  context.figure({ what: 'maintenance of 1,000 messages', who, unit: 'ms', samples: grown.maintenanceMs });
  const times = await readings(talk, grown.ids, context.pick(500, 100));
  for (const [tier, samples] of times)
    context.figure({ what: `a ${tier} message by its id`, who, unit: 'ms', samples });
  await ledger.close();
  const stored = (place ? await place.bytes() : bytesIn(folder)) / grown.jsonBytes;
  context.figure({ what: 'bytes a byte of JSON', who, unit: 'times', samples: [stored] });
  report(context, backend, stored, times.get('cool'));
}

async function grow(ledger: Ledger, talk: Conversation, messages: number): Promise<Grown> {
  const texts = pieces(MESSAGE_CHARACTERS);
  const ids: string[] = [];
  const maintenanceMs: number[] = [];
  let jsonBytes = 0;
  for (let commit = 0; commit * MESSAGES_A_COMMIT < messages; commit++) {
    const said = Array.from({ length: MESSAGES_A_COMMIT }, (_, at) => ({
      messageId: `message-${commit}-${at}`,
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ type: 'text' as const, text: texts.next().value as string }], // the pieces have no end
    }));
    ids.push(...said.map(({ messageId }) => messageId));
    jsonBytes += said.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
    await talk.record({ origin: 'bench', messages: said });
    if ((commit + 1) % COMMITS_A_MAINTENANCE === 0) maintenanceMs.push(await timed(async () => ledger.maintain()));
  }
  return { ids, jsonBytes, maintenanceMs };
}

/** Times of readings by id, all over the conversation, by the tier that each message was in. */
async function readings(
  talk: Conversation,
  ids: readonly string[],
  count: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>();
  for (let at = 0; at < count; at++) {
    const id = ids[(at * 7_919) % ids.length] ?? '';
    const start = performance.now();
    const found = await talk.message(id);
    const took = performance.now() - start;
    const tier = found.status === 'found_verified' ? found.message.tier : 'damaged';
    times.set(tier, [...(times.get(tier) ?? []), took]);
  }
  return times;
}

function report(context: Context, backend: Backend, stored: number, cool: readonly number[] | undefined): void {
  if (!cool) {
    context.note(`nothing was cool on ${backend} after maintenance: there is no bar to hold`);
    return;
  }
  context.bar({
    name: `${backend}-cool-bytes`,
    says: `bytes of the whole store by bytes of its messages' JSON, on the ${backend} backend`,
    ratio: stored,
    limit: { atMost: 0.4 },
  });
  context.bar({
    name: `${backend}-cool-read`,
    says: `milliseconds to read a cool message by its id (median), on the ${backend} backend, of 1`,
    ratio: median(cool),
    limit: { atMost: 1 },
  });
}
