import type { Change, ChangeKind } from '../../core/change.ts';
import { ERRORS } from '../../core/errors.ts';
import { RULES } from '../../core/rules/index.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { FORK_SOURCE } from '../kinds.ts';
import { NOT_SHOWN, REJECTIONS, SHOWN_ELSEWHERE } from '../rejections.ts';
import type { Rejection } from '../rejection.ts';
import { append, play, says } from '../scenes.ts';

function isRefused(rejection: Rejection): ConformanceCase {
  return given('S8', `${rejection.code}: ${rejection.when}`, async (store) => {
    await play(store, 'idle', FORK_SOURCE);
    await play(store, rejection.scene, 'c');
    for (const { changes, ...sent } of rejection.before ?? []) await store.commit('c', changes, sent);
    const { changes, expect, fence, code } = rejection;
    const commit = { commitId: 'refused', conversationId: 'c', changes, expect, fence };
    await store.untouchedBy(async () => {
      if (code !== 'invalid_value') return refused(store.send(commit), code, rejection.details);
      const error = await refused(store.send(commit), code);
      same(error.details.path, rejection.details.path, 'the path of the part at fault');
      return holds(error.details.reason !== '', 'a reason is given');
    });
  });
}

export const errors: readonly ConformanceCase[] = [
  ...REJECTIONS.map(isRefused),
  given('S8', 'every code of the error table is shown by a case, or has a reason why not', async () => {
    const shown = new Set<string>([...REJECTIONS.map((one) => one.code), ...Object.keys(SHOWN_ELSEWHERE)]);
    const codes = Object.keys(ERRORS).filter((code) => !shown.has(code));
    same(codes.toSorted(), Object.keys(NOT_SHOWN).toSorted(), 'codes without a case');
  }),
  given('S8', 'every kind of change is refused by a case', async () => {
    const refusedKinds = new Set(REJECTIONS.flatMap(({ changes }) => changes.map((one) => (one as Change).kind)));
    same(
      Object.keys(RULES).filter((kind) => !refusedKinds.has(kind as ChangeKind)),
      [],
      'kinds that no case refuses',
    );
  }),
  given('S8', 'a conversation that does not exist is told from one that is empty', async (store) => {
    const nobody = await store.look('nobody');
    for (const read of [
      () => nobody.info(),
      () => nobody.window(3),
      () => nobody.page(),
      () => nobody.graph(),
      () => nobody.state(),
      () => nobody.message('m'),
    ]) {
      await refused(read, 'conversation_not_found', { conversationId: 'nobody' });
    }
    same(await nobody.exists(), false, 'it exists');
  }),
  given('S8', 'a caller who has given up is told so, and nothing is written', async (store) => {
    await play(store, 'idle', 'c');
    const aborted = AbortSignal.abort(new Error('enough'));
    await store.untouchedBy(async () => {
      const conversation = await store.conversation('c');
      await refused(conversation.update({ title: 'x' }, { signal: aborted }), 'aborted');
    });
  }),
  given(
    'S8',
    'a closed handle refuses everything, and closing twice is once',
    async (store) => {
      await play(store, 'idle', 'c');
      const ledger = await store.ledger();
      const space = ledger.namespace(store.namespace);
      await ledger.close();
      await ledger.close();
      await refused(
        space.commit({ commitId: 'late', conversationId: 'c', changes: [append(says('user', 'x'), 't1')] }),
        'closed',
      );
      await refused(space.page(), 'closed');
      await refused(space.search('question'), 'closed');
      await refused(ledger.namespaces(), 'closed');
      await refused(space.collect(), 'closed');
    },
    { alone: true },
  ),
  given('S8', 'a fault in a reading reaches the reader as it is', async (store) => {
    await play(store, 'idle', 'c');
    const fault = new RangeError('my own');
    const backend = (await store.reader()).backend;
    const found: unknown = await backend
      .read(store.namespace, () => {
        throw fault;
      })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    holds(found instanceof RangeError && found.message === 'my own', 'the reader’s own error was replaced');
  }),
];
