import { CONTENDERS } from '../contenders/index.ts';
import { timed } from '../measure/figures.ts';
import type { Workload } from '../workload.ts';

const MESSAGES = 8;

/** What an agent reads before it asks a model again. */
export const lastMessages: Workload = {
  name: 'last-messages',
  measures: 'reading the last 8 messages of a conversation of 10 and of 1,000 turns',
  async run(context) {
    for (const contender of await context.contenders(CONTENDERS.map(({ name }) => name))) {
      const store = await contender.open(context.folder());
      for (const turns of context.pick([10, 1_000], [10, 100])) {
        const conversation = `of-${turns}`;
        await store.grow(conversation, turns);
        const samples: number[] = [];
        const end = performance.now() + context.pick(2_000, 100);
        while (samples.length < 3 || (samples.length < context.pick(300, 50) && performance.now() < end))
          samples.push(await timed(() => store.last(conversation, MESSAGES)));
        context.figure({ what: `at ${turns.toLocaleString('en-US')} turns`, who: contender.name, unit: 'ms', samples });
      }
      await store.close();
    }
  },
};
