import { expect, test } from 'vitest';
import { text } from '../core/changes.testkit.ts';
import { TurnkeepError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { MemoryBackend } from '../memory/index.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { openLedger } from './open.ts';
import type { DayRange } from './usage.ts';

async function opened() {
  const space = (await openLedger('memory:')).namespace('n');
  const conversation = space.conversation('c');
  const { turnId } = await conversation.submit({ prompt: text('x') });
  return { space, conversation, turnId };
}

const none = null as never; // a caller without types may give anything

test('null in place of options or of what is asked is refused with its path', async () => {
  const { space, conversation, turnId } = await opened();
  const operator = conversation.operator();
  const bytes = new Uint8Array(1);
  const { digest } = await space.attachments.put(bytes);
  const asks: readonly (readonly [path: string, ask: () => unknown])[] = [
    ['options', async () => conversation.read(none).next()],
    ['options', () => conversation.watch(none)],
    ['options', () => space.watch(none)],
    ['options', async () => conversation.spawn({ turnId }, none)],
    ['turn', async () => conversation.edit(turnId, none, {})],
    ['turn', async () => conversation.regenerate(turnId, none, {})],
    ['options', async () => conversation.edit(turnId, { prompt: text('y') }, none)],
    ['options', async () => space.conversations(none).next()],
    ['options', async () => space.memories.get('m', none)],
    ['options', async () => space.memories.search('x', none)],
    ['query', async () => space.memories.search(none)],
    ['filter', async () => space.memories.list(none)],
    ['range', async () => conversation.usage.byDay(none)],
    ['options', async () => conversation.commitments.list(none)],
    ['source', async () => space.attachments.put(none)],
    ['options', async () => space.attachments.put(bytes, none)],
    ['options', async () => space.attachments.get(digest, none)],
    ['range', async () => space.attachments.get(digest, { range: none })],
    ['options.reader', async () => conversation.info({ reader: none })],
    ['settings', () => conversation.operator(none)],
    ['said', async () => operator.send(none)],
    ['options', async () => operator.send('x', none)],
    ['answer', async () => operator.complete(turnId, none)],
    ['failure', async () => operator.fail(turnId, none)],
    ['options', async () => operator.approve(none)],
    ['options', async () => operator.watch(none).next()],
  ];
  for (const [path, ask] of asks) {
    await expect(async () => ask()).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
  }
});

test('an id that is no text is refused with its path', async () => {
  const { space, conversation, turnId } = await opened();
  const operator = conversation.operator();
  for (const id of [Symbol('id'), 10n, 5, null] as unknown as readonly string[]) {
    const asks: readonly (readonly [path: string, ask: () => Promise<unknown>])[] = [
      ['messageId', async () => conversation.message(id)],
      ['turnId', async () => conversation.siblings(id)],
      ['turnId', async () => conversation.turn(id)],
      ['turnId', async () => conversation.edit(id, { prompt: text('y') }, {})],
      ['turnId', async () => conversation.regenerate(id, {}, {})],
      ['turnId', async () => conversation.bindings(id)],
      ['turnId', async () => conversation.steps(id)],
      ['turnId', async () => conversation.interrupts(id)],
      ['turnId', async () => conversation.subAgents(id)],
      ['turnId', async () => conversation.stop(id, 'x')],
      ['turnId', async () => conversation.usage.ofTurn(id)],
      ['usageId', async () => conversation.usage.get(id)],
      ['operationId', async () => conversation.operation(id)],
      ['interruptId', async () => conversation.interrupt(id)],
      ['runId', async () => conversation.runRecord(id)],
      ['taskId', async () => conversation.tasks.get(id)],
      ['taskId', async () => conversation.tasks.messages(id)],
      ['checkpointId', async () => conversation.checkpoints.get(id)],
      ['checkpointId', async () => conversation.checkpoints.pendingWrites(id, 0)],
      ['inputId', async () => conversation.inputs.get(id)],
      ['turnId', async () => operator.complete(id, 'x')],
      ['turnId', async () => operator.fail(id, { code: 'x', message: 'y' })],
      ['interruptId', async () => space.answer(id, { by: 'x', response: 1 })],
      ['subjectId', async () => space.eraseSubject(id, { idempotencyKey: 'k' })],
      ['memoryId', async () => space.memories.get(id)],
      ['digest', async () => space.attachments.get(id)],
      ['digest', async () => space.attachments.stat(id)],
      ['options.idempotencyKey', async () => conversation.append({ role: 'user', parts: [] }, { idempotencyKey: id })],
      ['options.idempotencyKey', async () => conversation.spawn({ turnId }, { idempotencyKey: id })],
      ['options.idempotencyKey', async () => operator.send('x', { idempotencyKey: id })],
    ];
    for (const [path, ask] of asks) {
      await expect(ask()).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
    }
  }
  const leaf = 5 as unknown as string; // null is the root
  await expect(conversation.window(1, { leaf })).rejects.toMatchObject({ details: { path: 'options.leaf' } });
});

test('an option of a reading that is none is refused with its path', async () => {
  const { space, conversation, turnId } = await opened();
  const misspelt = { misspelt: 1 } as object;
  const bytes = new Uint8Array(1);
  const { digest } = await space.attachments.put(bytes);
  const asks: readonly (readonly [path: string, ask: () => unknown])[] = [
    ['options', async () => conversation.window(1, misspelt)],
    ['options', async () => conversation.page(misspelt)],
    ['options', async () => conversation.read(misspelt).next()],
    ['options', async () => conversation.search('x', misspelt)],
    ['options', async () => conversation.graph(misspelt)],
    ['options', async () => conversation.info(misspelt)],
    ['options', async () => conversation.state(misspelt)],
    ['options', async () => conversation.tasks.list(misspelt)],
    ['options', async () => conversation.commitments.openLoops(misspelt)],
    ['options', async () => conversation.spawn({ turnId }, misspelt)],
    ['options', () => conversation.watch(misspelt)],
    ['range', async () => conversation.usage.byDay(misspelt)],
    ['range', async () => space.usage.byDay(misspelt)],
    ['options', async () => space.page(misspelt)],
    ['options', async () => space.conversations(misspelt).next()],
    ['options', async () => space.search('x', { ...misspelt, leaf: null } as object)],
    ['options', () => space.interrupts(misspelt)],
    ['options', async () => space.collect(misspelt)],
    ['options', async () => space.memories.search('x', misspelt)],
    ['options', async () => space.attachments.put(bytes, misspelt)],
    ['options', async () => space.attachments.get(digest, misspelt)],
  ];
  for (const [path, ask] of asks) {
    await expect(async () => ask()).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: `${path}.misspelt` },
    });
  }
});

