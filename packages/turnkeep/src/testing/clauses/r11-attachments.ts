import { PART_BYTES } from '../../core/attachments/store.ts';
import type { Change } from '../../core/change.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { NewMessage, Part } from '../../core/message.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { AttachmentInfo } from '../../ledger/attachments/upload.ts';
import { bytesDigest, StreamDigest } from '../../platform/hash.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { failureOf, holds, refused, same, show } from '../check.ts';
import { append, text } from '../scenes.ts';
import type { Store } from '../store.ts';

const ABSENT = 'ab'.repeat(32);
const DAY_MS = 86_400_000;

/** Bytes that differ from place to place, the same in every run. */
function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
}

function sha256Hex(bytes: Uint8Array): string {
  const digest = new StreamDigest();
  digest.add(bytes);
  return digest.end();
}

function* chunksOf(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function file(digest: string): Part {
  return { type: 'file', mediaType: 'application/octet-stream', name: 'a file', source: { attachment: digest } };
}

function shows(digest: string, messageId?: string): NewMessage {
  return { role: 'user', parts: [text('look'), file(digest)], messageId };
}

async function put(store: Store, bytes: Uint8Array): Promise<AttachmentInfo> {
  return (await store.space()).attachments.put(bytes);
}

/** The bytes as the mode looks at them; `undefined` where there are none. */
async function bytesIn(store: Store, digest: string): Promise<Uint8Array | undefined> {
  const { attachments } = await store.readSpace();
  if (!(await attachments.stat(digest))) {
    await refused(attachments.get(digest), 'attachment_missing', { digest });
    return undefined;
  }
  return (await attachments.get(digest)).bytes();
}

async function isThere(store: Store, digest: string): Promise<boolean> {
  return (await bytesIn(store, digest)) !== undefined;
}

/** Which of the attachments are there. One after the other: each look may open the store anew. */
async function areThere(store: Store, digests: readonly string[]): Promise<readonly boolean[]> {
  const found: boolean[] = [];
  for (const digest of digests) found.push(await isThere(store, digest));
  return found;
}

async function collect(store: Store, attachmentGraceMs?: number): Promise<number> {
  return (await store.space()).collect({ attachmentGraceMs });
}

async function erase(store: Store, id: string): Promise<void> {
  await store.commit(id, [{ kind: 'conversation.erase' }]);
  await collect(store);
}

/** A recorded turn with one message. */
function recorded(turnId: string, message: NewMessage): readonly Change[] {
  return [{ kind: 'turn.record', turnId, origin: 'x' }, append(message)];
}

const SIZES = [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 77];

const NO_DIGESTS = [
  '',
  'x',
  '../../../etc/passwd',
  `../${'a'.repeat(61)}`,
  'A'.repeat(64),
  'a'.repeat(63),
  'a'.repeat(65),
  `${'a'.repeat(64)}\n`,
  `${'a'.repeat(32)}\0${'a'.repeat(31)}`,
];

export const attachments: readonly ConformanceCase[] = [
  ...SIZES.map((size) =>
    given('R11', `${size} bytes come out as they went in, whole and in ranges`, async (store) => {
      const bytes = bytesOf(size);
      const { digest, sizeBytes } = await put(store, bytes);
      same(sizeBytes, size, 'the size that was answered');
      same(await bytesIn(store, digest), bytes, 'the bytes');
      const space = await store.readSpace();
      same(await space.attachments.stat(digest), { digest, sizeBytes: size }, 'what is known of it');
      const cuts = [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, size].filter((cut) => cut <= size);
      for (const start of cuts) {
        for (const end of cuts.filter((cut) => cut >= start)) {
          const content = await space.attachments.get(digest, { range: { start, end } });
          same(await content.bytes(), bytes.slice(start, end), `bytes ${start} to ${end}`);
        }
      }
      for (const range of [{ start: -1 }, { start: size + 1 }, { start: 0, end: size + 1 }, { start: 0.5 }])
        await refused(space.attachments.get(digest, { range }), 'invalid_value');
    }),
  ),
  given('R11', 'chunks of any length make the same attachment, and it comes out as a stream', async (store) => {
    const bytes = bytesOf(PART_BYTES + 5_000);
    const { attachments: space } = await store.space();
    const whole = await space.put(bytes);
    for (const length of [4_099, PART_BYTES, 600_000])
      same(await space.put(chunksOf(bytes, length)), whole, `chunks of ${length}`);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunksOf(bytes, 100_000)) controller.enqueue(chunk);
        controller.close();
      },
    });
    same(await space.put(stream), whole, 'a stream');
    const out: Uint8Array[] = [];
    for await (const chunk of (await (await store.readSpace()).attachments.get(whole.digest)).stream()) out.push(chunk);
    same(new Uint8Array(Buffer.concat(out)), bytes, 'the bytes of the stream');
  }),
  given('R11', 'a chunk may be used again by the caller as soon as the next one is asked for', async (store) => {
    const chunk = new Uint8Array(100_000);
    const { attachments: space } = await store.space();
    const { digest } = await space.put(
      (function* () {
        for (let at = 0; at < 8; at++) yield chunk.fill(at);
      })(),
    );
    const bytes = await bytesIn(store, digest);
    same([bytes?.[0], bytes?.[150_000], bytes?.[799_999], bytes?.length], [0, 1, 7, 800_000], 'the bytes');
  }),
  given('R11', 'what is no digest names nothing', async (store) => {
    const { attachments: space } = await store.space();
    for (const name of NO_DIGESTS) {
      await refused(space.get(name), 'invalid_value');
      await refused(space.stat(name), 'invalid_value');
      await refused(store.commit('c', recorded('t', shows(name))), 'invalid_value');
    }
    same(await isThere(store, ABSENT), false, 'an attachment that was never put');
  }),
  given('R11', 'I11: a commit that refers to bytes that are not there is refused, wherever it does', async (store) => {
    const known = await put(store, bytesOf(10));
    await store.commit('c', recorded('t', shows(known.digest, 'm')));
    const result = { type: 'tool_result', callId: 'l', status: 'ok', content: [text('x'), file(ABSENT)] } as const;
    const inResult = 'message.parts[0].content[1].source.attachment';
    const call = append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l', name: 'f' }] });
    const refusals: readonly (readonly [readonly Change[], string])[] = [
      [recorded('t2', shows(ABSENT)), 'commit.changes[1].message.parts[1].source.attachment'],
      [[{ kind: 'turn.submit', prompt: [file(ABSENT)] }], 'commit.changes[0].prompt[0].source.attachment'],
      [
        [...recorded('t2', { role: 'user', parts: [] }), call, append({ role: 'tool', parts: [result] })],
        `commit.changes[3].${inResult}`,
      ],
      [
        [{ kind: 'message.redact', messageId: 'm', reason: 'r', replacement: [file(ABSENT)] }],
        'commit.changes[0].replacement[0].source.attachment',
      ],
    ];
    await store.untouchedBy(async () => {
      for (const [changes, path] of refusals)
        await refused(store.commit('c', changes), 'attachment_missing', { digest: ABSENT, path });
    });
  }),
  given('R11', 'as many bytes as may be and one more', async (store) => {
    const { attachments: space } = await store.space();
    const max = PART_BYTES + 10;
    same((await space.put(bytesOf(max), { maxBytes: max })).sizeBytes, max, 'the size at the limit');
    await store.untouchedBy(async () => {
      const details = { limit: 'attachmentBytes', max, path: 'source' };
      await refused(space.put(bytesOf(max + 1), { maxBytes: max }), 'limit_exceeded', { ...details, actual: max + 1 });
      await refused(space.put(bytesOf(1), { maxBytes: 0 }), 'limit_exceeded', { ...details, max: 0, actual: 1 });
      for (const maxBytes of [-1, 0.5, NaN]) await refused(space.put(bytesOf(1), { maxBytes }), 'invalid_value');
    });
    holds(LIMITS.attachmentBytes % PART_BYTES === 0, 'the limit is a number of whole parts');
  }),
  given('R11', 'as many bytes as a namespace may have and one more', async (store) => {
    const ledger = new Ledger(await store.backend(), store.surroundings, () => 'unused', { attachmentQuotaBytes: 100 });
    const { attachments: space } = ledger.namespace(store.namespace);
    await space.put(bytesOf(40, 1));
    await space.put(bytesOf(40, 1));
    await space.put(bytesOf(60, 2));
    await store.untouchedBy(async () => {
      const details = { limit: 'attachmentQuotaBytes', max: 100, actual: 101, path: 'attachment' };
      await refused(space.put(bytesOf(1, 3)), 'limit_exceeded', details);
    });
    await ledger.namespace(`${store.namespace}-next`).attachments.put(bytesOf(100, 1));
    await collect(store, 0);
    same((await space.put(bytesOf(100, 4))).sizeBytes, 100, 'the size of what fits again');
  }),
  given('R11', 'a source that fails, or is given up, leaves nothing', async (store) => {
    const { attachments: space } = await store.space();
    await space.put(bytesOf(1));
    const broken = new Error('the source broke');
    await store.untouchedBy(async () => {
      const failing = async function* () {
        yield bytesOf(2 * PART_BYTES + 1);
        throw broken;
      };
      same(await failureOf(space.put(failing())), broken, 'what the source threw');
      const gate = new AbortController();
      const aborting = async function* () {
        yield bytesOf(2 * PART_BYTES + 1);
        gate.abort('enough');
        yield bytesOf(1);
      };
      await refused(space.put(aborting(), { signal: gate.signal }), 'aborted', { reason: 'enough' });
      await refused(space.put(['text'] as unknown as Uint8Array[]), 'invalid_value');
      await refused(space.put('text' as unknown as Uint8Array), 'invalid_value');
      await refused(space.put(undefined as unknown as Uint8Array), 'invalid_value');
    });
    same(await collect(store, 0), 1, 'what was collected');
  }),
  given('R11', 'an upload that was left is held for the grace, then cleared, and its end is refused', async (store) => {
    await put(store, bytesOf(1));
    await store.commit('c', recorded('t', shows((await put(store, bytesOf(1))).digest)));
    const bytes = bytesOf(PART_BYTES + 10);
    const [first, last] = [bytes.subarray(0, PART_BYTES), bytes.subarray(PART_BYTES)];
    const digests = { digest: sha256Hex(bytes), parts: [bytesDigest(first), bytesDigest(last)] };
    await store.untouchedBy(async () => {
      const { attachments: seam } = await store.backend();
      const begin = (upload: string) =>
        seam.add(store.namespace, { upload, index: 0, bytes: first, now: store.clock.at });
      const end = (upload: string) => {
        const seal = { upload, ...digests, sizeBytes: bytes.length, last, now: store.clock.at };
        return seam.finish(store.namespace, { ...seal, quotaBytes: LIMITS.attachmentQuotaBytes });
      };
      await begin('left');
      store.clock.move(DAY_MS);
      await begin('fresh');
      await collect(store);
      await refused(end('left'), 'aborted');
      await seam.discard(store.namespace, 'left');
      await end('fresh');
      const { attachments: space } = await store.space();
      same(await (await space.get(digests.digest)).bytes(), bytes, 'the bytes of the other one');
      same(await collect(store, 0), 1, 'attachments that went');
    });
  }),
  given('R11', 'the same bytes are kept once, put at the same time or again', async (store) => {
    const bytes = bytesOf(PART_BYTES + 1);
    const [first, second] = await Promise.all([
      put(store, bytes),
      (await store.otherLedger()).namespace(store.namespace).attachments.put(bytes),
    ]);
    same(first, second, 'what both were answered');
    await store.untouchedBy(async () => put(store, bytes));
    same(await bytesIn(store, first.digest), bytes, 'the bytes');
    same(await collect(store, 0), 1, 'attachments that went');
  }),
  given('R11', 'what nothing refers to is held for the grace', async (store) => {
    const { digest } = await put(store, bytesOf(10));
    same(await collect(store), 0, 'what was collected at once');
    store.clock.move(DAY_MS - 1);
    same(await collect(store), 0, 'what was collected before the end');
    await put(store, bytesOf(10));
    store.clock.move(DAY_MS - 1);
    same(await collect(store), 0, 'what was collected before the end of the second put');
    store.clock.move(1);
    same([await collect(store), await isThere(store, digest)], [1, false], 'what was collected, and is there');
    same((await put(store, bytesOf(10))).digest, digest, 'the digest of the same bytes');
    same(await bytesIn(store, digest), bytesOf(10), 'the bytes that were put again');
  }),
  given('R11', 'a hold from the future ends a grace after it was seen', async (store) => {
    store.clock.move(1_000 * DAY_MS);
    const { digest } = await put(store, bytesOf(10));
    store.clock.move(-1_000 * DAY_MS);
    same(await collect(store), 0, 'what was collected at once');
    store.clock.move(DAY_MS);
    same([await collect(store), await isThere(store, digest)], [1, false], 'what was collected, and is there');
  }),
  given('R11', 'what a commit refers to stays until its words go', async (store) => {
    const { digest } = await put(store, bytesOf(10));
    await store.commit('c', recorded('t', shows(digest, 'm')));
    store.clock.move(2 * DAY_MS);
    same([await collect(store, 0), await isThere(store, digest)], [0, true], 'what was collected, and is there');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm', reason: 'r' }]);
    same(await isThere(store, digest), true, 'it is there before the collection');
    await collect(store);
    same(await isThere(store, digest), false, 'it is there after the collection');
    holds(!(await store.export()).includes(digest), 'its digest is left');
  }),
  given(
    'R11',
    'a redaction lets go of what it takes, keeps what stands elsewhere and what it brings',
    async (store) => {
      const [taken, shared, brought] = await Promise.all([1, 2, 3].map((seed) => put(store, bytesOf(10, seed))));
      const digests = [taken, shared, brought].map((one) => one?.digest ?? '');
      const [first = '', second = '', third = ''] = digests;
      const nested: Part = { type: 'tool_result', callId: 'l', status: 'ok', content: [file(first)] };
      await store.commit('c', [
        ...recorded('t', { role: 'user', parts: [file(second)], messageId: 'm1' }),
        append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l', name: 'f' }] }),
        append({ role: 'tool', parts: [nested, file(second)], messageId: 'm2' }),
      ]);
      const replacement = [file(third)];
      await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'r', replacement }]);
      await collect(store, 0);
      same(await areThere(store, digests), [false, true, true], 'what is there');
      await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'again' }]);
      await collect(store, 0);
      same(await areThere(store, digests), [false, true, false], 'what is there then');
    },
  ),
  given('R11', 'an erasure takes what nobody else refers to, at once', async (store) => {
    const own = await put(store, bytesOf(10, 1));
    const shared = await put(store, bytesOf(10, 2));
    await store.commit('c', recorded('t', { role: 'user', parts: [file(own.digest), file(shared.digest)] }));
    await store.commit('d', recorded('t', shows(shared.digest)));
    await erase(store, 'c');
    same([await isThere(store, own.digest), await isThere(store, shared.digest)], [false, true], 'what is there');
    holds(!(await store.export()).includes(own.digest), 'the digest of what went is left');
    await erase(store, 'd');
    same(await isThere(store, shared.digest), false, 'what both referred to is there');
  }),
  given('R11', 'I6: a fork keeps what it sees of an erased source, and nothing else', async (store) => {
    const [before, after] = [await put(store, bytesOf(10, 1)), await put(store, bytesOf(10, 2))];
    const prompt = await put(store, bytesOf(10, 3));
    await store.commit('c', [
      { kind: 'turn.submit', turnId: 'p', messageId: 'mp', prompt: [file(prompt.digest)] },
      { kind: 'turn.advance', turnId: 'p', to: 'completed' },
    ]);
    await store.commit('c', recorded('t1', shows(before.digest, 'm1')));
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm1' }]);
    await store.commit('c', recorded('t2', shows(after.digest, 'm2')));
    await erase(store, 'c');
    const digests = [prompt, before, after].map((one) => one.digest);
    same(await areThere(store, digests), [true, true, false], 'what is there');
    await store.commit('f', [{ kind: 'message.redact', messageId: 'm1', reason: 'r' }]);
    await collect(store);
    same(await areThere(store, digests), [true, false, false], 'after a redaction');
    await erase(store, 'f');
    same(await areThere(store, digests), [false, false, false], 'without the fork');
  }),
  given('R11', 'a prompt that is shown again keeps what it refers to', async (store) => {
    const { digest } = await put(store, bytesOf(10));
    await store.commit('c', [
      { kind: 'turn.submit', turnId: 't1', messageId: 'm1', prompt: [file(digest)] },
      { kind: 'turn.advance', turnId: 't1', to: 'completed' },
    ]);
    const { graphRevision } = await (await store.conversation('c')).info();
    const again = { kind: 'turn.submit', turnId: 't2', messageId: 'm2', parent: null, samePromptAs: 't1' } as const;
    await store.commit('c', [again, { kind: 'turn.advance', turnId: 't2', to: 'completed' }], {
      expect: { graphRevision },
    });
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]);
    await erase(store, 'c');
    same(await isThere(store, digest), true, 'it is there for the fork');
    await erase(store, 'f');
    same(await isThere(store, digest), false, 'it is there for nobody');
  }),
  given('R11', 'an input that waits refers to what it names, and so does the turn that it becomes', async (store) => {
    const digests = [];
    for (const seed of [1, 2, 3]) digests.push((await put(store, bytesOf(10, seed))).digest);
    const [first = '', second = '', third = ''] = digests;
    await store.commit('c', [{ kind: 'turn.submit', turnId: 't1', prompt: [text('go')] }]);
    const enqueue = (inputId: string, digest: string, from?: number): Change => {
      return { kind: 'input.enqueue', inputId, prompt: [file(digest)], ...(from === undefined ? {} : { from }) };
    };
    await store.commit('c', [enqueue('i1', first), enqueue('i2', second)]);
    same([await collect(store, 0), await areThere(store, digests)], [1, [true, true, false]], 'what waits');
    await put(store, bytesOf(10, 3));
    await store.commit('c', [enqueue('i1', third, 0), { kind: 'input.withdraw', inputId: 'i2' }]);
    same([await collect(store, 0), await areThere(store, digests)], [2, [false, false, true]], 'what was edited');
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't1', to: 'completed' }]);
    await store.commit('c', [{ kind: 'input.deliver', inputId: 'i1', turnId: 't2' }]);
    same([await collect(store, 0), await areThere(store, digests)], [0, [false, false, true]], 'what was delivered');
    await erase(store, 'c');
    same(await areThere(store, digests), [false, false, false], 'what was erased');
  }),
  given('R11', 'namespaces are apart', async (store) => {
    const next = store.inNamespace(`${store.namespace}-next`);
    const { digest } = await put(store, bytesOf(10));
    same([await isThere(store, digest), await isThere(next, digest)], [true, false], 'where it is');
    await refused(next.commit('c', recorded('t', shows(digest))), 'attachment_missing');
    await put(next, bytesOf(10));
    await collect(store, 0);
    same([await isThere(store, digest), await isThere(next, digest)], [false, true], 'where it is then');
    same((await (await store.readSpace()).page()).items, [], 'the list of conversations');
  }),
  given('R11', 'I2: a commit that was done is answered, whatever became of what it referred to', async (store) => {
    const { digest } = await put(store, bytesOf(10));
    const changes = recorded('t', shows(digest, 'm'));
    const receipt = await store.commit('c', changes, { commitId: 'one' });
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm', reason: 'r' }]);
    await collect(store);
    same(await store.commit('c', changes, { commitId: 'one' }), { ...receipt, replayed: true }, 'the receipt');
    await refused(store.commit('c', recorded('t2', shows(digest))), 'attachment_missing');
  }),
  given('R11', 'I11: put, commit and collection may race: what a commit was let refer to is there', async (store) => {
    for (let round = 0; round < 8; round++) {
      const other = (await store.otherLedger()).namespace(store.namespace);
      const bytes = bytesOf(20, round + 1);
      const { digest } = await put(store, bytes);
      const [failure] = await Promise.all([
        failureOf(store.commit('c', recorded(`t${round}`, shows(digest)))),
        other.collect({ attachmentGraceMs: 0 }),
        put(store, bytes),
        other.collect({ attachmentGraceMs: 0 }),
      ]);
      if (failure === undefined) same(await bytesIn(store, digest), bytes, `what round ${round} refers to`);
      else holds(isTurnkeepError(failure, 'attachment_missing'), `round ${round} failed otherwise: ${show(failure)}`);
    }
  }),
  given('R11', 'puts, commits and erasures may race', async (store) => {
    const bytes = bytesOf(20);
    for (let round = 0; round < 4; round++) {
      const { digest } = await put(store, bytes);
      await store.commit(`old${round}`, recorded('t', shows(digest)));
      const putAgain = async () => {
        await put(store, bytes);
        await store.commit(`new${round}`, recorded('t', shows(digest)));
      };
      const [failure] = await Promise.all([failureOf(putAgain), erase(store, `old${round}`)]);
      if (failure === undefined) same(await bytesIn(store, digest), bytes, `what round ${round} refers to`);
      else holds(isTurnkeepError(failure, 'attachment_missing'), `round ${round} failed otherwise: ${show(failure)}`);
    }
  }),
];
