import { describe, expect, test } from 'vitest';
import { sha256 } from '../../platform/hash.ts';
import type { Change } from '../change.ts';
import { collectErased } from '../collect.ts';
import type { Part } from '../message.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { sealUpload, sweepShelf } from './keep.ts';
import { attachmentOf, isUsed, partDigests, totalOf } from './rows.ts';
import type { UploadSeal } from './store.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 2);
const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

function seal(digest: string, sizeBytes = 10, parts = ['p']): UploadSeal {
  return { upload: 'u', digest, sizeBytes, parts, now: NOW, quotaBytes: 1_000 };
}

/** A story that has attachments. */
function holding(...seals: readonly UploadSeal[]): Story {
  const story = given();
  for (const one of seals) story.rows.apply(sealUpload(story.rows, one, sha256));
  return story;
}

function file(digest: string): Part {
  return { type: 'file', mediaType: 'text/plain', source: { attachment: digest } };
}

function shows(messageId: string, ...digests: readonly string[]): readonly Change[] {
  const message = { messageId, role: 'user' as const, parts: digests.map(file) };
  return [
    { kind: 'turn.record', turnId: `t-${messageId}`, origin: 'x' },
    { kind: 'message.append', message },
  ];
}

function redacts(messageId: string, replacement?: readonly Part[]): Change {
  return { kind: 'message.redact', messageId, reason: 'r', replacement };
}

function collect(story: Story, conversationId: string): void {
  for (const writes of collectErased(story.rows, conversationId)) story.rows.apply(writes);
}

/** What a collection removes now. */
function swept(story: Story, now = NOW, graceMs = DAY_MS): readonly string[] {
  const { removed, writes } = sweepShelf(story.rows, '', { now, graceMs });
  story.rows.apply(writes);
  return removed;
}

describe('what a commit refers to', () => {
  test('was put before, in every part that names it', () => {
    const story = holding(seal(A));
    const nested: Part = { type: 'tool_result', callId: 'l', status: 'ok', content: [file(A), file(B)] };
    const call: Part = { type: 'tool_call', callId: 'l', name: 'f' };
    const message = { role: 'assistant' as const, parts: [call, nested] };
    story
      .when(commit({ kind: 'turn.record', turnId: 't', origin: 'x' }, { kind: 'message.append', message }))
      .thenRefuses('attachment_missing', {
        digest: B,
        path: 'commit.changes[1].message.parts[1].content[1].source.attachment',
      });
    story
      .when(commit({ kind: 'turn.submit', prompt: [file(B)] }))
      .thenRefuses('attachment_missing', { digest: B, path: 'commit.changes[0].prompt[0].source.attachment' });
    story.write(commit(...shows('m', A)));
    story
      .when(commit(redacts('m', [file(B)])))
      .thenRefuses('attachment_missing', { digest: B, path: 'commit.changes[0].replacement[0].source.attachment' });
  });

  test('is not held any longer, and is used', () => {
    const story = holding(seal(A), seal(B));
    story.write(commit(...shows('m', A)));
    expect([attachmentOf(story.rows, A)?.heldSince, isUsed(story.rows, A)]).toEqual([null, true]);
    expect([attachmentOf(story.rows, B)?.heldSince, isUsed(story.rows, B)]).toEqual([NOW, false]);
    expect(swept(story, NOW + 2 * DAY_MS)).toEqual([B]);
  });

  test('is let go with the last words that refer to it', () => {
    const story = holding(seal(A));
    story.write(commit(...shows('m1', A)));
    story.write(commit(...shows('m2', A)));
    story.write(commit(redacts('m1')));
    expect(swept(story)).toEqual([]);
    story.write(commit(redacts('m2')));
    expect(swept(story)).toEqual([A]);
  });

  test('is referred to by what stands in the place of words, and let go with it', () => {
    const story = holding(seal(A), seal(B));
    story.write(commit(...shows('m', A)));
    story.write(commit(redacts('m', [file(B)])));
    expect([isUsed(story.rows, A), isUsed(story.rows, B)]).toEqual([false, true]);
    story.write(commit(redacts('m')));
    expect(isUsed(story.rows, B)).toBe(false);
  });
});

describe('the collection of an erased conversation', () => {
  test('lets go of all that it referred to', () => {
    const story = holding(seal(A), seal(B));
    story.write(commit(...shows('m', A, B)));
    story.write(commit(...shows('m', B)).to('d'));
    story.write(commit({ kind: 'conversation.erase' }));
    expect(swept(story)).toEqual([]);
    collect(story, 'c');
    expect(swept(story)).toEqual([A]);
    expect(totalOf(story.rows)).toEqual({ attachments: 1, bytes: 10 });
  });

  test('keeps what a fork still sees', () => {
    const story = holding(seal(A), seal(B));
    story.write(commit(...shows('m1', A)));
    story.write(commit({ kind: 'conversation.fork', source: 'c', at: 'm1' }).to('f'));
    story.write(commit(...shows('m2', A, B)));
    story.write(commit({ kind: 'conversation.erase' }));
    collect(story, 'c');
    expect(swept(story)).toEqual([B]);
    story.write(commit({ kind: 'conversation.erase' }).to('f'));
    collect(story, 'f');
    collect(story, 'c');
    expect(swept(story)).toEqual([A]);
  });
});

describe('what is put', () => {
  test('is counted once, and held anew when it is put again', () => {
    const story = holding(seal(A), { ...seal(A), now: NOW + 5 });
    expect(totalOf(story.rows)).toEqual({ attachments: 1, bytes: 10 });
    expect(attachmentOf(story.rows, A)).toEqual({ sizeBytes: 10, parts: 1, heldSince: NOW + 5 });
  });

  test('has its parts in order, however many', () => {
    const parts = Array.from({ length: 300 }, (_, at) => `part ${at}`);
    const story = holding(seal(A, 300, parts), seal(B));
    expect(partDigests(story.rows, A)).toEqual(parts);
    expect(swept(story, NOW + DAY_MS)).toEqual([A, B]);
    expect(partDigests(story.rows, A)).toEqual([]);
  });

  test('fits the quota of the namespace, to the byte', () => {
    const story = holding(seal(A, 400));
    expect(() => sealUpload(story.rows, seal(B, 601), sha256)).toThrow('attachmentQuotaBytes');
    story.rows.apply(sealUpload(story.rows, seal(B, 600), sha256));
    expect(totalOf(story.rows)).toEqual({ attachments: 2, bytes: 1_000 });
  });

  test('is held for the grace, to the millisecond', () => {
    const story = holding(seal(A));
    expect(swept(story, NOW + DAY_MS - 1)).toEqual([]);
    expect(swept(story, NOW + DAY_MS)).toEqual([A]);
  });

  test('in the future is held from the first look on', () => {
    const story = holding({ ...seal(A), now: NOW + 100 * DAY_MS });
    expect(swept(story)).toEqual([]);
    expect(attachmentOf(story.rows, A)?.heldSince).toBe(NOW);
    expect(swept(story, NOW + DAY_MS)).toEqual([A]);
  });

  test('is collected in slices', () => {
    const digests = Array.from({ length: 300 }, (_, at) => String(at).padStart(64, '0'));
    const story = holding(...digests.map((digest) => seal(digest, 1)));
    const removed: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const sweep = sweepShelf(story.rows, after, { now: NOW, graceMs: 0 });
      story.rows.apply(sweep.writes);
      removed.push(...sweep.removed);
      after = sweep.next;
    }
    expect(removed).toEqual(digests);
    expect(totalOf(story.rows)).toEqual({ attachments: 0, bytes: 0 });
  });
});
