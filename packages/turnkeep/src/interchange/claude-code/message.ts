import type { Json, JsonObject } from '../../core/json.ts';
import { setOwn } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { callsOf } from '../../core/message.ts';
import type { NewMessage, Part } from '../../core/message.ts';
import { equalJson } from '../equal.ts';
import { depthOf, parseExact, textAt } from '../../core/exact.ts';
import type { JsonPath } from '../../core/exact.ts';
import { fitMessage, joined, messageBytes, valueAt } from '../fit.ts';
import { importedId } from '../ids.ts';
import { blockOfPart, partOfBlock } from './part.ts';
import { isClientMade, isObject, pairIn, textOf } from './row.ts';
import type { Row } from './row.ts';
import { contentDigest, isWholeIn, MAX_ROW_DEPTH } from './session-file.ts';
import type { LoadedRow } from './session-file.ts';

/** The kind of an opaque part that holds a row's own text, where its value would not come back. */
const ROW_TEXT = 'claude-code.row_text';
/** A repeated text of a row is stored once where it is at least this long. */
const MIN_COPY = 256;

/** What of a row stands beside its message's parts; with them it gives the row back. */
interface KeptRow {
  /** The row without its content, and without long texts that the content repeats. */
  readonly row?: JsonObject | undefined;
  /** The row's own text, where its value is not exact or the parts do not give it back. */
  readonly text?: string | undefined;
  /** How many parts are the row's, and how its content came. */
  readonly parts: number;
  readonly content: 'string' | 'blocks' | 'line' | 'none';
  /** Where a text of the row is a copy of one of its content. */
  readonly copies?: readonly (readonly [JsonPath, JsonPath])[] | undefined;
}

/** A message with its rows, not yet cut to what a record holds. */
export interface BuiltMessage {
  readonly message: NewMessage;
  readonly rows: readonly Row[];
}

/** What the builder of messages is told of the conversation. */
export interface MessageContext {
  readonly conversationId: string;
  readonly unpaired: ReadonlyMap<Row, ReadonlySet<string>>;
  /** The turn in which the store has a call that a row answers; nothing where it comes with the row. */
  readonly turnOfCall: (row: Row, callId: string) => string | undefined;
  /** What names the row in the store. */
  readonly keyOf: (row: Row) => string;
}

/** A row's parts and what is kept beside them. */
interface Piece {
  readonly loaded: LoadedRow;
  readonly parts: readonly Part[];
  readonly kept: KeptRow;
}

const NONE: ReadonlySet<string> = new Set();
/** Rows of bookkeeping that share one message. */
const MAX_SIDES = 50;
const MAX_SIDES_BYTES = 262_144;

/**
 * The messages of rows that stand one after the other. Rows of one API message make one message, each other row of the
 * dialogue one of its own; neighbouring rows of bookkeeping share one. `unitOf` tells rows of one API message.
 */
export function messagesOf(
  loaded: readonly LoadedRow[],
  unitOf: (row: Row) => unknown,
  context: MessageContext,
): readonly BuiltMessage[] {
  return groupsOf(loaded, unitOf, context).flatMap((group) => built(group, context));
}

function groupsOf(
  loaded: readonly LoadedRow[],
  unitOf: (row: Row) => unknown,
  context: MessageContext,
): readonly (readonly Piece[])[] {
  const groups: Piece[][] = [];
  let bytes = 0;
  for (const one of loaded) {
    const piece = pieceOf(one, context.unpaired.get(one.row) ?? NONE);
    const group = groups.at(-1);
    if (group && joins(group, piece, unitOf, bytes)) group.push(piece);
    else {
      groups.push([piece]);
      bytes = 0;
    }
    bytes += one.row.bytes;
  }
  return groups;
}

function joins(group: readonly Piece[], piece: Piece, unitOf: (row: Row) => unknown, bytes: number): boolean {
  const [first] = group as [Piece];
  const { row } = piece.loaded;
  if (row.kind !== first.loaded.row.kind) return false;
  if (row.kind === 'assistant') return unitOf(row) === unitOf(first.loaded.row) && fitsOne([...group, piece]);
  const isNoise = row.kind === 'side' && piece.kept.content === 'none' && first.kept.content === 'none';
  const isAlike = visibilityOf(piece.loaded) === visibilityOf(first.loaded);
  return isNoise && isAlike && group.length < MAX_SIDES && bytes + row.bytes <= MAX_SIDES_BYTES;
}

