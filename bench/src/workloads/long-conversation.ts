import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Conversation, Ledger } from 'turnkeep';
import { medianRatio, timed } from '../measure/figures.ts';
import { changesOf, makeTurn, shortTurns } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const TURNS_OF_TEN_MESSAGES = 5;
const TURNS_A_COMMIT = 300;

type What = 'a commit' | 'window of 8' | 'a fork';
const BAR_NAMES: { readonly [what in What]: string } = {
  'a commit': 'commit',
  'window of 8': 'window',
  'a fork': 'fork',
};

type Pairs = { readonly [what in What]: { readonly long: number[]; readonly short: number[] } };

/** What a long conversation costs more than a short one in the same store. */
export const longConversation: Workload = {
  name: 'long-conversation',
  measures: 'commits, windows and forks in a conversation of 100,000 messages against one of 10',
  async run(context) {
    for (const backend of ['sqlite', 'journal'] as const) await measure(context, backend);
  },
};

async function measure(context: Context, backend: 'sqlite' | 'journal'): Promise<void> {
  const ledger = await openLedger(`${backend}:${join(context.folder(), 'store')}`);
  const messages = context.pick(100_000, 10_000);
  const pairs: Pairs = {
    'a commit': { long: [], short: [] },
    'window of 8': { long: [], short: [] },
    'a fork': { long: [], short: [] },
  };
  const long = ledger.namespace('bench').conversation('long');
  for (let turns = messages / 2; turns > 0; turns -= TURNS_A_COMMIT)
    await long.commit(shortTurns(Math.min(turns, TURNS_A_COMMIT)));
  await commitsAndWindows(ledger, long, pairs, context.pick(600, 100));
  await forks(long, pairs, context.pick(200, 50));
  await ledger.close();
  report(context, backend, messages, pairs);
}

async function commitsAndWindows(ledger: Ledger, long: Conversation, pairs: Pairs, rounds: number): Promise<void> {
  const namespace = ledger.namespace('bench');
  await long.commit(changesOf(makeTurn(0)));
  for (let round = 0; round < rounds + TURNS_OF_TEN_MESSAGES; round++) {
    // Turns of both lie equally far apart in the log: six short conversations grow at a time.
    for (let turn = 0; turn < Math.min(TURNS_OF_TEN_MESSAGES, round + 1); turn++)
      await namespace.conversation(`short-${round + TURNS_OF_TEN_MESSAGES - turn}`).commit(changesOf(makeTurn(turn)));
    if (round < TURNS_OF_TEN_MESSAGES) continue;
    const short = namespace.conversation(`short-${round}`);
    const next = [changesOf(makeTurn(round - TURNS_OF_TEN_MESSAGES + 1)), changesOf(makeTurn(TURNS_OF_TEN_MESSAGES))];
    pairs['a commit'].long.push(await timed(() => long.commit(next[0] ?? [])));
    pairs['window of 8'].long.push(await timed(() => long.window(8)));
    pairs['a commit'].short.push(await timed(() => short.commit(next[1] ?? [])));
    pairs['window of 8'].short.push(await timed(() => short.window(8)));
  }
}

/** Forks of the long conversation at a late turn and at an early one, by turns. */
async function forks(long: Conversation, pairs: Pairs, rounds: number): Promise<void> {
  const turns = await long.graph();
  const [lateTurn, earlyTurn] = [turns[Math.min(10_000, turns.length) - 1], turns[9]];
  if (!lateTurn || !earlyTurn) throw new Error('the long conversation has its turns');
  const at = async (turnId: string) => (await long.window(1, { leaf: turnId })).messages[0]?.messageId ?? '';
  const [late, early] = [await at(lateTurn.turnId), await at(earlyTurn.turnId)];
  for (let round = 0; round < rounds; round++) {
    pairs['a fork'].long.push(await timed(() => long.fork(late, { conversationId: `late-${round}` })));
    pairs['a fork'].short.push(await timed(() => long.fork(early, { conversationId: `early-${round}` })));
  }
}

function report(context: Context, backend: string, messages: number, pairs: Pairs): void {
  for (const [what, { long, short }] of Object.entries(pairs)) {
    const [far, near] =
      what === 'a fork'
        ? ['at turn 10,000', 'at turn 10']
        : [`of ${messages.toLocaleString('en-US')} messages`, 'of 10 messages'];
    context.figure({ what: `${what}, ${backend}`, who: near, unit: 'ms', samples: short });
    context.figure({ what: `${what}, ${backend}`, who: far, unit: 'ms', samples: long });
    context.bar({
      name: `${backend}-long-${BAR_NAMES[what as What]}`,
      says: `${what} ${far} against one ${near}, on the ${backend} backend`,
      ratio: medianRatio(long, short),
      limit: { atMost: 1.2 },
    });
  }
}
