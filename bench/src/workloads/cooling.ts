import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Ledger, NewMessage } from 'turnkeep';
import { PostgresPlace } from '../contenders/postgres-place.ts';
import { median, timed } from '../measure/figures.ts';
import { bytesIn } from '../measure/folder.ts';
import { pieces } from '../measure/prose.ts';
import type { Context, Workload } from '../workload.ts';

const MESSAGE_CHARACTERS = 1_000;
const MESSAGES_A_COMMIT = 20;
/** Maintenance that often, as a store at work has it: what cooling frees is there for what comes next. */
const COMMITS_A_MAINTENANCE = 50;
/** What is derived to be searched weighs apart. */
const SEARCH_FILES = /-search|\.words$/;

type Backend = 'sqlite' | 'journal' | 'postgres';

/** A long conversation of English and code whose older messages cool while it grows. */
export const cooling: Workload = {
  name: 'cooling',
  measures: 'cooled messages: bytes on the disk by bytes of their JSON, time to cool, time to read one by its id',
  onlyWhole: true,
  async run(context) {
    for (const backend of ['sqlite', 'journal', 'postgres'] as const) await measure(context, backend);
  },
};

/** A store that grows, is closed and weighed, and grows on. */
class Growing {
  readonly ids: string[] = [];
  readonly maintenanceMs: number[] = [];
  jsonBytes = 0;
  readonly #texts = pieces(MESSAGE_CHARACTERS);
  readonly #open: () => Promise<Ledger>;

  constructor(open: () => Promise<Ledger>) {
    this.#open = open;
  }

  async grow(messages: number): Promise<void> {
    const ledger = await this.#open();
    const talk = ledger.namespace('bench').conversation('talk');
    for (let commit = 1; commit * MESSAGES_A_COMMIT <= messages; commit++) {
      await talk.record({
        origin: 'bench',
        messages: Array.from({ length: MESSAGES_A_COMMIT }, () => this.#message()),
      });
      if (commit % COMMITS_A_MAINTENANCE === 0) this.maintenanceMs.push(await timed(() => maintain(ledger)));
    }
    await ledger.close();
  }

  /** Times of readings by id, all over the conversation, by the tier that each message was in. */
  async readings(count: number): Promise<ReadonlyMap<string, readonly number[]>> {
    const ledger = await this.#open();
    const talk = ledger.namespace('bench').conversation('talk');
    const times = new Map<string, number[]>();
    for (let at = 0; at < count; at++) {
      const id = this.ids[(at * 7_919) % this.ids.length] ?? '';
      const start = performance.now();
      const found = await talk.message(id);
      const took = performance.now() - start;
      const tier = found.status === 'found_verified' ? found.message.tier : 'damaged';
      times.set(tier, [...(times.get(tier) ?? []), took]);
    }
    await ledger.close();
    return times;
  }

  #message(): NewMessage {
    const text = this.#texts.next().value;
    const messageId = `message-${this.ids.length}`;
    const role = this.ids.length % 2 === 0 ? 'user' : 'assistant';
    const message: NewMessage = { messageId, role, parts: [{ type: 'text', text }] };
    this.ids.push(messageId);
    this.jsonBytes += Buffer.byteLength(JSON.stringify(message));
    return message;
  }
}

async function measure(context: Context, backend: Backend): Promise<void> {
  const folder = context.folder();
  const place = backend === 'postgres' ? await PostgresPlace.of(folder) : undefined;
  const weigh = async (leftOut?: RegExp) => (place ? place.bytes() : bytesIn(folder, leftOut));
  const store = new Growing(async () => openLedger(place ? place.url() : `${backend}:${join(folder, 'store')}`));
  const messages = context.pick(20_000, 2_000);
  await store.grow(messages / 2);
  const half = { json: store.jsonBytes, bytes: await weigh(), withoutSearch: await weigh(SEARCH_FILES) };
  await store.grow(messages / 2);
  const json = store.jsonBytes - half.json;
  const who = `turnkeep ${backend}`;
  context.figure({ what: 'maintenance of 1,000 messages', who, unit: 'ms', samples: store.maintenanceMs });
  const stored = ((await weigh(SEARCH_FILES)) - half.withoutSearch) / json;
  context.figure({ what: 'added bytes a byte of JSON', who, unit: 'times', samples: [stored] });
  const all = ((await weigh()) - half.bytes) / json;
  context.figure({ what: 'the same with the search index', who, unit: 'times', samples: [all] });
  const times = await store.readings(context.pick(500, 100));
  for (const [tier, samples] of times)
    context.figure({ what: `a ${tier} message by its id`, who, unit: 'ms', samples });
  report(context, backend, stored, times.get('cool'));
}

/** Cools by hand what may cool; a store does so by itself as it gets to it. */
async function maintain(ledger: Ledger): Promise<void> {
  await ledger.maintain();
  await ledger.backend.cool('bench');
}

function report(context: Context, backend: Backend, stored: number, cool: readonly number[] | undefined): void {
  if (!cool) {
    context.note(`nothing was cool on ${backend} after maintenance: there is no bar to hold`);
    return;
  }
  context.bar({
    name: `${backend}-cool-bytes`,
    says: `bytes that a growing store adds, its older messages cooled, by bytes of their JSON, on the ${backend} backend`,
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