function fitsOne(group: readonly Piece[]): boolean {
  const parts = group.flatMap((piece) => piece.parts);
  const { calls, answers } = callsOf(parts);
  return parts.length <= LIMITS.messageParts && calls.length + answers.length <= LIMITS.messageCalls;
}

function pieceOf(loaded: LoadedRow, unpaired: ReadonlySet<string>): Piece {
  const isExact = isWholeIn(loaded);
  const content = contentOf(loaded);
  const parts = partsOf(loaded, content, isExact, unpaired);
  const text = { text: loaded.text, parts: parts.length, content };
  if (!isExact) return { loaded, parts, kept: content === 'none' ? { parts: parts.length, content } : text };
  const kept = keptOf(loaded.value, content, parts.length);
  return { loaded, parts, kept: equalJson(rowFrom(kept, parts), loaded.value) ? kept : text };
}

function contentOf({ row, value }: LoadedRow): KeptRow['content'] {
  if (row.kind === 'side' || row.kind === 'boundary') return row.type === 'system' && row.hasText ? 'line' : 'none';
  const content = isObject(value['message']) ? value['message']['content'] : undefined;
  return typeof content === 'string' ? 'string' : Array.isArray(content) ? 'blocks' : 'none';
}

function partsOf(
  loaded: LoadedRow,
  content: KeptRow['content'],
  isExact: boolean,
  unpaired: ReadonlySet<string>,
): readonly Part[] {
  const { value, row } = loaded;
  if (content === 'line') return [{ type: 'text', text: textOf(value, 'content') ?? '' }];
  if (content === 'string') return [{ type: 'text', text: textOf(value['message'], 'content') ?? '' }];
  if (content === 'blocks') return blockParts(loaded, unpaired);
  if (!isExact) return [{ type: 'opaque', kind: ROW_TEXT, value: loaded.text }];
  return [{ type: 'opaque', kind: `claude-code.${row.type || 'row'}`, value }];
}

function blockParts(loaded: LoadedRow, unpaired: ReadonlySet<string>): readonly Part[] {
  const blocks = (loaded.value['message'] as JsonObject)['content'] as readonly Json[];
  const isDeep = loaded.depth > MAX_ROW_DEPTH;
  const paired = new Set(unpaired);
  return blocks.map((block, at) => {
    const path = ['message', 'content', at];
    const isTooDeep = isDeep && depthOf(textAt(loaded.text, path) ?? '') > MAX_ROW_DEPTH - 20;
    const isInexact = isTooDeep || loaded.inexact.some((number) => startsWith(number.path, path));
    const id = pairIn(loaded.row, block);
    // One message calls and answers an id once.
    const pairs = id !== undefined && !paired.has(id);
    if (id !== undefined) paired.add(id);
    if (!isInexact) return partOfBlock(block, { pairs });
    const exactText = () => textAt(loaded.text, path) ?? JSON.stringify(block);
    const inputText = () => textAt(loaded.text, [...path, 'input']) ?? 'null';
    return partOfBlock(block, pairs && loaded.row.kind === 'assistant' ? { pairs, inputText } : { pairs, exactText });
  });
}

function startsWith(path: JsonPath, start: JsonPath): boolean {
  return start.every((step, at) => path[at] === step);
}

function keptOf(value: JsonObject, content: KeptRow['content'], parts: number): KeptRow {
  if (content === 'none') return { parts, content };
  if (content === 'line') return { row: without(value, 'content'), parts, content };
  const message = value['message'] as JsonObject;
  const { copies, row } = withoutCopies({ ...value, message: without(message, 'content') }, message['content']);
  return copies.length > 0 ? { row, parts, content, copies } : { row, parts, content };
}

