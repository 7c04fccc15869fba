import { openLedger } from 'turnkeep';
import { median, timed } from '../measure/figures.ts';
import { NAMESPACE, PLANTED, libraryOf } from '../measure/library.ts';
import type { Library } from '../measure/library.ts';
import type { Context, Workload } from '../workload.ts';

interface Query {
  readonly text: string;
  readonly what: string;
  /** A scan goes through nearly everything until it has a page. */
  readonly isRare: boolean;
}

/** What was planted, words of very many messages, and first of all a text that is nowhere: it tells an index from a scan. */
const QUERIES: readonly Query[] = [
  { text: 'jumps over no dog', what: 'what is nowhere', isRare: true },
  ...PLANTED.map(([text, what]) => ({ text, what, isRare: what !== 'a common word' })),
  { text: 'lunch', what: 'a very common word', isRare: false },
  { text: 'ox', what: 'two letters within words', isRare: false },
];

const SCAN_MS = 2_000;

/** A scan is not repeated as often as an answer of an index. */
function repeatsAfter(firstMs: number, context: Context): number {
  if (firstMs > SCAN_MS) return 0;
  return firstMs > 200 ? 3 : context.pick(60, 20);
}

/** The first page of 20 hits, newest first, each hit read and checked. */
export const searching: Workload = {
  name: 'searching',
  measures: 'the first page of a search in a store of 1,000,000 messages: rare, common, short, Chinese, emoji',
  async run(context) {
    for (const backend of ['sqlite', 'journal'] as const) await measure(context, await libraryOf(context, backend));
  },
};

async function measure(context: Context, library: Library): Promise<void> {
  const ledger = await openLedger(library.url);
  const namespace = ledger.namespace(NAMESPACE);
  const who = `turnkeep ${library.backend}`;
  context.figure({ what: 'index brought up to date', who, unit: 'ms', samples: [library.indexedMs] });
  let scans = false;
  for (const { text, what, isRare } of QUERIES) {
    if (scans && isRare) continue;
    let found = 0;
    const search = async () => (found = (await namespace.search(text, { limit: 20 })).hits.length);
    const first = await timed(search);
    scans ||= first > SCAN_MS;
    const times: number[] = [];
    for (let left = repeatsAfter(first, context); left > 0; left--) times.push(await timed(search));
    context.figure({ what, who, unit: 'ms', samples: times.length > 0 ? times : [first] });
    if (what === 'what is nowhere') nowhereBar(context, library, median(times.length > 0 ? times : [first]));
    context.note(`${what}: ${found === 0 ? 'no' : found >= 20 ? '20 or more' : found} hits in the first page`);
  }
  if (scans) context.note(`${who} scans: what else is rare takes as long as what is nowhere, and was not asked`);
  await ledger.close();
}

/** In a small library most of it is the last stretch, which no filter covers: only a full run tells. */
function nowhereBar(context: Context, { backend, messages }: Library, ms: number): void {
  if (messages < 1_000_000) return;
  context.bar({
    name: `${backend}-search-nowhere`,
    says: `milliseconds until a search of 1,000,000 messages finds nothing (median), on the ${backend} backend, of 100`,
    ratio: ms / 100,
    limit: { atMost: 1 },
  });
}
