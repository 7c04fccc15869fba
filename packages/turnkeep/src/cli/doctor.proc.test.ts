import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Finding } from '../core/finding.ts';
import { openLedger } from '../ledger/open.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { cli, fillKiln, temporaryFolder } from './cli.testkit.ts';
import { EXIT } from './exit-codes.ts';

const DAY_MS = 86_400_000;

/** A private folder, as a store's should be. */
function privateFolder(): string {
  const folder = join(temporaryFolder(), 'private');
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

async function filled(url: string, now: () => number = systemSurroundings.now): Promise<string> {
  const ledger = await openLedger(url, { surroundings: { ...systemSurroundings, now } });
  await fillKiln(ledger.namespace('default'));
  await ledger.close();
  return url;
}

/** The exit code, and each check's status; `says` of one of them. */
async function doctor(store: string, asked = '') {
  const { code, stdout } = await cli(['doctor', store, '--json']);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }; // our own output
  const unwell = findings.filter(({ status }) => status !== 'ok').map(({ check, status }) => `${check} ${status}`);
  const says = findings.flatMap(({ check, says: words }) => (check === asked ? words : [])).join(' | ');
  return { code, unwell: unwell.filter((one) => !one.startsWith('space') && !one.startsWith('writing warning')), says };
}

test.each(['sqlite:', 'journal:'])('a store in order has nothing to say: %s', async (scheme) => {
  const store = await filled(`${scheme}${join(privateFolder(), 'store')}`);
  expect(await doctor(store, 'opening')).toEqual({ code: EXIT.ok, unwell: [], says: 'it opens' });
  const { code, stdout } = await cli(['doctor', store]);
  expect(code).toBe(EXIT.ok);
  for (const check of ['node', 'writing', 'space', 'modes', 'opening', 'sync', 'clock', 'format'])
    expect(stdout).toMatch(new RegExp(`^[✓!] ${check} +\\S`, 'm'));
  expect(stdout).toMatch(/^0 problems, \d warnings?$/m);
});

test('a store that keeps nothing is a warning', async () => {
  expect(await doctor('memory:')).toMatchObject({ code: EXIT.ok, unwell: ['sync warning'] });
});

test('a store that is not there, is not ours or is newer is a problem, and is left as it is', async () => {
  const folder = privateFolder();
  const missing = await doctor(`sqlite:${join(folder, 'none.db')}`, 'opening');
  expect(missing).toMatchObject({ code: EXIT.failure, unwell: ['opening problem'] });
  expect(missing.says).toContain('there is no store');
  writeFileSync(join(folder, 'notes.txt'), 'mine', { mode: 0o600 });
  expect((await doctor(`sqlite:${join(folder, 'notes.txt')}`, 'opening')).says).toContain('store_foreign');
  expect((await doctor(`journal:${folder}`, 'opening')).says).toContain('store_foreign');
  expect((await doctor(`journal:${join(folder, 'no-folder')}`, 'folder')).says).toContain('is not there');
});

test('a folder that cannot be written is a problem', async () => {
  expect((await doctor('sqlite:/proc/store.db')).unwell).toContain('writing problem');
});

test('files that others may read are a warning', async () => {
  const folder = privateFolder();
  const store = await filled(`sqlite:${join(folder, 'store.db')}`);
  chmodSync(join(folder, 'store.db'), 0o644);
  const found = await doctor(store, 'modes');
  expect(found).toMatchObject({ code: EXIT.ok, unwell: ['modes warning'] });
  expect(found.says).toContain('store.db');
});

test('a clock that went back is a problem', async () => {
  const store = await filled(`journal:${join(privateFolder(), 'store')}`, () => systemSurroundings.now() + DAY_MS);
  expect(await doctor(store)).toMatchObject({ code: EXIT.failure, unwell: ['clock problem'] });
});

test('a journal that another process writes to is looked at, and read, beside it', async () => {
  const store = await filled(`journal:${join(privateFolder(), 'store')}`);
  const writer = await openLedger(store);
  try {
    const found = await doctor(store, 'lock');
    expect(found).toMatchObject({ code: EXIT.ok, unwell: [] });
    expect(found.says).toMatch(new RegExp(`^process ${process.pid} on \\S+ writes$`));
    expect((await doctor(store, 'opening')).says).toContain(`process ${process.pid}`);
    expect((await cli(['ls', '--store', store])).stdout).toContain('kiln');
    expect((await cli(['maintain', '--store', store])).code).toBe(EXIT.busy);
  } finally {
    await writer.close();
  }
});

test('what a journal lost is a problem until it is accepted', async () => {
  const folder = join(privateFolder(), 'store');
  const store = await filled(`journal:${folder}`);
  writeFileSync(join(folder, 'segments', '0001.jsonl'), '');
  expect(await doctor(store, 'lost')).toMatchObject({
    code: EXIT.failure,
    unwell: ['damage problem', 'lost problem', 'set_aside warning'],
    says: expect.stringContaining('lines 1 to 5 are lost') as string,
  });
});
