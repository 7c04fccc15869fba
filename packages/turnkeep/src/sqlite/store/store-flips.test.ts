import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verifyConversation } from '../../core/verify/conversation.ts';
import type { VerifyCursor } from '../../core/verify/conversation.ts';
import type { RowReader } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { isShelf } from '../../core/shelf.ts';
import { openLedger } from '../../ledger/open.ts';
import { sha256 } from '../../platform/hash.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';
import { openForReading } from './store-file.ts';
import { StoreReader } from './store-reader.ts';
import { checksOfStore } from './store-verify.ts';

/** Bits all over a small file are turned, one at a time: a reading or a check tells of each that changes what is read. */

const FLIPS = 300;
const SEED = 20_261_130;

async function write(path: string): Promise<void> {
  const ledger = await openLedger(`sqlite:${path}`);
  for (let at = 0; at < 40; at++) {
    const text = `words of ${at} ${'long '.repeat(at % 10 === 0 ? 400 : 5)}`;
    const talk = ledger.namespace(NAMESPACE).conversation(`talk ${at % 3}`);
    await talk.append({ messageId: `m${at}`, role: 'user', parts: [{ type: 'text', text }] });
  }
  await ledger.backend.cool(NAMESPACE, { hotMessages: 5 });
  await ledger.maintain();
  await ledger.close();
}

interface Look {
  readonly isTold: boolean;
  /** What each conversation says, or where reading it ended. Nonces are left out: nobody can tell one from another. */
  readonly says: string;
}

/** Damage is told in the driver's words or ours; everything else is a mistake of our own. */
function orTold<Answer>(read: () => Answer): Answer | 'told' {
  try {
    return read();
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt') || driverFault(error).code.startsWith('SQLITE_')) return 'told';
    throw error;
  }
}

function look(path: string): Look {
  const found = orTold(() => {
    const database = openForReading({ path, journal: 'auto', busyTimeoutMs: 100 }, 100);
    try {
      const faults = checksOfStore(database).flatMap((check) => check());
      const reader = new StoreReader(database);
      const rows = reader.rows(reader.namespace(NAMESPACE));
      const heads = rows.heads({ order: 'created', limit: 100 }).filter((head) => !isShelf(head.conversationId));
      const told = heads.map((head) => isFaulty(rows, head.conversationId));
      const says = heads.map((head) => [head, orTold(() => readAll(rows, head.conversationId, head.version))]);
      const text = JSON.stringify(says).replaceAll(/"nonce":"[^"]*"/g, '');
      return { isTold: faults.length > 0 || told.includes(true), says: text };
    } finally {
      database.close();
    }
  });
  return found === 'told' ? { isTold: true, says: '' } : found;
}

function readAll(rows: RowReader, id: ConversationId, version: number): readonly unknown[] {
  const logs = Array.from({ length: version }, (_, at) => rows.log(id, at + 1));
  return [rows.scan(id, { from: '', to: '\u{10ffff}' }), logs];
}

function isFaulty(rows: RowReader, conversationId: ConversationId): boolean {
  for (let cursor: VerifyCursor | undefined; ;) {
    const step = verifyConversation(rows, sha256, { namespace: NAMESPACE, conversationId }, cursor);
    if (step.faults.length > 0) return true;
    if (!step.next) return false;
    cursor = step.next;
  }
}

test('a turned bit is told, wherever it stands, or changes nothing that is read', () =>
  withStoreFile(async (path) => {
    await write(path);
    const bytes = readFileSync(path);
    const whole = look(path);
    expect(whole.isTold).toBe(false);
    let told = 0;
    const silent: number[] = [];
    let state = SEED;
    for (let flip = 0; flip < FLIPS; flip++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      const at = Math.floor((flip + (state % 1_000) / 1_000) * (bytes.length / FLIPS));
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8((bytes[at] as number) ^ (1 << ((state >> 10) % 8)), at);
      writeFileSync(path, damaged);
      const { isTold, says } = look(path);
      if (isTold) told += 1;
      else if (says !== whole.says) silent.push(at);
    }
    expect(silent).toEqual([]);
    expect(told).toBeGreaterThan(FLIPS / 20);
  }));
