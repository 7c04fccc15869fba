import { z } from 'zod';
import type { CheckpointPart, CheckpointWrite } from '../change.ts';
import { contentAddress } from '../digest.ts';
import type { Draft } from '../draft.ts';
import { encode } from '../encoding.ts';
import { TurnkeepError } from '../errors.ts';
import type { ChangeEvent } from '../event.ts';
import type { CheckpointId } from '../ids.ts';
import { memberPath, setOwn } from '../json.ts';
import type { Json, JsonObject } from '../json.ts';
import { KEYS, afterSeparator, numberKey, numbersIn, prefixEnd } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { code, count, id, json, shortText } from '../shapes.ts';
import type { LeftRows } from './left-rows.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';

// An address and its row take about this much: a smaller part is kept in the revision itself.
const INLINE_LENGTH = 256;

const base64 = z.string().regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'expected base64');
const checkpointPart: z.ZodType<CheckpointPart> = z.union([z.strictObject({ json }), z.strictObject({ base64 })]);

const payload: z.ZodType<{ readonly [part: string]: CheckpointPart }> = z
  .custom<{ readonly [part: string]: CheckpointPart }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected parts by name',
  )
  .superRefine((value, context) => {
    const names = Object.keys(value);
    if (names.length > LIMITS.checkpointParts) {
      context.addIssue({
        code: 'custom',
        message: 'too many',
        params: { limit: 'checkpointParts', actual: names.length },
      });
    }
    for (const name of names) {
      const result = checkpointPart.safeParse(value[name]);
      if (!result.success) context.addIssue({ code: 'custom', path: [name], message: 'a part is {json} or {base64}' });
    }
  });

const revisionShape = {
  phase: code.optional(),
  payload,
  metadata: json.optional(),
};

/** The newest revision of a checkpoint, as its row says. */
interface Latest {
  readonly revision: number;
  readonly type: string;
  readonly schemaVersion: number | null;
  readonly scope: string | null;
}

function latest(draft: Draft, checkpointId: CheckpointId): Latest | undefined {
  const prefix = KEYS.checkpointsOf(checkpointId);
  const row = draft.scan({ from: prefix, to: prefixEnd(prefix), reverse: true, limit: 1 })[0];
  if (!row) return undefined;
  const [, , type, schemaVersion, scope] = row.value as readonly [number, number, string, number | null, string | null];
  return { revision: numbersIn(afterSeparator(row.key), 0)[0] as number, type, schemaVersion, scope };
}

/** Creates revision 0, only where there is none. */
export const checkpointCreate: Rule<'checkpoint.create'> = {
  shape: z.strictObject({
    kind: z.literal('checkpoint.create'),
    checkpointId: id.optional(),
    type: code,
    schemaVersion: count.optional(),
    scope: shortText.optional(),
    parent: z.strictObject({ checkpointId: id, revision: count }).optional(),
    ...revisionShape,
  }),
  complete: (change, mint) => ({ ...change, checkpointId: change.checkpointId ?? mint('ckpt') }),
  records: (change) => 1 + Object.keys(change.payload).length,
  apply(draft, change, path) {
    const checkpointId = change.checkpointId as CheckpointId;
    const known = latest(draft, checkpointId);
    if (known) throw new TurnkeepError('checkpoint_exists', { checkpointId, revision: known.revision });
    const { parent } = change;
    if (parent && !draft.get(KEYS.checkpoint(parent.checkpointId, parent.revision))) {
      throw new TurnkeepError('no_checkpoint', { checkpointId: parent.checkpointId });
    }
    const { type, phase, metadata } = change;
    const record = addRevision(draft, change.payload, { phase, metadata, parent }, path);
    const row: Json[] = [draft.version, record, type, change.schemaVersion ?? null, change.scope ?? null];
    draft.put(KEYS.checkpoint(checkpointId, 0), row);
    return { kind: change.kind, checkpointId, revision: 0, record };
  },
  leaves: leavesRevision,
};

