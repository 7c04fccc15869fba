import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { ENTRIES, packRef, unpackRef } from '../rows.ts';
import { id, json, listUpTo } from '../shapes.ts';
import { EntryPlace } from './on-path.ts';
import { one, untold } from './rule.ts';
import type { Rule } from './rule.ts';

const text = z.string().nullable().optional();

/** Updates working state: absent keeps, `null` clears, a value replaces. */
export const stateUpdate: Rule<'state.update'> = {
  shape: z.strictObject({
    kind: z.literal('state.update'),
    objective: text,
    stage: text,
    nextStep: text,
    blockers: listUpTo(z.string(), 'stateItems').nullable().optional(),
    plan: listUpTo(json, 'stateItems').nullable().optional(),
    turnId: id.optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, ...fields } = change;
    const place = new EntryPlace(draft, turnId);
    const entry = place.holding(ENTRIES.state);
    const before = entry ? draft.body(unpackRef(entry.value[0], entry.owner)) : undefined;
    const stateVersion = ((entry?.value[1] as number | undefined) ?? 0) + 1;
    const record = draft.addRecord(merge(before ?? {}, fields), path);
    place.write(ENTRIES.state, [packRef(draft.refTo(record), draft.conversationId), stateVersion]);
    return { kind, stateVersion, record };
  },
  leaves: untold,
};

function merge(before: JsonObject, fields: JsonObject): JsonObject {
  const merged: { [field: string]: JsonObject[string] } = { ...before };
  for (const [field, value] of Object.entries(fields)) {
    if (value === null) delete merged[field];
    else if (value !== undefined) merged[field] = value;
  }
  return merged;
}