test('an option of another kind is refused with its path', async () => {
  const { space, conversation } = await opened();
  const wrong = 'x' as never;
  const asks: readonly (readonly [path: string, ask: () => unknown])[] = [
    ['damaged', async () => conversation.window(1, { damaged: wrong })],
    ['untilNow', () => conversation.watch({ untilNow: wrong })],
    ['signal', () => conversation.watch({ signal: wrong })],
    ['signal', async () => conversation.search('x', { signal: wrong })],
    ['order', async () => space.page({ order: wrong })],
    ['archived', async () => space.page({ archived: wrong })],
    ['metadata', async () => space.page({ metadata: wrong })],
    ['embed', async () => space.memories.search('x', { embed: wrong })],
    ['awaits', async () => conversation.operator().complete('t', 'x', { awaits: wrong })],
  ];
  for (const [option, ask] of asks) {
    await expect(async () => ask()).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: `options.${option}` },
    });
  }
  const late = conversation.operator({ confirms: (async () => false) as never });
  await expect(late.send('yes')).rejects.toMatchObject({ details: { path: 'settings.confirms' } });
});

test('an error makes its text of whatever it was given', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const [turnId, words] of [
    [10n, 'turnId "10n"'],
    [Symbol('s'), 'turnId symbol'],
    [circle, 'turnId object'],
  ] as const) {
    expect(new TurnkeepError('no_turn', { turnId: turnId as unknown as string }).message).toContain(words);
  }
});

test('settings of a ledger that are none are refused before anything is opened', async () => {
  const wrong: readonly (readonly [path: string, options: object])[] = [
    ['options.misspelt', { misspelt: 1 }],
    ...[-1, 1.5, Number.NaN, 'x', null].flatMap((value) => [
      ['options.attachmentQuotaBytes', { attachmentQuotaBytes: value }] as const,
      ['options.hotMessages', { hotMessages: value }] as const,
    ]),
    ['options.mustExist', { mustExist: 'yes' }],
    ['options.readOnly', { readOnly: 1 }],
    ['options.surroundings', { surroundings: null }],
    ['options.surroundings.now', { surroundings: { ...systemSurroundings, now: undefined } }],
    ['options.surroundings.nonce', { surroundings: { ...systemSurroundings, nonce: 'x' } }],
    ['options.surroundings.sha256', { surroundings: {} }],
  ];
  for (const [path, options] of wrong) {
    for (const store of ['memory:', new MemoryBackend(systemSurroundings.sha256)]) {
      await expect(openLedger(store, options)).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
    }
  }
});

