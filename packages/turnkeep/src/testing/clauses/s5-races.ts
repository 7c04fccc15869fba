import { isTurnkeepError } from '../../core/errors.ts';
import type { Receipt } from '../../core/receipt.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, same, show } from '../check.ts';
import { withProcesses } from '../child-process.ts';
import { FORK_SOURCE } from '../kinds.ts';
import { RACES } from '../races.ts';
import type { Race, RaceCommit, Told } from '../races.ts';
import { play } from '../scenes.ts';
import type { Store } from '../store.ts';

/** Sends a commit by one of two ways: a handle of this process, or another process. */
type Send = (commit: RaceCommit) => Promise<Receipt>;

async function prepare(store: Store, race: Race): Promise<void> {
  await play(store, 'idle', FORK_SOURCE);
  await play(store, race.scene, 'c');
}

async function handles(store: Store): Promise<readonly [Send, Send]> {
  const one = async () => store.space();
  const other = async () => (await store.otherLedger()).namespace(store.namespace);
  // Both have looked before either writes: what a handle keeps of what it saw is stale for one of them.
  for (const space of [await one(), await other()]) await space.page();
  return [
    async (commit) => (await one()).commit({ ...commit }),
    async (commit) => (await other()).commit({ ...commit }),
  ];
}

async function toldTo(sending: Promise<Receipt>): Promise<Told> {
  try {
    return { code: (await sending).replayed ? 'replayed' : 'accepted' };
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return { code: error.code, details: error.details };
  }
}

function assertTold(actual: Told, expected: Told, who: string): void {
  same(actual.code, expected.code, `what ${who} is told`);
  if (expected.details) same(actual.details, expected.details, `the details that ${who} is told`);
}

async function inOrder(store: Store, race: Race, first: 'left' | 'right'): Promise<void> {
  await prepare(store, race);
  const [one, other] = await handles(store);
  const [early, late] = first === 'left' ? [race.left, race.right] : [race.right, race.left];
  assertTold(await toldTo(one(early)), { code: 'accepted' }, 'the first writer');
  const expected = first === 'left' ? race.rightLate : race.leftLate;
  const write = async () => assertTold(await toldTo(other(late)), expected, 'the second writer');
  // I4: who is refused has changed nothing.
  await (expected.code === 'accepted' ? write() : store.untouchedBy(write));
}

/** Both at once: some order was taken, and each was told what that order means. */
async function together(race: Race, left: Send, right: Send): Promise<void> {
  const [toldLeft, toldRight] = await Promise.all([toldTo(left(race.left)), toldTo(right(race.right))]);
  const leftFirst = toldLeft.code === 'accepted' && fits(toldRight, race.rightLate);
  const rightFirst = toldRight.code === 'accepted' && fits(toldLeft, race.leftLate);
  holds(leftFirst || rightFirst, `no order explains what they were told: ${show(toldLeft)} and ${show(toldRight)}`);
}

function fits(actual: Told, expected: Told): boolean {
  try {
    assertTold(actual, expected, 'one');
    return true;
  } catch {
    return false;
  }
}

function casesOf(race: Race): readonly ConformanceCase[] {
  return [
    given('S5', `two writers race for ${race.over}: the left one is first`, async (store) =>
      inOrder(store, race, 'left'),
    ),
    given('S5', `two writers race for ${race.over}: the right one is first`, async (store) =>
      inOrder(store, race, 'right'),
    ),
    given('S5', `two writers race for ${race.over}: at once`, async (store) => {
      await prepare(store, race);
      await together(race, ...(await handles(store)));
    }),
  ];
}

export const races: readonly ConformanceCase[] = [
  ...RACES.flatMap(casesOf),
  given(
    'S5',
    'two processes race for each precondition, in either order and at once',
    async (store) => {
      await withProcesses(store.session, 2, async ([one, other]) => {
        holds(one && other, 'two processes');
        const [left, right]: readonly [Send, Send] = [
          async (commit) => one.commit(commit),
          async (commit) => other.commit(commit),
        ];
        for (const [index, race] of RACES.entries()) {
          for (const order of ['left', 'right', 'at once'] as const) {
            const here = new NamespacedRace(store, race, `race-${index}-${order.replace(' ', '-')}`);
            await here.run(left, right, order);
          }
        }
      });
    },
    { needs: 'writing_processes' },
  ),
];

/** A race in a namespace of its own, between processes. */
class NamespacedRace {
  readonly #race: Race;
  readonly #namespace: string;
  readonly #store: Store;

  constructor(store: Store, race: Race, name: string) {
    this.#namespace = `${store.namespace}-${name}`;
    this.#store = store.inNamespace(this.#namespace);
    this.#race = race;
  }

  async run(left: Send, right: Send, order: 'left' | 'right' | 'at once'): Promise<void> {
    const race = this.#race;
    await prepare(this.#store, race);
    const sendLeft: Send = async (commit) => left(this.#here(commit));
    const sendRight: Send = async (commit) => right(this.#here(commit));
    if (order === 'at once') return together(race, sendLeft, sendRight);
    const [first, second] =
      order === 'left'
        ? ([sendLeft(race.left), race.rightLate] as const)
        : ([sendRight(race.right), race.leftLate] as const);
    assertTold(await toldTo(first), { code: 'accepted' }, `the first process (${race.over})`);
    const late = order === 'left' ? sendRight(race.right) : sendLeft(race.left);
    assertTold(await toldTo(late), second, `the second process (${race.over})`);
  }

  #here(commit: RaceCommit): RaceCommit & { readonly namespace: string } {
    return { ...commit, namespace: this.#namespace };
  }
}
