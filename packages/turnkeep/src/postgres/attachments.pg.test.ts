import type { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../core/backend.ts';
import type { PostgresBackend } from './postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, TestSchema, versionOf } from './postgres.testkit.ts';

let schema: TestSchema;
/** Two processes of one store. */
let ours: PostgresBackend;
let theirs: PostgresBackend;

beforeEach(async () => {
  schema = await TestSchema.create();
  ours = await schema.open({ watch: 'poll' });
  theirs = await schema.open({ watch: 'poll' });
});

afterEach(async () => schema.end());

/** Puts an attachment and answers its digest. */
async function put(text: string): Promise<string> {
  return (await ledgerOver(ours).namespace(NAMESPACE).attachments.put(new TextEncoder().encode(text))).digest;
}

function shows(conversationId: string, ...digests: readonly string[]): Envelope {
  const parts = digests.map((digest) => ({ type: 'file', mediaType: 'text/plain', source: { attachment: digest } }));
  return envelope(conversationId, [
    { kind: 'turn.record', origin: 'test' },
    { kind: 'message.append', message: { role: 'user', parts } },
  ]);
}

/** A client whose transaction stays open after a commit. */
async function staysOpen(commit: Envelope): Promise<Client> {
  const client = await schema.client();
  await client.query('BEGIN');
  await ours.commitWithin(client, commit);
  return client;
}

/** Clears what nobody refers to, whoever held it. */
async function collect(): Promise<number> {
  return theirs.attachments.collect(NAMESPACE, { now: Date.now() + 1_000, graceMs: 0 });
}

/** Until a transaction waits for what another one holds. */
async function somebodyWaits(): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema.name}%'`;
  while ((await schema.rowsOf(waiting)).length === 0);
}

describe('a commit with an attachment that stays open', () => {
  it('holds up none with another attachment, of this process or of another one, and no upload', async () => {
    const [x, y] = [await put('x'), await put('y')];
    const client = await staysOpen(shows('a', x));
    await ours.commit(shows('b', y));
    await theirs.commit(shows('c', y));
    const z = await put('z');
    await Promise.all([ours.commit(shows('b', y, z)), ours.commit(shows('d', z)), theirs.commit(shows('e', z))]);
    expect(await versionOf(theirs, 'b')).toBe(2);
    await client.query('COMMIT');
    expect(await versionOf(theirs, 'a')).toBe(1);
    expect(await collect()).toBe(0);
  });

  it('keeps its attachment from who clears what nobody refers to', async () => {
    const [x, y] = [await put('x'), await put('y')];
    const client = await staysOpen(shows('a', x));
    const cleared = collect();
    await somebodyWaits();
    await client.query('COMMIT');
    expect(await cleared).toBe(1);
    const { attachments } = ledgerOver(theirs).namespace(NAMESPACE);
    expect([await attachments.stat(x), await attachments.stat(y)]).toEqual([{ digest: x, sizeBytes: 1 }, undefined]);
  });

  it('changes nothing when it is taken back', async () => {
    const x = await put('x');
    const client = await staysOpen(shows('a', x));
    await client.query('ROLLBACK');
    expect(await collect()).toBe(1);
    await expect(ours.commit(shows('a', x))).rejects.toMatchObject({ code: 'attachment_missing' });
  });
});

it('attachments that many commits name in other orders, from two processes, are used by each', async () => {
  const digests = await Promise.all(Array.from({ length: 8 }, async (_, at) => put(`file ${at}`)));
  const commits = Array.from({ length: 60 }, async (_, at) => {
    const store = at % 2 === 0 ? ours : theirs;
    await store.commit(shows(`c${at % 20}`, ...(at % 3 === 0 ? digests.toReversed() : digests)));
  });
  await Promise.all(commits);
  expect(await collect()).toBe(0);
  expect(await ledgerOver(theirs).verify()).toMatchObject({ attachments: 8, faults: [] });
});
