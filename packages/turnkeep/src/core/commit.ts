import { z } from 'zod';
import type { Envelope } from './backend.ts';
import type { Change, Commit, Expect } from './change.ts';
import { sealRecord } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { canonical } from './encoding.ts';
import { TurnkeepError } from './errors.ts';
import { assertNamespaceId } from './ids.ts';
import { memberPath } from './json.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import type { StoredRecord } from './log.ts';
import type { Fence } from './message.ts';
import { parseJson } from './parse-json.ts';
import { RULES, ruleFor } from './rules/index.ts';
import { assertShape, count, id } from './shapes.ts';

const expectShape: z.ZodType<Expect> = z.strictObject({
  version: count.optional(),
  graphRevision: count.optional(),
  leaf: id.nullable().optional(),
  transcript: z.strictObject({ turn: id.nullable(), lastSequence: count }).optional(),
});

const fenceShape: z.ZodType<Fence> = z.strictObject({ attempt: id, token: count });

const commitShape = z.strictObject({
  commitId: id,
  namespace: z.string(),
  conversationId: id,
  expect: expectShape.optional(),
  fence: fenceShape.optional(),
  changes: z.array(z.looseObject({ kind: z.string() })).min(1, 'a commit has at least one change'),
});

/** What preparing a commit needs from outside core. Each value is made once and passed to `decide`. */
export interface Surroundings {
  readonly sha256: Sha256;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** 16 random bytes in base64url. */
  readonly nonce: () => string;
}

/**
 * Checks a commit of unknown origin and completes it: makes a copy, mints every id, and fixes the time and the nonces.
 * Refuses what is not JSON, unknown kinds and unknown fields, with the path of the part at fault.
 */
export function prepareCommit(input: unknown, surroundings: Surroundings): Envelope {
  const plain = parseJson(input, 'commit');
  assertShape(commitShape, plain, 'commit');
  assertNamespaceId(plain.namespace, 'commit.namespace');
  const commit = plain as unknown as Commit;
  if (commit.changes.length > LIMITS.commitChanges) {
    const actual = commit.changes.length;
    throw new TurnkeepError('limit_exceeded', {
      limit: 'commitChanges',
      max: LIMITS.commitChanges,
      actual,
      path: 'commit.changes',
    });
  }
  for (const [index, change] of commit.changes.entries()) assertChange(change, `commit.changes[${index}]`);
  const changes = commit.changes.map((change, index) => completed(change, index, commit.commitId, surroundings.sha256));
  const records = changes.reduce((sum, change) => sum + ruleFor(change.kind).records(change), 0);
  const nonces = Array.from({ length: records + 1 }, surroundings.nonce);
  const content = canonical(commit.changes as unknown as Json);
  return {
    commit: { ...commit, namespace: commit.namespace, changes },
    contentDigest: surroundings.sha256(content),
    length: content.length,
    now: surroundings.now(),
    nonces,
    sealed: changes.map((change) => sealedWords(change, surroundings)),
  };
}

function sealedWords(change: Change, { sha256, nonce }: Surroundings): StoredRecord | null {
  const words = ruleFor(change.kind).words?.(change);
  return words === undefined ? null : sealRecord(sha256, nonce(), words);
}

function assertChange(change: Change, path: string): void {
  if (!Object.hasOwn(RULES, change.kind)) {
    throw new TurnkeepError('invalid_value', {
      path: memberPath(path, 'kind'),
      reason: `no kind of change is called ${change.kind}`,
    });
  }
  assertShape(ruleFor(change.kind).shape, change, path);
}

function completed(change: Change, index: number, commitId: string, sha256: Sha256): Change {
  const mint = (prefix: string) => derivedId(prefix, commitId, index, sha256);
  return ruleFor(change.kind).complete?.(change, mint) ?? change;
}

const READABLE_ID = 80;

/** An id derived from its commit's id and a position; a long commit id is replaced by its digest. */
export function derivedId(prefix: string, commitId: string, index: number, sha256: Sha256): string {
  const stem = commitId.length <= READABLE_ID ? commitId : sha256(commitId);
  return `${prefix}_${stem}.${index}`;
}
