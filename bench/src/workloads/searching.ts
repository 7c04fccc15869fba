import { openLedger } from 'turnkeep';
import { timed } from '../measure/figures.ts';
import { NAMESPACE, PLANTED, libraryOf } from '../measure/library.ts';
import type { Library } from '../measure/library.ts';
import type { Context, Workload } from '../workload.ts';

/** Beside what was planted: words of very many messages, and a text that is nowhere. */
const QUERIES: readonly (readonly [text: string, what: string])[] = [
  ...PLANTED.map(([text, what]) => [text, what] as const),
  ['lunch', 'a very common word'],
  ['ox', 'two letters within words'],
  ['jumps over no dog', 'what is nowhere'],
];

/** A scan is not repeated as often as an answer of an index. */
function repeatsAfter(firstMs: number, context: Context): number {
  if (firstMs > 2_000) return 0;
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
  for (const [text, what] of QUERIES) {
    let found = 0;
    const search = async () => (found = (await namespace.search(text, { limit: 20 })).hits.length);
    const first = await timed(search);
    const times: number[] = [];
    for (let left = repeatsAfter(first, context); left > 0; left--) times.push(await timed(search));
    context.figure({ what, who, unit: 'ms', samples: times.length > 0 ? times : [first] });
    context.note(`${what}: ${found === 0 ? 'no' : found >= 20 ? '20 or more' : found} hits in the first page`);
  }
  await ledger.close();
}
