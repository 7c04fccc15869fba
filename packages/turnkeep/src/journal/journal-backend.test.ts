import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import { sha256 } from '../platform/hash.ts';
import { commitOf, contents, opened, says, temporaryDirectory, turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';
import { seal } from './files/sealed.ts';

const SMALL = { foldCommits: 8, foldBytes: 16_384, segmentBytes: 65_536, mergeRuns: 3 };

function segment(directory: string, number = 1): string {
  return `${directory}/segments/000${number}.jsonl`;
}

function lines(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}

function everyFile(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
  );
}

test('a journal holds what memory holds, before and after it is opened again, and after a rebuild', async () => {
  const directory = temporaryDirectory();
  const memory = new MemoryBackend(sha256);
  const journal = await opened(directory, { settings: SMALL });
  for (let k = 0; k < 12; k++) {
    const group = Array.from({ length: 9 }, (_, c) => turnOf(`conv-${c}`, k));
    const receipts = await Promise.all(group.map((envelope) => journal.commit(envelope)));
    const expected = await Promise.all(group.map((envelope) => memory.commit(envelope)));
    expect(receipts).toEqual(expected);
  }
  const expected = await contents(memory);
  expect(await contents(journal)).toBe(expected);
  expect(await journal.verify()).toEqual([]);
  await journal.close();
  const again = await opened(directory, { settings: SMALL });
  expect(await contents(again)).toBe(expected);
  await again.rebuild();
  expect(await contents(again)).toBe(expected);
  expect(await again.verify()).toEqual([]);
  expect((await again.feed('ns', 0, 1_000)).length).toBe(108);
  expect(await again.namespaces()).toEqual(['ns']);
  expect(readdirSync(`${directory}/segments`).length).toBeGreaterThan(3);
});

test('heads are listed in one order, whether they were folded or not', async () => {
  const memory = new MemoryBackend(sha256);
  const journal = await opened(temporaryDirectory(), { settings: { ...SMALL, foldBytes: 4_096 } });
  for (let k = 0; k < 60; k++) {
    const owner = k % 3 === 0 ? 'ann' : k % 3 === 1 ? 'ann a' : null;
    const envelope = commitOf(`c${(k * 7) % 20}`, `k${k}`, [{ kind: 'conversation.update', owner, metadata: k }]);
    const later = { ...envelope, now: 1_000_000 + ((k * 13) % 10) };
    await journal.commit(later);
    await memory.commit(later);
  }
  for (const order of ['activity', 'created'] as const) {
    for (const owner of [undefined, 'ann', 'ann a', 'bob']) {
      for (const limit of [1, 4, 100]) {
        const all = { order, owner, limit };
        const pages = await Promise.all([journal, memory].map((one) => one.read('ns', (rows) => rows.heads(all))));
        expect(pages[0]).toEqual(pages[1]);
        const last = pages[1]?.at(-1);
        if (!last) continue;
        const at = order === 'activity' ? last.lastActivityAt : last.createdAt;
        const next = { ...all, after: { at, conversationId: last.conversationId } };
        const rest = await Promise.all([journal, memory].map((one) => one.read('ns', (rows) => rows.heads(next))));
        expect(rest[0]).toEqual(rest[1]);
      }
    }
  }
});

test('a line is one line for every reader: nothing in it ends one', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory);
  const text = 'a\u2028b\u2029c\u0085d\u0000e\u001cf\u007fg \\u0085 \\\\u0085 \ud83d h\r\n';
  await journal.commit(commitOf('c\u2028', 'k1', [says('m1', 'user', text)]));
  const bytes = readFileSync(segment(directory), 'utf8');
  // eslint-disable-next-line no-control-regex
  expect(bytes.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  expect(bytes.endsWith('\n')).toBe(true);
  const body = await journal.read('ns', (rows) => rows.log('c\u2028', 1)?.records[0]?.body);
  expect((JSON.parse(body ?? '') as { parts: { text: string }[] }).parts[0]?.text).toBe(text);
  expect(JSON.parse(bytes)).toHaveProperty('commit.conversation', 'c\u2028');
});

test('files belong to their owner alone', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(`${directory}/store`, { settings: SMALL });
  for (let k = 0; k < 12; k++) await journal.commit(turnOf('c', k));
  await journal.close();
  for (const file of everyFile(`${directory}/store`)) expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const folder of ['', '/segments', '/runs'])
    expect(statSync(`${directory}/store${folder}`).mode & 0o777).toBe(0o700);
});

test('a second writer is told who writes; one that closed or died is in nobody’s way', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory);
  const refused = await openJournal(directory).catch((error: unknown) => error);
  expect(isTurnkeepError(refused, 'store_locked') && refused.details.owner).toContain(String(process.pid));
  await journal.close();
  const self = { pid: process.pid, host: 'h', boot: 'b', start: 'another start', space: '' };
  writeFileSync(`${directory}/lock.of-the-dead`, seal(self));
  const processes = { self: () => self, mayLive: () => false };
  const next = await opened(directory, { processes });
  expect(readdirSync(directory)).not.toContain('lock.of-the-dead');
  await next.commit(turnOf('c', 0));
});

test('what was acknowledged is read while it is folded and merged', async () => {
  const settings = { ...SMALL, foldCommits: 1, foldBytes: 1, mergeRuns: 2 };
  const journal = await opened(temporaryDirectory(), { settings });
  const write = async (conversation: string) => {
    for (let k = 0; k < 40; k++) {
      const { version } = await journal.commit(turnOf(conversation, k));
      for (let look = 0; look < 3; look++) {
        expect(await journal.read('ns', (rows) => rows.head(conversation)?.version)).toBe(version);
        expect(await journal.read('ns', (rows) => rows.log(conversation, k + 1)?.version)).toBe(k + 1);
      }
    }
  };
  await Promise.all(['a', 'b', 'c'].map(write));
  expect(await journal.verify()).toEqual([]);
});

