import { afterEach, expect, test, vi } from 'vitest';
import { MemoryBackend } from '../../memory/index.ts';
import { sha256 } from '../../platform/hash.ts';
import { mintCommitId } from '../../platform/random.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { Access } from '../access.ts';
import { ConversationAccess } from '../conversation-access.ts';
import { ASKED, opened } from './agent.testkit.ts';
import { isOver, Lease, readBeat } from './lease.ts';

const TTL_MS = 900;

afterEach(() => {
  vi.useRealTimers();
});

function accessTo(): ConversationAccess {
  return new ConversationAccess(new Access(new MemoryBackend(sha256), systemSurroundings, mintCommitId), 'n', 'c');
}

test('an attempt shows three times in its time to live that it lives, until it ends', async () => {
  vi.useFakeTimers();
  const access = accessTo();
  const lease = new Lease(access, 'a', TTL_MS);
  await lease.begin();
  const counts: (number | undefined)[] = [];
  for (let third = 0; third <= 3; third++) {
    counts.push((await readBeat(access, 'a'))?.count);
    await vi.advanceTimersByTimeAsync(TTL_MS / 3);
  }
  expect(counts).toEqual([1, 2, 3, 4]);
  await lease.end();
  await vi.advanceTimersByTimeAsync(TTL_MS);
  expect(await readBeat(access, 'a')).toBeUndefined();
});

test('an owner is over that let go, or whose process on this host has ended, and no other', async () => {
  const access = accessTo();
  const lease = new Lease(access, 'a', TTL_MS);
  await lease.begin();
  const beat = await readBeat(access, 'a');
  if (!beat) throw new Error('the first beat is there');
  expect(isOver(undefined)).toBe(false);
  expect(isOver(beat)).toBe(false);
  expect(isOver({ ...beat, owner: { ...beat.owner, host: 'another host' } })).toBe(false);
  expect(isOver({ ...beat, owner: { ...beat.owner, pid: 2 ** 22 + 1 } })).toBe(true); // above every process id of Linux
  await lease.release();
  expect(isOver(await readBeat(access, 'a'))).toBe(true);
});

test('the first beat is there before the attempt holds the turn', async () => {
  const { ledger, conversation } = opened();
  const { backend } = ledger;
  const commit = backend.commit.bind(backend);
  const beats: number[] = [];
  backend.commit = async (envelope, signal) => {
    const holds = envelope.commit.changes.some(({ kind }) => kind === 'attempt.start');
    if (holds) beats.push((await backend.scratch.list('n')).filter(({ key }) => key.startsWith('beat ')).length);
    return commit(envelope, signal);
  };
  expect((await conversation.run(ASKED, async () => undefined, { idempotencyKey: 'k' })).state).toBe('completed');
  expect(beats).toEqual([1]);
});
