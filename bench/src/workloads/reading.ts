import { openLedger } from 'turnkeep';
import type { Conversation, Ledger } from 'turnkeep';
import { timed } from '../measure/figures.ts';
import { LONG, NAMESPACE, libraryOf } from '../measure/library.ts';
import type { Library } from '../measure/library.ts';
import type { Context, Workload } from '../workload.ts';

/** What a reader waits for in a large store, after a first reading of each kind. */
export const reading: Workload = {
  name: 'reading',
  measures: 'windows, lookups, switches, forks, graph and lists in a store of 1,000,000 messages',
  async run(context) {
    for (const backend of ['sqlite', 'journal'] as const) await measure(context, await libraryOf(context, backend));
  },
};

async function measure(context: Context, library: Library): Promise<void> {
  const ledger = await openLedger(library.url);
  const long = ledger.namespace(NAMESPACE).conversation(LONG);
  const who = `turnkeep ${library.backend}`;
  const samples = context.pick(300, 50);
  const take = async (what: string, count: number, work: (at: number) => Promise<unknown>) => {
    await work(0);
    const times: number[] = [];
    for (let at = 1; at <= count; at++) times.push(await timed(() => work(at)));
    context.figure({ what, who, unit: 'ms', samples: times });
  };
  context.figure({
    what: 'messages built a second',
    who,
    unit: 'messages/s',
    samples: [(library.messages * 1_000) / library.builtMs],
  });
  const graph = await long.graph();
  const somewhere = (at: number) => graph[(at * 7_919) % graph.length]?.turnId ?? '';
  await take('window of 8', samples, async () => long.window(8));
  await take('window of 50', samples, async () => long.window(50));
  await take('window of 8, anywhere', samples, async (at) => long.window(8, { leaf: somewhere(at) }));
  const ids = await Promise.all(Array.from({ length: samples + 1 }, async (_, at) => messageAt(long, somewhere(at))));
  await take('a message by id, anywhere', samples, async (at) => long.message(ids[at] ?? ''));
  await take(`graph of ${graph.length.toLocaleString('en-US')} turns`, 5, async () => long.graph());
  await take('page of 50 conversations', samples, async () => ledger.namespace(NAMESPACE).page());
  await changes(ledger, long, ids, take, samples);
  await ledger.close();
}

/** What leaves a mark in the store comes last, in conversations that nobody else reads. */
async function changes(
  ledger: Ledger,
  long: Conversation,
  ids: readonly string[],
  take: (what: string, count: number, work: (at: number) => Promise<unknown>) => Promise<void>,
  samples: number,
): Promise<void> {
  await take('a fork, anywhere', samples, async (at) => long.fork(ids[at] ?? '', { conversationId: `fork-${at}` }));
  const fork = ledger.namespace(NAMESPACE).conversation('fork-1');
  const leaves = ['one-way', 'another-way'];
  await edited(fork, leaves);
  let { graphRevision } = await fork.info();
  await take('a branch switch', samples, async (at) => {
    ({ graphRevision } = await fork.select(leaves[at % 2] ?? '', { expect: { graphRevision } }));
  });
  await take('window of 8 after a switch', samples, async () => fork.window(8));
}

/** Makes turns of these ids that stand beside each other, as the edits of a prompt do. */
async function edited(conversation: Conversation, turnIds: readonly string[]): Promise<void> {
  const { leaf } = await conversation.info();
  const parent = leaf === null ? null : { turnId: leaf };
  for (const turnId of turnIds) {
    const { graphRevision } = await conversation.info();
    const changes = [
      { kind: 'turn.record', turnId, origin: 'bench', parent },
      { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: turnId }] } },
    ] as const;
    await conversation.commit(changes, { expect: { graphRevision } });
  }
}

async function messageAt(conversation: Conversation, turnId: string): Promise<string> {
  return (await conversation.window(1, { leaf: turnId })).messages[0]?.messageId ?? '';
}