function without(value: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

/** Takes long texts out of a row that its content repeats, as the structured copy of a tool's result does. */
function withoutCopies(
  row: JsonObject,
  content: Json | undefined,
): { readonly row: JsonObject; readonly copies: (readonly [JsonPath, JsonPath])[] } {
  const places = new Map<string, JsonPath>();
  eachLongText(content, ['message', 'content'], (text, path) => places.set(text, path));
  const copies: (readonly [JsonPath, JsonPath])[] = [];
  if (places.size === 0) return { row, copies };
  const strip = (value: Json | undefined, path: JsonPath): Json | undefined => {
    if (typeof value === 'string') {
      const original = value.length >= MIN_COPY ? places.get(value) : undefined;
      if (!original) return value;
      copies.push([path, original]);
      return undefined;
    }
    // An item of a list keeps its place: an empty text stands in.
    if (Array.isArray(value)) return value.map((item: Json, at) => strip(item, [...path, at]) ?? '');
    if (!isObject(value)) return value;
    const copy: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value)) {
      const kept = strip(member, [...path, key]);
      if (kept !== undefined) setOwn(copy, key, kept);
    }
    return copy;
  };
  return { row: strip(row, []) as JsonObject, copies };
}

function eachLongText(value: Json | undefined, path: JsonPath, visit: (text: string, path: JsonPath) => void): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_COPY) visit(value, path);
  } else if (Array.isArray(value)) value.forEach((item: Json, at) => eachLongText(item, [...path, at], visit));
  else if (isObject(value))
    for (const [key, member] of Object.entries(value)) eachLongText(member, [...path, key], visit);
}

/** The row that was kept, from what is beside the parts and the parts. */
function rowFrom(kept: KeptRow, parts: readonly Part[]): Json {
  if (kept.content === 'none') return blockOfPart(parts[0] as Part);
  const row = kept.row ?? {};
  const [first] = parts;
  if (kept.content === 'line') return { ...row, content: first?.type === 'text' ? first.text : '' };
  const content = kept.content === 'string' ? (first?.type === 'text' ? first.text : '') : parts.map(blockOfPart);
  const whole: JsonObject = { ...row, message: { ...(row['message'] as JsonObject), content } };
  return (kept.copies ?? []).reduce<Json>(
    (value, [path, from]) => withValue(value, path, valueAt(whole, from) ?? ''),
    whole,
  );
}

function withValue(value: Json | undefined, path: JsonPath, wanted: Json): Json {
  const [step, ...deeper] = path;
  if (step === undefined) return wanted;
  if (Array.isArray(value))
    return value.map((item: Json, at) => (at === step ? withValue(item, deeper, wanted) : item));
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries((value ?? {}) as JsonObject))
    if (member !== undefined) setOwn(copy, key, member);
  setOwn(copy, String(step), withValue(copy[String(step)], deeper, wanted));
  return copy;
}

type Visibility = NonNullable<NewMessage['visibility']>;

/** Whom a row is for: the tool's own bookkeeping is not for the model, what it injects was not typed by the user. */
function visibilityOf({ row, value }: LoadedRow): Visibility {
  if (row.kind === 'side' || row.kind === 'boundary' || row.kind === 'summary')
    return row.type === 'attachment' ? 'model' : 'user';
  if (value['isVisibleInTranscriptOnly'] === true || value['isApiErrorMessage'] === true) return 'user';
  return value['isMeta'] === true ? 'model' : 'all';
}

function roleOf({ row, value }: LoadedRow): NewMessage['role'] {
  if (row.kind === 'result') return 'tool';
  if (row.kind === 'side' || row.kind === 'boundary') return 'system';
  if (row.type !== 'assistant') return 'user';
  return value['isApiErrorMessage'] === true ? 'system' : 'assistant';
}

/** A group's message, in several where it has more parts than one may have or more bytes than a record holds. */
function built(group: readonly Piece[], context: MessageContext): readonly BuiltMessage[] {
  const rows = group.map((piece) => piece.loaded.row);
  const whole = messageOf(group, context);
  const { calls, answers } = callsOf(whole.parts);
  const isSmall = whole.parts.length <= LIMITS.messageParts && calls.length + answers.length <= LIMITS.messageCalls;
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const cuts = turnCuts(whole.parts, (callId) => context.turnOfCall(rows[0] as Row, callId));
  if (isSmall && cuts.length === 0 && bytes < LIMITS.recordBytes / 4) return [{ message: whole, rows }];
  return partsApart(whole, isSmall ? cuts : [...cuts, ...limitCuts(whole.parts)]).flatMap((message, at) =>
    fitted(message, at === 0 ? group : []).map((fit, number) => ({
      message: fit,
      rows: at + number === 0 ? rows : [],
    })),
  );
}

