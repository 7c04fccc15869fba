import { isTurnkeepError } from '../../core/errors.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { same } from '../check.ts';
import { withProcesses } from '../child-process.ts';
import { FAILING } from '../kinds.ts';
import { append, says } from '../scenes.ts';
import type { Store } from '../store.ts';

const isBad = (at: number): boolean => at % 4 === 1;

/** Sends many commits at once, of which every fourth is bad; answers what each was told. */
async function sendMany(
  store: Store,
  count: number,
  conversationOf: (at: number) => string,
): Promise<readonly string[]> {
  const space = await store.space();
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const good = append(says('user', `word ${at}`, `id-${at}`));
      const changes = isBad(at) ? [good, FAILING] : [good];
      return space.commit({ commitId: `k${at}`, conversationId: conversationOf(at), changes }).then(
        () => 'accepted',
        (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
      );
    }),
  );
}

const expected = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => (isBad(at) ? 'no_checkpoint' : 'accepted'));

export const neighbours: readonly ConformanceCase[] = [
  given('S9', 'a refused commit harms no other conversation’s that waits with it', async (store) => {
    same(await sendMany(store, 32, (at) => `c${at}`), expected(32), 'what each was told');
    const listed = (await (await store.readSpace()).page({ limit: 100 })).items.map((item) => item.conversationId);
    same(listed.length, 24, 'conversations');
  }),
  given('S9', 'a refused commit harms no other of its conversation that waits with it', async (store) => {
    same(await sendMany(store, 32, () => 'c'), expected(32), 'what each was told');
    const { messages } = await (await store.look('c')).page({ leaf: null });
    same(
      messages.map((message) => message.sequence),
      Array.from({ length: 24 }, (_, at) => at + 1),
      'the sequences',
    );
    same((await (await store.look('c')).info()).version, 24, 'the version');
  }),
  given('S9', 'a commit sees those that wait before it, and none that wait after it', async (store) => {
    const space = await store.space();
    const advance = (from: number) =>
      space.commit({
        commitId: `k${from}`,
        conversationId: 'c',
        changes: [{ kind: 'checkpoint.advance', checkpointId: 'k', from, payload: { n: { json: from } } }],
      });
    const create = space.commit({
      commitId: 'create',
      conversationId: 'c',
      changes: [{ kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', payload: {} }],
    });
    const told = await Promise.all(
      [create, advance(0), advance(2), advance(1), advance(2)].map((sent) =>
        sent.then(
          (receipt) => `${receipt.version}`,
          (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
        ),
      ),
    );
    // The second `k2` is the same commit as the refused first one, and comes when its revision is there.
    same(told, ['1', '2', 'checkpoint_conflict', '3', '4'], 'what each was told');
  }),
  given('S9', 'a commit that is given up harms no other that waits with it', async (store) => {
    const space = await store.space();
    const quitter = new AbortController();
    const sent = Array.from({ length: 12 }, (_, at) =>
      space
        .commit(
          { commitId: `k${at}`, conversationId: 'c', changes: [append(says('user', `word ${at}`))] },
          at === 5 ? { signal: quitter.signal } : {},
        )
        .then(
          () => 'accepted',
          (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
        ),
    );
    quitter.abort(new Error('enough'));
    const told = await Promise.all(sent);
    same(
      told.filter((one, at) => at !== 5 && one !== 'accepted'),
      [],
      'what the others were told',
    );
    const count = told.filter((one) => one === 'accepted').length;
    same((await (await store.look('c')).info()).messageCount, count, 'messages');
    same(['accepted', 'aborted'].includes(told[5] ?? ''), true, 'what the quitter was told');
  }),
  given(
    'S9',
    'two processes that write to one conversation lose nothing and see each other',
    async (store) => {
      await withProcesses(store.session, 2, async (children) => {
        const watching = children.map((child) => child.watch(store.namespace, 40));
        await Promise.all(
          children.flatMap((child, side) =>
            Array.from({ length: 20 }, (_, at) =>
              child.commit({
                commitId: `k${side}-${at}`,
                namespace: store.namespace,
                conversationId: 'c',
                changes: [append(says('user', `word ${side} ${at}`))],
              }),
            ),
          ),
        );
        const versions = Array.from({ length: 40 }, (_, at) => at + 1);
        for (const seen of await Promise.all(watching)) same(seen, versions, 'the versions that a process was handed');
      });
      const { messages } = await (await store.look('c')).page({ leaf: null });
      same(
        messages.map((message) => message.sequence),
        Array.from({ length: 40 }, (_, at) => at + 1),
        'the sequences',
      );
    },
    { needs: 'writing_processes' },
  ),
];