test('a reader needs no lock, sees each commit that was acknowledged, and changes nothing', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: SMALL });
  await journal.commit(turnOf('c', 0));
  const reader = await opened(directory, { readOnly: true });
  expect(await codeOf(reader.commit(turnOf('c', 1)))).toBe('unsupported');
  for (let k = 1; k < 40; k++) {
    await journal.commit(turnOf('c', k));
    expect(await contents(reader)).toBe(await contents(journal));
  }
  expect(await reader.verify()).toEqual([]);
  const heard = new Promise<void>((resolve) => {
    reader.onCommit('ns', resolve);
  });
  await journal.commit(turnOf('c', 40));
  await heard;
  expect((await reader.feed('ns', 0, 100)).length).toBe(41);
});

test('another program’s directory and a newer format are refused, and not touched', async () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/notes.txt`, 'mine');
  expect(await codeOf(openJournal(directory))).toBe('store_foreign');
  expect(readdirSync(directory)).toEqual(['notes.txt']);
  const newer = temporaryDirectory();
  await (await openJournal(newer)).close();
  const manifest = seal({ format: 2, store: 'x' });
  writeFileSync(`${newer}/manifest.json`, manifest);
  const before = everyFile(newer).map((file) => [file, readFileSync(file, 'latin1')]);
  expect(await codeOf(openJournal(newer))).toBe('store_newer');
  expect(everyFile(newer).map((file) => [file, readFileSync(file, 'latin1')])).toEqual(before);
});

test('after an erasure and a collection no byte of it is left, and a rebuild brings nothing back', async () => {
  const directory = temporaryDirectory();
  const memory = new MemoryBackend(sha256);
  const journal = await opened(directory, { settings: SMALL });
  const both = async (envelope: ReturnType<typeof commitOf>) => {
    await journal.commit(envelope);
    await memory.commit(envelope);
  };
  for (let k = 0; k < 20; k++) for (const c of ['keep', 'gone', 'redact']) await both(turnOf(c, k, `${c}-words`));
  await both(commitOf('fork', 'fork-it', [{ kind: 'conversation.fork', source: 'gone', at: 'gone-message-2-2' }]));
  await both(commitOf('redact', 'r', [{ kind: 'message.redact', messageId: 'redact-message-7-1', reason: 'asked' }]));
  await both(commitOf('gone', 'e', [{ kind: 'conversation.erase' }]));
  expect(await journal.collect('ns')).toBe(await memory.collect('ns'));
  expect(await contents(journal)).toBe(await contents(memory));
  const found = (words: RegExp) => everyFile(directory).some((file) => words.test(readFileSync(file, 'latin1')));
  expect(found(/gone-words 3|gone-message-3|gone-turn-3|gone-task-3|redact-words 7\?/)).toBe(false);
  expect(found(/gone-words 2/)).toBe(true);
  expect(found(/redact-words 7\./)).toBe(true);
  expect(await journal.verify()).toEqual([]);
  await journal.rebuild();
  expect(await contents(journal)).toBe(await contents(memory));
  await both(commitOf('fork', 'e2', [{ kind: 'conversation.erase' }]));
  expect(await journal.collect('ns')).toBe(await memory.collect('ns'));
  expect(found(/gone-words|gone-message|gone-task/)).toBe(false);
  await journal.rebuild();
  expect(await contents(journal)).toBe(await contents(memory));
});

test('a line without its end is set aside, and the next one begins on a line of its own', async () => {
  const directory = temporaryDirectory();
  const journal = await openJournal(directory);
  for (let k = 0; k < 4; k++) await journal.commit(turnOf('c', k));
  const expected = await contents(journal);
  await journal.close();
  appendFileSync(segment(directory), lines(segment(directory))[0]?.slice(0, 40) ?? '');
  const again = await opened(directory);
  expect(await contents(again)).toBe(expected);
  await again.commit(turnOf('c', 4));
  expect(lines(segment(directory)).length).toBe(5);
  const [fault] = await again.verify();
  expect(fault).toMatchObject({
    kind: 'set_aside',
    place: expect.stringMatching(/^segments\/0001.jsonl, byte \d+$/) as string,
  });
  expect(readdirSync(`${directory}/damaged`).length).toBe(2);
});

test('a damaged index is built anew by itself, and leaves word of it', async () => {
  const directory = temporaryDirectory();
  const journal = await openJournal(directory, { settings: SMALL });
  for (let k = 0; k < 30; k++) await journal.commit(turnOf('c', k));
  const expected = await contents(journal);
  await journal.close();
  for (const name of readdirSync(`${directory}/runs`)) {
    const bytes = readFileSync(`${directory}/runs/${name}`);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    writeFileSync(`${directory}/runs/${name}`, bytes);
  }
  const again = await opened(directory, { settings: SMALL });
  expect(await contents(again)).toBe(expected);
  expect((await again.verify()).map(({ kind }) => kind)).toContain('set_aside');
  await again.close();
  rmSync(`${directory}/fold.json`);
  rmSync(`${directory}/runs`, { recursive: true });
  mkdirSync(`${directory}/runs`);
  expect(await contents(await opened(directory, { settings: SMALL }))).toBe(expected);
});
