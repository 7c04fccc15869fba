import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { importClaudeCode } from './import.ts';
import { bytesOf, jsonl, MemoryTarget, SessionWriter, sorted, withFiles } from './session.testkit.ts';

const write = new SessionWriter();

test('a first record of 300 KB is as any other', async () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(300_000) } };
  const rows = [
    write.user(1, null, [image, { type: 'text', text: 'what is this?' }]),
    write.says(2, 1, 'm', 'a picture'),
  ];
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(await target.rows(report.conversations[0]?.conversationId ?? '')).toEqual(sorted(rows));
});

test('an output of 20 MB is cut into records that fit, said so, and comes back whole', async () => {
  const output = `${'line 🔥 of output\n'.repeat(1_100_000)}end`;
  const rows = [
    write.user(1, null, 'run'),
    write.calls(2, 1, 'm1', 'A'),
    write.result(3, 2, 'A', output, { toolUseResult: { stdout: output, stderr: '' } }),
    write.says(4, 3, 'm2', 'done'),
  ];
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(report.refused).toEqual([]);
  expect(report.files[0]?.notes).toMatchObject([{ kind: 'split', line: 3 }]);
  const id = report.conversations[0]?.conversationId ?? '';
  expect(await target.rows(id)).toEqual(sorted(rows));
  const texts = (await target.path(id)).flatMap(({ parts }) =>
    parts.map((part) => (part.type === 'text' ? part.text : '')),
  );
  expect(texts.every((text) => text.isWellFormed())).toBe(true);
  const again = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(again.conversations[0]).toMatchObject({
    commits: report.conversations[0]?.commits,
    replayed: report.conversations[0]?.commits,
  });
});

test('structures that are large without a long text become texts', async () => {
  const input = Array.from({ length: 6_000 }, (_, at) => ({ at, text: `${at} `.repeat(700).slice(0, 3_000) }));
  const rows = [
    write.user(1, null, 'run'),
    write.calls(2, 1, 'm1', 'A', input),
    write.result(3, 2, 'A', 'ok', { toolUseResult: input }),
  ];
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(report.refused).toEqual([]);
  expect(report.files[0]).toMatchObject({ openCalls: [], imported: 3 });
  expect(await target.rows(report.conversations[0]?.conversationId ?? '')).toEqual(sorted(rows));
});

test('a summary that is no summary any more, and a name of a call that is none, are kept', async () => {
  const talk = [write.user(1, null, 'run'), write.says(2, 1, 'm1', 'done')];
  const long = 'x'.repeat(3_000_000);
  const rows = [
    ...talk,
    write.boundary(3, 2),
    write.summary(4, 3, long),
    write.user(5, 4, 'on'),
    write.calls(6, 5, 'm2', 'A', {}, long),
    write.result(7, 6, 'A', 'ok'),
  ];
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(report.refused).toEqual([]);
  expect(report.files[0]?.notes.map(({ kind }) => kind)).toEqual(['summary_too_long', 'orphan_result']);
  expect(await target.rows(report.conversations[0]?.conversationId ?? '')).toEqual(sorted(rows));
});

test('a message with more calls than one may have goes on in further ones', async () => {
  const calls = Array.from({ length: 700 }, (_, at) => ({ type: 'tool_use', id: `c${at}`, name: 'T', input: {} }));
  const texts = Array.from({ length: 1_500 }, (_, at) => ({ type: 'text', text: `t${at}` }));
  const results = calls.map(({ id }, at) => write.result(10 + at, 2, id, 'ok'));
  const rows = [write.user(1, null, texts), write.assistant(2, 1, 'm', calls), ...results];
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(report.refused).toEqual([]);
  expect(report.files[0]?.openCalls).toEqual([]);
  expect(await target.rows(report.conversations[0]?.conversationId ?? '')).toEqual(sorted(rows));
});

test('a turn of many rows is several commits, each within its limits, and one path', async () => {
  const rows = [write.user(1, null, 'go')];
  for (let at = 1; at < 2_500; at++) rows.push(write.says(at + 1, at, `m${at}`, `t${at}`));
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  const id = report.conversations[0]?.conversationId ?? '';
  expect(report.conversations[0]?.turns).toBeGreaterThan(4);
  expect(report.conversations[0]?.turns).toBeLessThan(20);
  expect((await target.path(id)).map(({ parts }) => (parts[0]?.type === 'text' ? parts[0].text : ''))).toEqual([
    'go',
    ...rows.slice(1).map((_, at) => `t${at + 1}`),
  ]);
});

/** Imports into nothing, in a thread whose heap is a fraction of the file; it answers the report and the commits. */
const IMPORT_IN_LITTLE = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.module).then(async ({ importClaudeCode }) => {
  let commits = 0;
  const head = async () => undefined;
  const commit = async () => ({ graphRevision: 2 * ++commits, events: [], replayed: false });
  const report = await importClaudeCode({ namespace: 'imports', head, commit }, [workerData.path]);
  parentPort.postMessage({ commits, messages: report.conversations[0].messages });
});`;

test('a file of 200 MB is read in a heap of 64 MB', async () => {
  const output = 'x'.repeat(1_000_000);
  const rows = (at: number) => [
    write.user(3 * at + 1, at === 0 ? null : 3 * at, `q${at}`),
    write.calls(3 * at + 2, 3 * at + 1, `m${at}`, `c${at}`),
    write.result(3 * at + 3, 3 * at + 2, `c${at}`, output),
  ];
  const file = Buffer.concat(Array.from({ length: 200 }, (_, at) => Buffer.from(jsonl(rows(at)))));
  await withFiles({ 'big.jsonl': file }, async (folder) => {
    const workerData = { module: new URL('./import.js', import.meta.url).href, path: join(folder, 'big.jsonl') };
    const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };
    const worker = new Worker(IMPORT_IN_LITTLE, { eval: true, workerData, resourceLimits });
    const [answer] = (await once(worker, 'message')) as unknown[];
    expect(answer).toMatchObject({ commits: 201, messages: { user: 200, assistant: 200, tool: 200 } });
    await worker.terminate();
  });
});