test('options of maintenance and of verifying that are none are refused with their path', async () => {
  const ledger = await openLedger('memory:');
  const wrong: readonly (readonly [path: string, options: object])[] = [
    ['options.misspelt', { misspelt: 1 }],
    ['options.onProgress', { onProgress: 5 }],
    ['options.signal', { signal: {} }],
  ];
  for (const [path, options] of wrong) {
    await expect(ledger.verify(options)).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
    await expect(ledger.maintain(options)).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
  }
  for (const hotMessages of [-1, 'x', Number.NaN] as readonly unknown[]) {
    await expect(ledger.maintain({ hotMessages: hotMessages as number })).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: 'options.hotMessages' },
    });
  }
});

test.each([Number.NaN, 1.5, 'x', undefined, 1e20])('a clock that answers %s writes nothing', async (moment) => {
  const surroundings = { ...systemSurroundings, now: () => moment as number };
  const conversation = (await openLedger('memory:', { surroundings })).namespace('n').conversation('c');
  await expect(conversation.create()).rejects.toMatchObject({
    code: 'invalid_value',
    details: { path: 'surroundings.now' },
  });
  expect(await conversation.exists()).toBe(false);
});

test.each([-8_640_000_000_000_000, -1, 0, 2 ** 48, 8_640_000_000_000_000])(
  'a clock that answers %s, of which there is a date, is taken at its word',
  async (moment) => {
    const surroundings = { ...systemSurroundings, now: () => moment };
    const conversation = (await openLedger('memory:', { surroundings })).namespace('n').conversation('c');
    const receipts = [await conversation.create(), await conversation.append({ role: 'user', parts: text('x') })];
    const ids = new Set(receipts.map(({ commitId }) => commitId));
    expect(ids.size).toBe(2);
    for (const { committedAt } of receipts) expect(committedAt).toBe(new Date(moment).toISOString());
    expect(await conversation.info()).toMatchObject({ version: 2, createdAt: new Date(moment).toISOString() });
  },
);

test('what was used before 1970 and after 9999, by the clock, is found on its day, oldest first', async () => {
  const days = ['-271821-04-20', '-000001-12-31', '0000-01-01', '1969-12-01', '1969-12-31', '1970-01-01', '1970-02-10'];
  const later = ['2026-11-30', '9999-12-31', '+010000-01-01', '+275760-09-13'];
  const all = [...days, ...later];
  let now = 0;
  const surroundings = { ...systemSurroundings, now: () => now };
  const space = (await openLedger('memory:', { surroundings })).namespace('n');
  const { usage } = space.conversation('c');
  for (const day of all.toReversed()) {
    now = Date.parse(day);
    await usage.record({ provider: 'p', model: 'm', inputTokens: 1 });
  }
  for (const read of [usage, space.usage]) {
    const found = async (range: DayRange) => (await read.byDay(range)).map(({ day }) => day);
    expect(await found({})).toEqual(all);
    for (const [at, from] of all.entries()) {
      expect(await found({ from, to: from })).toEqual([from]);
      expect(await found({ from })).toEqual(all.slice(at));
      expect(await found({ to: from })).toEqual(all.slice(0, at + 1));
    }
  }
  expect((await usage.total()).calls).toBe(all.length);
  for (const from of ['1969-02-29', '10000-01-01', '+009999-01-01', '-000000-01-01', '+275760-09-14'])
    await expect(usage.byDay({ from })).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'from' } });
});

test('vectors that are none are refused, and a query past its limit', async () => {
  const { space, conversation } = await opened();
  await conversation.memories.create({ text: 'likes tea' });
  for (const vectors of [null, 5, [], [[1], null], [[1], ['x']], [[1], [1, 2]]] as readonly unknown[]) {
    await expect(space.memories.search('tea', { embed: async () => vectors as never })).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: 'options.embed' },
    });
  }
  const most = 'x'.repeat(LIMITS.queryBytes);
  expect(await space.memories.search(most)).toEqual([]);
  await expect(space.memories.search(`${most}x`)).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'queryBytes', max: LIMITS.queryBytes, path: 'query' },
  });
});