function fitted(message: NewMessage, group: readonly Piece[]): readonly NewMessage[] {
  const fit = fitMessage(message, messageBytes(message));
  if (fit) return fit;
  const plain = asTexts(message, group);
  return fitMessage(plain, messageBytes(plain)) ?? [plain];
}

/** Rows and parts as their own text, which can be cut anywhere: for structures that are large without a long text. */
function asTexts(message: NewMessage, group: readonly Piece[]): NewMessage {
  const parts = message.parts.map((part): Part => {
    if (part.type === 'tool_call' && part.input !== undefined) {
      const { input, ...call } = part;
      return { ...call, inputText: JSON.stringify(input) };
    }
    if (part.type === 'tool_result')
      return {
        type: 'tool_result',
        callId: part.callId,
        status: part.status,
        output: JSON.stringify(blockOfPart(part)),
      };
    return part.type === 'text' || part.type === 'reasoning'
      ? part
      : { type: 'opaque', kind: 'claude-code.block_text', value: JSON.stringify(blockOfPart(part)) };
  });
  const rows = group.map(({ loaded, kept }) => ({ text: loaded.text, parts: kept.parts, content: kept.content }));
  return { ...message, parts, metadata: { ...(message.metadata as JsonObject), ...(rows.length > 0 ? { rows } : {}) } };
}

/** Before which results a message is to be cut, since one message answers calls of one turn. */
function turnCuts(parts: readonly Part[], turnOfCall: (callId: string) => string | undefined): readonly number[] {
  const results = parts.flatMap((part, at) =>
    part.type === 'tool_result' ? [{ at, turnId: turnOfCall(part.callId) }] : [],
  );
  return results.filter(({ turnId }, nth) => nth > 0 && turnId !== results[nth - 1]?.turnId).map(({ at }) => at);
}

/** Where a message is to be cut so that no piece has more parts and calls than one may have. */
function limitCuts(parts: readonly Part[]): readonly number[] {
  const cuts: number[] = [];
  for (let at = LIMITS.messageCalls; at < parts.length; at += LIMITS.messageCalls) cuts.push(at);
  return cuts;
}

/** The message with its parts up to the first cut, and further ones that go on with it. */
function partsApart(whole: NewMessage, cuts: readonly number[]): readonly NewMessage[] {
  const starts = [...new Set([0, ...cuts])].sort((left, right) => left - right);
  return starts.map((at, nth) => {
    const parts = whole.parts.slice(at, starts[nth + 1]);
    if (at === 0) return { ...whole, parts };
    return {
      ...whole,
      parts,
      messageId: importedId('msg', whole.messageId ?? '', 'parts', String(at)),
      metadata: { tool: TOOL, goesOnFrom: whole.messageId, at },
    };
  });
}

/** What the importer calls this tool, in metadata and origins. */
export const TOOL = 'claude-code';

/** The id of the message that begins with a row. */
export function messageIdOf(conversationId: string, key: string): string {
  return importedId('msg', conversationId, key);
}

function messageOf(group: readonly Piece[], context: MessageContext): NewMessage {
  const [first] = group as readonly [Piece];
  const { row, value } = first.loaded;
  const occurredAt = textOf(value, 'timestamp');
  const visibility = visibilityOf(first.loaded);
  const rows = group.map((piece) => piece.kept as unknown as Json);
  const ids = group.flatMap((piece) => idsOf(piece.loaded));
  return {
    messageId: messageIdOf(context.conversationId, context.keyOf(row)),
    role: roleOf(first.loaded),
    parts: group.flatMap((piece) => piece.parts),
    ...authorOf(first.loaded),
    ...finishOf(group),
    ...(visibility === 'all' ? {} : { visibility }),
    ...(occurredAt !== undefined && occurredAt.length < 1_000 ? { occurredAt } : {}),
    metadata: ids.length > 0 ? { tool: TOOL, ids, rows } : { tool: TOOL, rows },
  };
}

/** The source's own ids: values beside ours. */
function idsOf({ row }: LoadedRow): readonly JsonObject[] {
  if (row.uuid === undefined) return [];
  return [row.parentUuid === undefined ? { id: row.uuid } : { id: row.uuid, parentId: row.parentUuid }];
}

