import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PART_BYTES } from '../../core/attachments/store.ts';
import { prefixEnd } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import { openDatabase } from '../../sqlite/driver/open-database.ts';
import type { Ledger } from '../ledger.ts';
import { openLedger } from '../open.ts';

const BYTES = Buffer.alloc(2 * PART_BYTES + 500, 'some words of a file. ');

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-attachments-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function allFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The file of the one attachment of a journal. */
function attachmentFile(folder: string): string {
  const path = allFiles(join(folder, 'store', 'attachments')).find((name) => statSync(name).size === BYTES.length);
  if (path === undefined) throw new Error('the journal has no file of that size');
  return path;
}

function onFile(change: (path: string) => void): (folder: string) => void {
  return (folder) => change(attachmentFile(folder));
}

function inDatabase(sql: string): (folder: string) => void {
  return (folder) => {
    const database = openDatabase(join(folder, 'store'));
    database.exec(sql);
    database.close();
  };
}

async function refersTo(ledger: Ledger, digest: string): Promise<void> {
  const file = { type: 'file', mediaType: 'text/plain', source: { attachment: digest } } as const;
  await ledger
    .namespace('n')
    .conversation('c')
    .append({ role: 'user', parts: [file] });
}

test.each([
  [
    'sqlite',
    'a byte is another',
    inDatabase(`UPDATE parts SET bytes = CAST('x' || substr(bytes, 2) AS BLOB) WHERE id % 65536 = 1`),
  ],
  ['sqlite', 'a part is missing', inDatabase('DELETE FROM parts WHERE id % 65536 = 1')],
  ['sqlite', 'a part is cut', inDatabase('UPDATE parts SET bytes = substr(bytes, 1, 1000) WHERE id % 65536 = 1')],
  [
    'journal',
    'a byte is another',
    onFile((path) => {
      const bytes = readFileSync(path);
      bytes.writeUInt8(0, PART_BYTES + 7);
      writeFileSync(path, bytes);
    }),
  ],
  ['journal', 'the file is missing', onFile((path) => unlinkSync(path))],
  ['journal', 'the file is cut', onFile((path) => truncateSync(path, PART_BYTES + 3))],
] as const)('damage is told, never handed out, and mended by another put: %s, %s', async (scheme, _what, damage) => {
  const folder = temporaryFolder();
  const url = `${scheme}:${join(folder, 'store')}`;
  const before = await openLedger(url);
  const { digest } = await before.namespace('n').attachments.put(BYTES);
  await refersTo(before, digest);
  expect((await before.verify()).faults).toEqual([]);
  await before.close();
  damage(folder);
  const ledger = await openLedger(url);
  onTestFinished(() => ledger.close());
  const { attachments } = ledger.namespace('n');
  const read: Uint8Array[] = [];
  const reading = async () => {
    for await (const chunk of await attachments.get(digest)) read.push(chunk);
  };
  await expect(reading()).rejects.toMatchObject({
    code: 'corrupt',
    details: { place: `namespace n, attachment ${digest}` },
  });
  expect(BYTES.subarray(0, Buffer.concat(read).length).equals(Buffer.concat(read))).toBe(true);
  expect((await ledger.verify()).faults).toContainEqual(
    expect.objectContaining({ kind: 'attachment', place: `namespace n, attachment ${digest}` }),
  );
  await attachments.put(BYTES);
  expect(BYTES.equals(await (await attachments.get(digest)).bytes())).toBe(true);
  expect((await ledger.verify()).faults).toEqual([]);
});

test.each(['sqlite', 'journal'])('no byte and no digest of what went is in any file: %s', async (scheme) => {
  const folder = temporaryFolder();
  const ledger = await openLedger(`${scheme}:${join(folder, 'store')}`);
  const { digest } = await ledger.namespace('n').attachments.put(BYTES);
  await refersTo(ledger, digest);
  await ledger.namespace('n').conversation('kept').create({ title: 'Kept' });
  await ledger.namespace('n').conversation('c').erase();
  await ledger.namespace('n').collect();
  for (const path of allFiles(folder)) {
    const bytes = readFileSync(path);
    expect([path, bytes.includes('words of a file'), bytes.includes(digest)]).toEqual([path, false, false]);
  }
  expect((await ledger.verify()).faults).toEqual([]);
  await ledger.backend.rebuild();
  expect(await ledger.namespace('n').attachments.stat(digest)).toBeUndefined();
  expect((await ledger.verify()).faults).toEqual([]);
  await ledger.close();
});