/** Advances from exactly the revision that was read to the next one. */
export const checkpointAdvance: Rule<'checkpoint.advance'> = {
  shape: z.strictObject({ kind: z.literal('checkpoint.advance'), checkpointId: id, from: count, ...revisionShape }),
  records: (change) => 1 + Object.keys(change.payload).length,
  apply(draft, change, path) {
    const { kind, checkpointId, from, phase, metadata } = change;
    const known = latest(draft, checkpointId);
    if (!known) throw new TurnkeepError('no_checkpoint', { checkpointId });
    if (known.revision !== from) {
      const revisions = { expectedRevision: from, actualRevision: known.revision };
      throw new TurnkeepError('checkpoint_conflict', { checkpointId, ...revisions });
    }
    const record = addRevision(draft, change.payload, { phase, metadata }, path);
    const revision = from + 1;
    draft.put(KEYS.checkpoint(checkpointId, revision), [
      draft.version,
      record,
      known.type,
      known.schemaVersion,
      known.scope,
    ]);
    return { kind, checkpointId, revision, record };
  },
  leaves: leavesRevision,
};

function leavesRevision(left: LeftRows, event: ChangeEvent<'checkpoint.create' | 'checkpoint.advance'>): void {
  const { checkpointId, revision } = event;
  const what = `revision ${revision} of checkpoint ${checkpointId}`;
  left.here(KEYS.checkpoint(checkpointId, revision), what, ([version]) => version === left.version);
}

/** A revision's record names its parts; a large part is stored by content, once for all revisions. */
function addRevision(
  draft: Draft,
  parts: { readonly [part: string]: CheckpointPart },
  rest: object,
  path: string,
): number {
  const stored: Record<string, Json> = {};
  for (const [name, part] of Object.entries(parts))
    setOwn(stored, name, storePart(draft, part, memberPath(`${path}.payload`, name)));
  return draft.addRecord({ ...(rest as JsonObject), parts: stored }, path);
}

function storePart(draft: Draft, part: CheckpointPart, path: string): JsonObject {
  const body = part as unknown as JsonObject;
  const text = encode(body);
  if (text.length < INLINE_LENGTH) return body;
  const address = contentAddress(draft.sha256, text);
  const key = KEYS.content(address);
  if (!draft.get(key)) draft.put(key, [draft.version, draft.addRecord(body, path)]);
  return { content: address };
}

/** The key of a pending write's row. */
export function keyOfWrite({ checkpointId, revision, taskPath = '', task, index }: CheckpointWrite): string {
  // Negative indexes are special channels of some agents: they come first, the lowest at the start.
  const order = index < 0 ? `-${numberKey(Number.MAX_SAFE_INTEGER + index)}` : numberKey(index);
  return KEYS.pendingWrite(checkpointId, revision, `${taskPath}\u0001${task}\u0001${order}`);
}

/** A pending write beside a revision. */
export const checkpointWrite: Rule<'checkpoint.write'> = {
  shape: z.strictObject({
    kind: z.literal('checkpoint.write'),
    checkpointId: id,
    revision: count,
    taskPath: z.union([z.literal(''), id]).optional(),
    task: id,
    index: z.int(),
    channel: shortText,
    value: checkpointPart,
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, checkpointId, revision, task, index, channel, taskPath = '' } = change;
    if (!draft.get(KEYS.checkpoint(checkpointId, revision))) throw new TurnkeepError('no_checkpoint', { checkpointId });
    const record = draft.addRecord({ channel, value: change.value }, path);
    const key = keyOfWrite(change);
    draft.get(key); // so that the row that it replaces is subtracted from the sum
    draft.put(key, [draft.version, record, taskPath, task, index]);
    return { kind, checkpointId, revision, task, index, record };
  },
  leaves(left, { checkpointId, revision }) {
    const from = KEYS.pendingWritesOf(checkpointId, revision);
    left.someHere({ from, to: prefixEnd(from) }, `what was written to checkpoint ${checkpointId}`);
  },
};
