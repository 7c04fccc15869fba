import { describe, expect, test } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import type { MessageAppend } from './change.ts';
import { derivedId, prepareCommit } from './commit.ts';
import { recordHolds } from './digest.ts';
import { LIMITS } from './limits.ts';

let nonces = 0;
const surroundings = { sha256, now: () => 7, nonce: () => `n${nonces++}` };

const prepare = (commit: unknown) => prepareCommit(commit, surroundings);
const plain = (changes: readonly unknown[], more: object = {}) => ({
  commitId: 'k',
  namespace: 'n',
  conversationId: 'c',
  changes,
  ...more,
});
const append = (message: object = {}) => ({ kind: 'message.append', message: { role: 'user', parts: [], ...message } });

/** Code and details of the refusal. */
function refusal(commit: unknown): unknown {
  try {
    return prepare(commit);
  } catch (error) {
    const { code, details } = error as { readonly code: string; readonly details: object };
    return { code, ...details };
  }
}

describe('a commit of unknown origin', () => {
  test('is copied, completed and sealed with its time and its nonces', () => {
    const input = plain([append(), append()]);
    const { commit, now, nonces: made, sealed, contentDigest } = prepare(input);
    expect(commit.changes).toMatchObject([
      { message: { messageId: 'msg_k.0' } },
      { message: { messageId: 'msg_k.1' } },
    ]);
    expect(input.changes[0]).toEqual(append());
    expect(now).toBe(7);
    expect(new Set([...made, ...sealed.map((record) => record?.nonce)]).size).toBe(3);
    for (const [index, record] of sealed.entries()) {
      const { messageId: _, ...content } = (commit.changes[index] as MessageAppend).message;
      expect(record?.body).toBe(JSON.stringify(content));
      expect(record && recordHolds(sha256, record)).toBe(true);
    }
    // What was minted is not part of what was sent.
    expect(prepare(plain([append(), append()])).contentDigest).toBe(contentDigest);
    expect(prepare(plain(commit.changes)).contentDigest).not.toBe(contentDigest);
  });

  test('every id that it left out follows from its own id and the place, so that it is found again', () => {
    const changes = [
      { kind: 'turn.submit', prompt: [] },
      { kind: 'task.create', title: 't' },
    ];
    expect(prepare(plain(changes)).commit.changes).toEqual(prepare(plain(changes)).commit.changes);
    expect(derivedId('msg', 'k'.repeat(80), 3, sha256)).toBe(`msg_${'k'.repeat(80)}.3`);
    expect(derivedId('msg', 'k'.repeat(81), 3, sha256)).toBe(`msg_${sha256('k'.repeat(81))}.3`);
  });

  test('names the forms that a value may have where it has none of them', () => {
    const file = { type: 'file', mediaType: 'text/plain', source: 'https://a.example' };
    const cases: readonly (readonly [change: object, path: string, forms: string])[] = [
      [{ kind: 'turn.submit', prompt: [], parent: 't' }, 'parent', '{ turnId }, { messageId } or null'],
      [{ kind: 'commitment.resolve', which: 'words' }, 'which', '{ commitmentId } or { matching }'],
      [append({ parts: [file] }), 'message.parts[0].source', '{ attachment }, { url } or { providerFile }'],
      [{ kind: 'turn.submit' }, '', 'either prompt or samePromptAs'],
      [{ kind: 'turn.submit', prompt: [], samePromptAs: 't' }, '', 'either prompt or samePromptAs'],
    ];
    for (const [change, path, forms] of cases) {
      const place = ['commit.changes[0]', path].filter((step) => step !== '').join('.');
      const refused = { code: 'invalid_value', path: place, reason: `expected ${forms}` };
      expect(refusal(plain([change]))).toEqual(refused);
    }
  });

  test('is refused where it does not have the shape, with the path of the part', () => {
    const cases: readonly (readonly [commit: unknown, path: string])[] = [
      [null, 'commit'],
      ['text', 'commit'],
      [{}, 'commit.commitId'],
      [plain([]), 'commit.changes'],
      [plain([append()], { commitId: '' }), 'commit.commitId'],
      [plain([append()], { commitId: 'x'.repeat(513) }), 'commit.commitId'],
      [plain([append()], { conversationId: 'a\u0000' }), 'commit.conversationId'],
      [plain([append()], { conversationId: '\ud800' }), 'commit.conversationId'],
      [plain([append()], { namespace: '..' }), 'commit.namespace'],
      [plain([append()], { namespace: 'a/b' }), 'commit.namespace'],
      [plain([append()], { other: 1 }), 'commit'],
      [plain([append()], { expect: { versoin: 1 } }), 'commit.expect'],
      [plain([append()], { expect: { version: -1 } }), 'commit.expect.version'],
      [plain([append()], { expect: { version: 1.5 } }), 'commit.expect.version'],
      [plain([append()], { fence: { attempt: 'a' } }), 'commit.fence.token'],
      [plain(['append']), 'commit.changes[0]'],
      [plain([append(), { kind: 'toString' }]), 'commit.changes[1].kind'],
      [plain([append(), { ...append(), extra: 1 }]), 'commit.changes[1]'],
      [plain([append({ role: 'robot' })]), 'commit.changes[0].message.role'],
      [plain([append({ parts: [{ type: 'text' }] })]), 'commit.changes[0].message.parts[0].text'],
      [plain([append({ metadata: { a: [1n] } })]), 'commit.changes[0].message.metadata.a[0]'],
      [plain([{ kind: 'turn.submit' }]), 'commit.changes[0]'],
      [plain([{ kind: 'turn.submit', prompt: [], samePromptAs: 't' }]), 'commit.changes[0]'],
      [plain([{ kind: 'turn.submit', promptId: 'p', samePromptAs: 't' }]), 'commit.changes[0]'],
      [plain([{ kind: 'turn.submit', metadata: 0, samePromptAs: 't' }]), 'commit.changes[0]'],
      [plain([{ kind: 'turn.submit', input: 'command', samePromptAs: 't' }]), 'commit.changes[0]'],
      [plain([{ kind: 'turn.advance', turnId: 't', to: 'done' }]), 'commit.changes[0].to'],
      [plain([{ kind: 'task.create', title: ' ' }]), 'commit.changes[0].title'],
      [plain([{ kind: 'turn.record', origin: 'Not A Code' }]), 'commit.changes[0].origin'],
      [plain([{ kind: 'checkpoint.create', type: 'agent', payload: { a: 1 } }]), 'commit.changes[0].payload.a'],
      [
        plain([{ kind: 'checkpoint.create', type: 'agent', payload: { a: { base64: '?' } } }]),
        'commit.changes[0].payload.a',
      ],
      [plain([{ kind: 'summary.commit', upTo: 'm', text: ' ' }]), 'commit.changes[0].text'],
    ];
    for (const [commit, path] of cases) expect(refusal(commit)).toMatchObject({ code: 'invalid_value', path });
  });

  test('is bounded, at the limit and one past it', () => {
    const many = (count: number) => plain(Array.from({ length: count }, () => append()));
    expect(prepare(many(LIMITS.commitChanges)).commit.changes).toHaveLength(LIMITS.commitChanges);
    expect(refusal(many(LIMITS.commitChanges + 1))).toMatchObject({
      code: 'limit_exceeded',
      limit: 'commitChanges',
      actual: LIMITS.commitChanges + 1,
    });
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    // The commit, its changes, the change and the message stand around the metadata.
    const around = 4;
    expect(prepare(plain([append({ metadata: nested(LIMITS.jsonDepth - around) })]))).toBeDefined();
    expect(refusal(plain([append({ metadata: nested(LIMITS.jsonDepth - around + 1) })]))).toMatchObject({
      code: 'limit_exceeded',
      limit: 'jsonDepth',
    });
    const calls = (count: number) =>
      append({ parts: Array.from({ length: count }, (_, at) => ({ type: 'tool_call', callId: `c${at}`, name: 'n' })) });
    expect(prepare(plain([calls(LIMITS.messageCalls)]))).toBeDefined();
    expect(refusal(plain([calls(LIMITS.messageCalls + 1)]))).toMatchObject({
      code: 'limit_exceeded',
      limit: 'messageCalls',
    });
  });

  test('an id is 1 to 512 bytes of UTF-8', () => {
    expect(prepare(plain([append()], { conversationId: 'é'.repeat(256) })).commit.conversationId).toHaveLength(256);
    expect(refusal(plain([append()], { conversationId: `${'é'.repeat(256)}x` }))).toMatchObject({
      code: 'invalid_value',
    });
  });
});