test('an index that is built anew knows the attachments: journal', async () => {
  const ledger = await openLedger(`journal:${join(temporaryFolder(), 'store')}`);
  onTestFinished(() => ledger.close());
  const { attachments } = ledger.namespace('n');
  const gone = await attachments.put(Buffer.from('gone'));
  await ledger.namespace('n').collect({ attachmentGraceMs: 0 });
  const { digest } = await attachments.put(BYTES);
  await refersTo(ledger, digest);
  await ledger.backend.rebuild();
  expect(BYTES.equals(await (await attachments.get(digest)).bytes())).toBe(true);
  expect(await attachments.stat(gone.digest)).toBeUndefined();
  expect(await ledger.namespace('n').collect({ attachmentGraceMs: 0 })).toBe(0);
});

test('rows that lead to the parts of another attachment are damage, told before its last part', async () => {
  const ledger = await openLedger('memory:');
  const { attachments } = ledger.namespace('n');
  const other = Buffer.from(BYTES).fill('x', 0, 5);
  const [{ digest }, { digest: wrong }] = [await attachments.put(BYTES), await attachments.put(other)];
  const { backend } = ledger;
  const read = backend.read.bind(backend);
  const [from, to] = [`P${digest}`, `P${wrong}`];
  backend.read = async (namespace, reading, sought) =>
    read(
      namespace,
      (rows) =>
        reading({
          head: (id) => rows.head(id),
          log: (id, version) => rows.log(id, version),
          heads: (query) => rows.heads(query),
          get: (id, key) => rows.get(id, key),
          scan: (id, range) => rows.scan(id, range.from === from ? { from: to, to: prefixEnd(to) } : range),
        }),
      sought,
    );
  const part = backend.attachments.part.bind(backend.attachments);
  backend.attachments.part = async (namespace, _, index) => part(namespace, wrong, index);
  const content = await attachments.get(digest);
  const given: number[] = [];
  const reading = (async () => {
    for await (const chunk of content) given.push(chunk.length);
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'corrupt',
    details: { reason: 'it does not match its digest' },
  });
  expect(given).toEqual([PART_BYTES, PART_BYTES]);
});

test('a source that goes on past the limit of one attachment is refused there', async () => {
  const ledger = await openLedger('memory:');
  const { attachments } = ledger.namespace('n');
  let given = 0;
  const chunk = new Uint8Array(PART_BYTES);
  const endless = function* () {
    for (;;) {
      given += chunk.length;
      yield chunk;
    }
  };
  await expect(attachments.put(endless())).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'attachmentBytes', max: LIMITS.attachmentBytes },
  });
  expect(given).toBe(LIMITS.attachmentBytes + PART_BYTES);
});

test('a source that is not read to its end is told so', async () => {
  const ledger = await openLedger('memory:');
  let ended = false;
  const source = async function* () {
    try {
      for (;;) yield new Uint8Array(10);
    } finally {
      ended = true;
    }
  };
  await expect(ledger.namespace('n').attachments.put(source(), { maxBytes: 25 })).rejects.toMatchObject({
    code: 'limit_exceeded',
  });
  expect(ended).toBe(true);
});

test.each(['a stream', 'chunks'])('a source that is silent is given up with the signal: %s', async (what) => {
  const { attachments } = (await openLedger('memory:')).namespace('n');
  const given = new AbortController();
  let isTold = false;
  const silent: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        queueMicrotask(() => given.abort(new Error('too long')));
        return new Promise<never>(() => undefined);
      },
      async return() {
        isTold = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull() {
      given.abort(new Error('too long'));
      return new Promise<never>(() => undefined);
    },
  });
  const putting = attachments.put(what === 'chunks' ? silent : stream, { signal: given.signal });
  await expect(putting).rejects.toMatchObject({ code: 'aborted', details: { reason: 'Error: too long' } });
  expect(isTold).toBe(what === 'chunks');
});

test('a source that is silent is given up where the store is closed', async () => {
  const ledger = await openLedger('memory:');
  let asked = () => undefined as void;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const silent = new ReadableStream<Uint8Array>({
    async pull() {
      asked();
      return new Promise<never>(() => undefined);
    },
  });
  const { signal } = new AbortController();
  const putting = [undefined, { signal }].map(async (options) =>
    ledger.namespace('n').attachments.put(silent, options),
  );
  const [first, second] = putting.map(async (one) => one.catch((error: unknown) => error));
  await isAsked;
  await ledger.close();
  expect(await first).toMatchObject({ code: 'closed' });
  expect(await second).toBeInstanceOf(Error); // the stream is read by the first one
});

test('what a source throws is thrown on', async () => {
  const { attachments } = (await openLedger('memory:')).namespace('n');
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    throw new RangeError('no more');
  };
  await expect(attachments.put(failing(), { signal: new AbortController().signal })).rejects.toThrow(RangeError);
});
