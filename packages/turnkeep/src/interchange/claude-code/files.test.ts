import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import { openLedger } from '../../ledger/open.ts';
import { importClaudeCode, planClaudeCode } from './import.ts';
import { bytesOf, jsonl, MemoryTarget, SESSION, SessionWriter, sorted, withFiles } from './session.testkit.ts';

const write = new SessionWriter();
const talk = [write.user(1, null, 'one'), write.says(2, 1, 'm1', 'two')];
const other = [new SessionWriter('other').user(9, null, 'of another session')];

describe('files', () => {
  test('a link in a folder is told and not followed; one that is named is, and a loop of them cannot be read', async () => {
    await withFiles({ [`${SESSION}.jsonl`]: jsonl(talk) }, async (folder) => {
      const [link, loop] = [join(folder, 'link.jsonl'), join(folder, 'loop.jsonl')];
      await symlink(join(folder, `${SESSION}.jsonl`), link);
      await symlink(loop, loop);
      const whole = await importClaudeCode(new MemoryTarget(), [folder]);
      expect(whole.ignored).toEqual([link, loop].map((file) => ({ file, reason: 'a link, which is not followed' })));
      expect(whole.conversations).toHaveLength(1);
      const named = await importClaudeCode(new MemoryTarget(), [link, loop, '/dev/null']);
      expect(named.conversations).toHaveLength(1);
      const reason = 'neither a file nor a folder: what a pipe gives is imported as a stream';
      expect(named.ignored).toEqual([{ file: '/dev/null', reason }]);
      expect(named.unread).toEqual([{ file: loop, reason: 'it cannot be read (ELOOP)' }]);
    });
  });

  test('sessions come in the order of their last rows, the oldest first, whatever their files are called', async () => {
    const at = (session: string, timestamp: unknown) => {
      const writer = new SessionWriter(session);
      const last = { ...writer.says(2, 1, 'm', 'two'), timestamp };
      return jsonl([writer.user(1, null, 'one'), last, { type: 'mode', mode: 'x'.repeat(900), sessionId: session }]);
    };
    const files = {
      'a.jsonl': at('a', '2026-03-01T10:00:00.000Z'),
      'b.jsonl': at('b', '2026-01-01T10:00:00+02:00'),
      'c.jsonl': at('c', '2026-01-01T09:00:00Z'),
      'd.jsonl': at('d', 7),
      'e.jsonl': '{"type":"mode","sessionId":"e"}\n',
    };
    await withFiles(files, async (folder) => {
      const { files: told } = await importClaudeCode(new MemoryTarget(), [folder]);
      expect(told.map(({ sessionId }) => sessionId)).toEqual(['e', 'b', 'c', 'a', 'd']);
    });
  });

  test('a file that is named twice is read once', async () => {
    await withFiles({ 'a/s.jsonl': jsonl(talk) }, async (folder) => {
      const paths = [join(folder, 'a/s.jsonl'), `${folder}/./a/s.jsonl`, `${folder}/a/../a`];
      expect((await importClaudeCode(new MemoryTarget(), paths)).files).toHaveLength(1);
    });
  });

  test.each([
    ['cut', ''],
    ['written over with a text of the same length', jsonl(talk).replace('one', 'ONE')],
    ['written over with what is no JSON', jsonl(talk).replaceAll('"', '{')],
  ])('a file that is %s while it is read is told, nothing of it is made up, and the others go on', async (_, now) => {
    const files = { 'a.jsonl': jsonl(talk), 'b.jsonl': jsonl(other) };
    await withFiles(files, async (folder) => {
      const target = new MemoryTarget();
      const changed = join(folder, 'a.jsonl');
      const overwriting = {
        namespace: target.namespace,
        head: async (conversationId: string) => {
          await writeFile(changed, now);
          return target.head(conversationId);
        },
        commit: (commit: unknown) => target.commit(commit),
      };
      const report = await importClaudeCode(overwriting, [changed, join(folder, 'b.jsonl')]);
      expect(report.unread).toEqual([
        { file: changed, reason: 'it was written over while it was read: import it again' },
      ]);
      const [first, second] = report.conversations.map(({ conversationId }) => conversationId);
      expect(await target.rows(first ?? '')).toEqual([]);
      expect(await target.rows(second ?? '')).toEqual(sorted(other));
      await writeFile(changed, jsonl(talk));
      await importClaudeCode(target, [changed]);
      expect(await target.rows(first ?? '')).toEqual(sorted(talk));
    });
  });

  test('a file that grows while it is read is read as it was', async () => {
    await withFiles({ 's.jsonl': jsonl(talk) }, async (folder) => {
      const target = new MemoryTarget();
      const path = join(folder, 's.jsonl');
      const growing = {
        namespace: target.namespace,
        head: async (conversationId: string) => {
          await writeFile(path, `${jsonl(talk)}{"half`);
          return target.head(conversationId);
        },
        commit: (commit: unknown) => target.commit(commit),
      };
      const report = await importClaudeCode(growing, [path]);
      expect(report).toMatchObject({ unread: [], files: [{ lines: 2, damaged: 0 }] });
      const again = await importClaudeCode(target, [path]);
      expect(again.files[0]?.damage).toMatchObject([{ line: 3, kind: 'torn_tail' }]);
      expect(await target.rows(again.conversations[0]?.conversationId ?? '')).toEqual(sorted(talk));
    });
  });
});

describe('what a caller without types may give', () => {
  const refused = async (act: () => Promise<unknown>) => {
    const error = await act().catch((thrown: unknown) => thrown);
    return isTurnkeepError(error, 'invalid_value') ? error.details.path : error;
  };
  const importing = (source: unknown, options: unknown = {}, target: unknown = new MemoryTarget()) =>
    refused(() => importClaudeCode(target as MemoryTarget, source as string[], options as object));

  test.each<[unknown, string]>([
    ['a.jsonl', 'source'],
    [undefined, 'source'],
    [null, 'source'],
    [Buffer.from('{}'), 'source'],
    [['a.jsonl', 5], 'source[1]'],
    [['a\u0000b'], 'source[0]'],
    [[''], 'source[0]'],
  ])('%j is no source', async (source, path) => {
    expect(await importing(source)).toBe(path);
  });

  test.each<[unknown, string]>([
    [null, 'options'],
    [{ sginal: 1 }, 'options.sginal'],
    [{ signal: 1 }, 'options.signal'],
    [{ onProgress: 'x' }, 'options.onProgress'],
    [{ invalidUtf8: 'skip' }, 'options.invalidUtf8'],
    [{ maxLineBytes: -1 }, 'options.maxLineBytes'],
    [{ maxLineBytes: Number.NaN }, 'options.maxLineBytes'],
    [{ maxLineBytes: 2 ** 40 }, 'options.maxLineBytes'],
  ])('%j are no options', async (options, path) => {
    expect(await importing([], options)).toBe(path);
  });

  test('a stream of texts, a target that is none, a plan without a namespace', async () => {
    const texts = (async function* () {
      yield await Promise.resolve('text');
    })();
    expect(await importing(texts)).toBe('source');
    expect(await importing([], {}, null)).toBe('target');
    expect(await importing([], {}, {})).toBe('target.namespace');
    const ledger = await openLedger('memory:');
    await expect(importClaudeCode(ledger as never, [])).rejects.toThrow("a namespace, as ledger.namespace('acme')");
    await ledger.close();
    const plan = planClaudeCode(bytesOf(''), {} as { readonly namespace: string });
    expect(await refused(() => plan.next())).toBe('options.namespace');
  });
});
