import type { ConversationFields, Json, JsonObject } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import { refuse } from '../refusal.ts';

/** A conversation is created by its first change, or not at all. */
export function create(draft: Draft, change: ChangeOf<'conversation.create'>): Mark {
  assertFirst(draft);
  const { kind, origin, ...fields } = change;
  setFields(draft, fields);
  if (origin) draft.become({ fields: { ...draft.conversation.fields, origin: { ...origin } } });
  return { kind };
}

export function assertFirst(draft: Draft): void {
  const { conversationId, version } = draft.conversation;
  if (version > 0 || draft.index > 0) refuse('conversation_exists', { conversationId });
}

/** List fields: absent keeps, `null` clears. */
export function update(draft: Draft, change: ChangeOf<'conversation.update'>): Mark {
  const { kind, readThrough, ...fields } = change;
  if (readThrough) readTo(draft, readThrough.reader, readThrough.sequence);
  setFields(draft, fields);
  return { kind };
}

/** Nobody has read further than the conversation goes, and nobody unreads. */
function readTo(draft: Draft, reader: string, sequence: number): void {
  const { readers, lastSequence } = draft.conversation;
  if (sequence > lastSequence) refuse('invalid_value', { path: `${draft.where}.readThrough.sequence`, reason: '' });
  const through = Math.max(sequence, readers.get(reader) ?? 0);
  draft.become({ readers: withMember(readers, reader, through) });
}

export function setFields(draft: Draft, fields: ConversationFields): void {
  const { title, titleSource, ...others } = fields;
  let held = draft.conversation.fields;
  for (const [field, value] of Object.entries(others)) held = withField(held, field, value);
  draft.become({ fields: withTitle(held, title, titleSource ?? 'user') });
}

/** An automatic title never replaces a person's. */
function withTitle(fields: JsonObject, title: string | null | undefined, source: 'auto' | 'user'): JsonObject {
  if (title === undefined) return fields;
  if (source === 'auto' && fields['titleSource'] === 'user') return fields;
  if (title === null) return withField(withField(fields, 'title', null), 'titleSource', null);
  return { ...fields, title, titleSource: source };
}

function withField(fields: JsonObject, field: string, value: Json | undefined): JsonObject {
  if (value === undefined) return fields;
  const { [field]: _before, ...others } = fields;
  return value === null ? others : { ...others, [field]: value };
}
