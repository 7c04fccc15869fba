import { z } from 'zod';
import type { ConversationFields } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import { count, json, listUpTo, personId, shortText } from '../shapes.ts';
import { one, untold } from './rule.ts';
import type { Rule } from './rule.ts';

/** The shapes of the list fields, each optional. */
export const fieldShapes: {
  readonly [Field in keyof ConversationFields]-?: z.ZodOptional<
    z.ZodType<Exclude<ConversationFields[Field], undefined>>
  >;
} = {
  title: shortText.nullable().optional(),
  titleSource: z.enum(['auto', 'user']).optional(),
  owner: personId.nullable().optional(),
  participants: listUpTo(personId, 'conversationLabels').optional(),
  labels: listUpTo(shortText, 'conversationLabels').optional(),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
  metadata: json.optional(),
  busyScope: z.enum(['conversation', 'path']).optional(),
};

/** Creates the conversation with its list fields; `conversation_exists` if it has a commit. */
export const conversationCreate: Rule<'conversation.create'> = {
  shape: z.strictObject({
    kind: z.literal('conversation.create'),
    ...fieldShapes,
    origin: z.strictObject({ kind: z.literal('import'), tool: shortText, source: shortText }).optional(),
  }),
  records: one,
  apply(draft, change, path) {
    if (draft.version > 1 || draft.stamp.index > 0) {
      throw new TurnkeepError('conversation_exists', { conversationId: draft.conversationId });
    }
    const { kind, origin, ...fields } = change;
    const record = writeFields(draft, fields, path, origin ? { origin } : {});
    return record === undefined ? { kind } : { kind, record };
  },
  leaves: untold,
};

/** Changes list fields and how far a reader has read. */
export const conversationUpdate: Rule<'conversation.update'> = {
  shape: z.strictObject({
    kind: z.literal('conversation.update'),
    ...fieldShapes,
    readThrough: z.strictObject({ reader: personId, sequence: count }).optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, readThrough, ...fields } = change;
    if (readThrough) readTo(draft, readThrough.reader, readThrough.sequence, path);
    const record = writeFields(draft, fields, path, {});
    return record === undefined ? { kind } : { kind, record };
  },
  leaves: untold,
};

function readTo(draft: Draft, reader: string, sequence: number, path: string): void {
  if (sequence > draft.head.lastSequence) {
    const reason = `the last sequence is ${draft.head.lastSequence}`;
    throw new TurnkeepError('invalid_value', { path: `${path}.readThrough.sequence`, reason });
  }
  const key = KEYS.reader(draft.sha256(reader));
  const before = (draft.get(key)?.[0] as number | undefined) ?? 0;
  if (sequence > before) draft.put(key, [sequence]);
}

/** Writes the merged list fields as one record, if any is given; returns its index. */
export function writeFields(
  draft: Draft,
  fields: ConversationFields,
  path: string,
  extra: JsonObject,
): number | undefined {
  const given = Object.values(fields).some((value) => value !== undefined);
  if (!given && Object.keys(extra).length === 0) return undefined;
  const before = draft.head.fields ? (draft.body(draft.head.fields) ?? {}) : {};
  const merged: JsonObject = { ...before, ...withoutNulls({ ...fields, ...titleOf(before, fields) }), ...extra };
  const record = draft.addRecord(merged, path);
  draft.head.fields = draft.refTo(record);
  draft.head.owner = (merged['owner'] as string | null | undefined) ?? null;
  draft.head.archived = merged['archived'] === true;
  draft.head.pinned = merged['pinned'] === true;
  if (merged['busyScope'] === 'path') draft.head.busyByPath = true;
  else delete draft.head.busyByPath;
  return record;
}

/** An automatic title never replaces a person's. */
function titleOf(before: JsonObject, fields: ConversationFields): JsonObject {
  if (fields.title === undefined) return { titleSource: undefined };
  const source = fields.titleSource ?? 'user';
  const held = before['title'] !== undefined && before['titleSource'] === 'user';
  if (source === 'auto' && held) return { title: undefined, titleSource: undefined };
  return { titleSource: fields.title === null ? null : source };
}

function withoutNulls(fields: JsonObject): JsonObject {
  const merged: { [field: string]: JsonObject[string] } = {};
  for (const [field, value] of Object.entries(fields)) {
    // A cleared field is absent from the merged record: spread `undefined` over what was there.
    if (value === null) merged[field] = undefined;
    else if (value !== undefined) merged[field] = value as JsonObject[string];
  }
  return merged;
}