function authorOf({ row, value }: LoadedRow): Pick<NewMessage, 'author'> {
  if (row.type !== 'assistant') return {};
  if (isClientMade(value)) return { author: { id: TOOL, kind: 'system' } };
  const model = textOf(value['message'], 'model');
  return model === undefined || model.length > 1_000 ? {} : { author: { id: model, kind: 'agent' } };
}

function finishOf(group: readonly Piece[]): Pick<NewMessage, 'finishReason'> {
  const reasons = group.flatMap(({ loaded }) =>
    loaded.row.kind === 'assistant' ? (textOf(loaded.value['message'], 'stop_reason') ?? []) : [],
  );
  const last = reasons.at(-1);
  return last === undefined || last.length > 1_000 ? {} : { finishReason: last };
}

/**
 * The rows that messages were made of, each equal to what stood in the file (their order of keys aside). It takes the
 * messages of a whole conversation, in any order, since a large row goes on in further messages.
 */
export function rowsOfMessages(messages: readonly NewMessage[]): readonly Json[] {
  const goingOn = groupedBy(messages, (message) => textOf(message.metadata, 'goesOnFrom'));
  const pieces = messages.filter((message) => isObject(message.metadata) && isObject(message.metadata['continues']));
  const piecesOf = groupedBy(pieces, (piece) => textOf((piece.metadata as JsonObject)['continues'], 'messageId'));
  const whole = (message: NewMessage) => joined(message, piecesOf.get(message.messageId) ?? []);
  return messages
    .filter(
      (message) =>
        textOf(message.metadata, 'tool') === TOOL &&
        isObject(message.metadata) &&
        message.metadata['rows'] !== undefined,
    )
    .flatMap((message) => {
      const rest = (goingOn.get(message.messageId) ?? []).sort((left, right) => partsBefore(left) - partsBefore(right));
      const parts = [message, ...rest].flatMap((one) => whole(one).parts);
      return rowsFrom((whole(message).metadata as JsonObject)['rows'] as unknown as readonly KeptRow[], parts);
    });
}

/** The digest of each row that a message was made of; nothing where it is none of these, or goes on in other messages. */
export function rowDigests({ metadata, parts }: NewMessage): readonly string[] | undefined {
  if (textOf(metadata, 'tool') !== TOOL || !isObject(metadata) || metadata['continued'] !== undefined) return undefined;
  const kept = (metadata['rows'] ?? []) as unknown as readonly KeptRow[]; // as messageOf wrote them
  if (kept.length === 0 || kept.reduce((sum, row) => sum + row.parts, 0) !== parts.length) return undefined;
  return eachRow(kept, parts).map(({ row, own }) => {
    const text = textOfRow(row, own);
    if (text !== undefined) return contentDigest({ ...parseExact(text), text });
    return contentDigest({ value: rowFrom(row, own), inexact: [], hasRepeatedKeys: false, depth: 0, text: '' });
  });
}

function groupedBy(
  messages: readonly NewMessage[],
  keyOf: (message: NewMessage) => string | undefined,
): Map<string | undefined, NewMessage[]> {
  const groups = new Map<string | undefined, NewMessage[]>();
  for (const message of messages) {
    const key = keyOf(message);
    const group = groups.get(key);
    if (group) group.push(message);
    else groups.set(key, [message]);
  }
  return groups;
}

function partsBefore(message: NewMessage): number {
  return ((message.metadata as JsonObject)['at'] as number | undefined) ?? 0;
}

function rowsFrom(kept: readonly KeptRow[], parts: readonly Part[]): readonly Json[] {
  return eachRow(kept, parts).map(({ row, own }) => {
    const text = textOfRow(row, own);
    return text === undefined ? rowFrom(row, own) : (JSON.parse(text) as Json);
  });
}

interface RowWithParts {
  readonly row: KeptRow;
  readonly own: readonly Part[];
}

function eachRow(kept: readonly KeptRow[], parts: readonly Part[]): readonly RowWithParts[] {
  let at = 0;
  return kept.map((row) => {
    const own = parts.slice(at, at + row.parts);
    at += row.parts;
    return { row, own };
  });
}

/** The row's own text, where that was kept. */
function textOfRow(row: KeptRow, own: readonly Part[]): string | undefined {
  const [first] = own;
  const isText = row.content === 'none' && first?.type === 'opaque' && first.kind === ROW_TEXT;
  return row.text ?? (isText ? (first.value as string) : undefined);
}
