import { encode } from '../core/encoding.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';
import type { NewMessage, Part } from '../core/message.ts';
import { withText } from '../core/exact.ts';
import type { JsonPath } from '../core/exact.ts';
import { importedId } from './ids.ts';

/** A record stays well below its limit: what stands around it is not counted here. */
const MAX_BYTES = LIMITS.recordBytes - 2_097_152;
/** A shorter text is never cut. */
const MIN_CUT = 4_096;
/** What stays in place of a text that is cut. */
const KEPT_UNITS = 65_536;
/** A unit takes up to six bytes in the encoding. */
const PIECE_UNITS = 2_097_152;

/** Where a text of a message goes on: in so many further messages, each of one text part. */
export interface Continuation {
  readonly path: JsonPath;
  readonly messages: number;
}

/** A message's bytes as core stores it. */
export function messageBytes(message: NewMessage): number {
  return Buffer.byteLength(encode(message));
}

/**
 * A message as one or more records that fit. The longest texts are cut, between characters; what is left out of place
 * follows in messages of its own, and the metadata of both sides says so: `continued` (paths and counts) on the first,
 * `continues` (the message, the path, the number) on the others. `undefined` where texts are not what makes it large.
 */
export function fitMessage(message: NewMessage, bytes: number): readonly NewMessage[] | undefined {
  if (bytes <= MAX_BYTES) return [message];
  const cuts: Cut[] = [];
  let left = bytes;
  for (const place of longTexts(message)) {
    if (left <= MAX_BYTES) break;
    const cut = cutAt(place);
    if (cut.rest === '') continue;
    left -= Buffer.byteLength(JSON.stringify(cut.rest)) - 2;
    cuts.push(cut);
  }
  return left <= MAX_BYTES ? divided(message, cuts) : undefined;
}

interface TextPlace {
  readonly path: JsonPath;
  readonly text: string;
}

interface Cut {
  readonly path: JsonPath;
  readonly kept: string;
  readonly rest: string;
}

function longTexts(message: NewMessage): readonly TextPlace[] {
  const found: TextPlace[] = [];
  const visit = (value: Json | undefined, path: JsonPath) => {
    if (typeof value === 'string') {
      if (value.length > MIN_CUT && !isFixed(path)) found.push({ path, text: value });
    } else if (Array.isArray(value)) value.forEach((item: Json, at) => visit(item, [...path, at]));
    else if (value !== null && typeof value === 'object')
      for (const key of Object.keys(value)) visit((value as JsonObject)[key], [...path, key]);
  };
  visit({ parts: message.parts as unknown as Json, metadata: message.metadata }, []);
  return found.sort((left, right) => right.text.length - left.text.length);
}

/** Ids and names are no texts: a call is found by them. */
function isFixed(path: JsonPath): boolean {
  return ['callId', 'name', 'mediaType', 'kind'].includes(String(path.at(-1)));
}

/** A data URL keeps its head only: half an image is none. */
function cutAt({ path, text }: TextPlace): Cut {
  const head = path.at(-1) === 'url' ? /^data:[^,]{0,200},/.exec(text)?.[0] : undefined;
  const at = head?.length ?? between(text, Math.min(KEPT_UNITS, text.length >> 1));
  return { path, kept: text.slice(0, at), rest: text.slice(at) };
}

/** The place itself, or the one before where it would part a pair of surrogates. */
function between(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit < 0xe000 && before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}

function divided(message: NewMessage, cuts: readonly Cut[]): readonly NewMessage[] {
  const pieces = cuts.map((cut) => ({ ...cut, texts: piecesOf(cut.rest) }));
  const continued = pieces.map(({ path, texts }) => ({ path: [...path], messages: texts.length }));
  const kept = cuts.reduce<Json>((value, cut) => withText(value, cut.path, cut.kept), {
    parts: message.parts as unknown as Json,
    metadata: message.metadata,
  }) as unknown as { readonly parts: readonly Part[]; readonly metadata?: JsonObject };
  const first: NewMessage = { ...message, parts: kept.parts, metadata: { ...kept.metadata, continued } };
  const rest = pieces.flatMap(({ path, texts }) =>
    texts.map((text, number) => continuation(message, path, number, text)),
  );
  return [first, ...rest];
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + PIECE_UNITS < text.length ? between(text, at + PIECE_UNITS) : text.length;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function continuation(message: NewMessage, path: JsonPath, number: number, text: string): NewMessage {
  const { messageId = '', role, visibility, occurredAt } = message;
  const metadata = { continues: { messageId, path: [...path], number } };
  const own = {
    messageId: importedId('msg', messageId, JSON.stringify(path), String(number)),
    role,
    parts: [{ type: 'text' as const, text }],
  };
  return { ...own, ...(visibility ? { visibility } : {}), ...(occurredAt ? { occurredAt } : {}), metadata };
}

/** The value at a path. */
export function valueAt(value: Json | undefined, path: JsonPath): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path) {
    if (at === null || typeof at !== 'object') return undefined;
    at = (at as { readonly [key: string | number]: Json | undefined })[step];
  }
  return at;
}

/** A message as it was before {@link fitMessage}, from its first record and the ones that follow it. */
export function joined(message: NewMessage, others: readonly NewMessage[]): NewMessage {
  const { continued, ...metadata } = (message.metadata ?? {}) as JsonObject;
  if (!Array.isArray(continued)) return message;
  let whole: Json = { parts: message.parts as unknown as Json, metadata };
  for (const { path, messages } of continued as unknown as readonly Continuation[]) {
    const start = valueAt(whole, path) as string;
    whole = withText(whole, path, start + textsOf(message, others, path, messages));
  }
  return { ...message, ...(whole as unknown as Pick<NewMessage, 'parts' | 'metadata'>) };
}

function textsOf(message: NewMessage, others: readonly NewMessage[], path: JsonPath, count: number): string {
  const byId = new Map(others.map((other) => [other.messageId, other]));
  const ids = Array.from({ length: count }, (_, number) =>
    importedId('msg', message.messageId ?? '', JSON.stringify(path), String(number)),
  );
  return ids.map((id) => (byId.get(id)?.parts[0] as { readonly text: string } | undefined)?.text ?? '').join('');
}
