import { fieldOf } from './event.ts';
import { recordHolds } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { decode } from './encoding.ts';
import type { Json, JsonObject } from './json.ts';
import { headerOf } from './header.ts';
import type { LogRecord } from './log.ts';
import type { Part } from './message.ts';

/** The searchable text of one record of a commit. */
export interface SearchText {
  /** The record's index in its commit. */
  readonly record: number;
  /** `null` if the record does not match its digest: what it said is not known. */
  readonly text: string | null;
}

const WITH_PARTS = new Set(['message.append', 'turn.submit', 'input.deliver', 'message.redact']);
const WITH_TITLE = new Set(['conversation.create', 'conversation.update', 'conversation.fork', 'conversation.spawn']);

/**
 * The searched part of a commit: the words of messages (text, reasoning, refusals, tool names, inputs and outputs) and
 * titles. Words that are gone are left out. Each digest is checked; `corrupt` if the header cannot be read.
 */
export function searchTexts(log: LogRecord, sha256: Sha256): readonly SearchText[] {
  const kinds = recordKinds(log, sha256);
  const texts: SearchText[] = [];
  for (const [record, stored] of log.records.entries()) {
    if (stored.body === null) continue;
    const text = recordHolds(sha256, stored)
      ? textOf(kinds?.get(record), decode(stored.body) as JsonObject, kinds === undefined)
      : null;
    if (text !== '') texts.push({ record, text });
  }
  return texts;
}

/** The kind of change that each record belongs to; `undefined` if the header went with an erasure. */
function recordKinds(log: LogRecord, sha256: Sha256): ReadonlyMap<number, string> | undefined {
  if (log.header === null) return undefined;
  const kinds = new Map<number, string>();
  for (const event of headerOf(log, sha256, `version ${log.version}`).events) {
    const record = fieldOf(event, 'record');
    if (record !== undefined) kinds.set(record, event.kind);
  }
  return kinds;
}

/** In an erased conversation only messages that a fork sees are left: they are recognised by their shape. */
function textOf(kind: string | undefined, body: JsonObject, headerless: boolean): string {
  if (headerless ? Array.isArray(body['parts']) : WITH_PARTS.has(kind ?? ''))
    return partsText(body['parts'] as unknown as readonly Part[]);
  if (WITH_TITLE.has(kind ?? '') && typeof body['title'] === 'string') return body['title'];
  return '';
}

/** The searchable text of a message's parts, separated by line feeds. */
export function partsText(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== '')
    .join('\n');
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return part.text;
    case 'tool_call':
      return join([part.name, part.inputText ?? jsonText(part.input)]);
    case 'tool_result':
      return join([part.name ?? '', part.content ? partsText(part.content) : jsonText(part.output)]);
    case 'source':
      return part.title ?? '';
    default:
      return '';
  }
}

/** JSON as it is searched: a string as it is, anything else as its strings, numbers and keys, one per line. */
function jsonText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return join(value.map(jsonText));
  return join(Object.entries(value as JsonObject).map(([key, member]) => join([key, jsonText(member)])));
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}
