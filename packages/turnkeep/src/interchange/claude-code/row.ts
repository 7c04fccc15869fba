import { crc32 } from 'node:zlib';
import { utf8Length } from '../../core/ids.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { importedId } from '../ids.ts';
import type { JsonlRecord } from '../jsonl.ts';

/**
 * What a row is for the tree:
 * - `prompt` starts a turn: typed by the user, a command, a shell command;
 * - `notice` is a user's row that starts none (injected context, an interruption, a command's output) or a line that the
 *   client made in the assistant's name;
 * - `result` answers tool calls, `assistant` is one of the rows of an API message;
 * - `boundary` and `summary` are the two rows of a compaction;
 * - `side` is everything else: it has a place in the chain and says nothing of the dialogue.
 */
export type RowKind = 'prompt' | 'notice' | 'result' | 'assistant' | 'boundary' | 'summary' | 'side';

/** A row of a session file: what the tree needs of it, and where its text lies. */
export interface Row {
  /** Its place among the rows of its file. */
  readonly index: number;
  readonly line: number;
  readonly byte: number;
  readonly bytes: number;
  readonly isReplaced: boolean;
  /** CRC-32 of the row's text: who reads it again can tell that it is the same. */
  readonly check: number;
  /** Names the row within its conversation: its uuid, or a digest where it has none or shares one. */
  readonly key: string;
  readonly uuid: string | undefined;
  readonly parentUuid: string | undefined;
  readonly logicalParentUuid: string | undefined;
  readonly kind: RowKind;
  readonly type: string;
  /** The id of the API message that an assistant's row is a piece of. */
  readonly messageId: string | undefined;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  readonly answers: readonly string[];
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly isSidechain: boolean;
  /** The first row that a compaction left in context, by its boundary. */
  readonly preservedHead: string | undefined;
  /** True where a summary, or a line of the system, says something. */
  readonly hasText: boolean;
}

/** Types of rows that this version knows; others are kept and reported. */
const KNOWN_TYPES = new Set([
  'user',
  'assistant',
  'system',
  'progress',
  'attachment',
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'custom-title',
  'ai-title',
  'tag',
  'last-prompt',
  'pr-link',
  'mode',
  'permission-mode',
  'worktree-state',
  'agent-name',
  'agent-color',
  'agent-setting',
  'content-replacement',
  'speculation-accept',
  'attribution-snapshot',
]);

export function isKnownType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}

/** Types whose rows always have a uuid. */
const NAMED_TYPES = new Set(['user', 'assistant', 'system', 'progress', 'attachment']);

export function isBookkeeping(type: string): boolean {
  return isKnownType(type) && !NAMED_TYPES.has(type);
}

/** The text of a member, if it is text. */
export function textOf(value: Json | undefined, key: string): string | undefined {
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof member === 'string' ? member : undefined;
}

/** CRC-32, in a small integer. */
export function checksum(text: string): number {
  return crc32(text) | 0;
}

/** True for a text that a conversation may be told by; a longer one stays in its row. */
export function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && utf8Length(value) <= LIMITS.shortTextBytes;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The blocks of a row's message; empty where its content is a string or nothing. */
export function blocksOf(value: JsonObject): readonly Json[] {
  const content = isObject(value['message']) ? value['message']['content'] : undefined;
  return Array.isArray(content) ? (content as readonly Json[]) : [];
}

/** The row of a record. `uuid` is left to the index where the record's own stands for another row. */
export function rowOf(record: JsonlRecord, value: JsonObject, index: number, isReplaced: boolean): Row {
  const uuid = textOf(value, 'uuid') || undefined;
  const kind = kindOf(value, uuid);
  const blocks = kind === 'side' ? [] : blocksOf(value);
  const { line, byte, bytes } = record;
  return {
    index,
    line,
    byte,
    bytes,
    isReplaced,
    check: checksum(record.text),
    key: uuid ?? '',
    uuid,
    parentUuid: textOf(value, 'parentUuid') || undefined,
    logicalParentUuid: textOf(value, 'logicalParentUuid') || undefined,
    kind,
    type: textOf(value, 'type') ?? '',
    messageId: kind === 'assistant' ? textOf(value['message'], 'id') || undefined : undefined,
    calls: kind === 'assistant' ? orNone(blocks.flatMap((block) => callOf(block) ?? [])) : NONE,
    answers: kind === 'result' ? orNone(blocks.flatMap((block) => answerOf(block) ?? [])) : NONE,
    sessionId: textOf(value, 'sessionId') || undefined,
    agentId: textOf(value, 'agentId') || undefined,
    isSidechain: value['isSidechain'] === true,
    preservedHead: kind === 'boundary' ? preservedHead(value) : undefined,
    hasText: kind === 'summary' ? summaryText(value).trim() !== '' : (textOf(value, 'content') ?? '') !== '',
  };
}

/** All text of a user's row: what a compaction's second row says. */
export function summaryText(value: JsonObject): string {
  const content = isObject(value['message']) ? value['message']['content'] : undefined;
  if (typeof content === 'string') return content;
  return blocksOf(value)
    .flatMap((block) => textOf(block, 'text') ?? [])
    .join('\n');
}

/** Most rows call and answer nothing: one empty list serves them all. */
const NONE: readonly never[] = [];

function orNone<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? NONE : items;
}

/** The call that a block makes: one without a name, or with a text for one, is none. */
function callOf(block: Json): { readonly id: string; readonly name: string } | undefined {
  if (textOf(block, 'type') !== 'tool_use') return undefined;
  const id = textOf(block, 'id');
  const name = textOf(block, 'name');
  return id === undefined || !isName(name) ? undefined : { id, name };
}

function answerOf(block: Json): string | undefined {
  return textOf(block, 'type') === 'tool_result' ? textOf(block, 'tool_use_id') : undefined;
}

/** The call that a block of a row makes or answers: an assistant's row calls, a row of results answers, no other does. */
export function pairIn({ kind }: Pick<Row, 'kind'>, block: Json): string | undefined {
  if (kind === 'assistant') return callOf(block)?.id;
  return kind === 'result' ? answerOf(block) : undefined;
}

function preservedHead(value: JsonObject): string | undefined {
  const metadata = value['compactMetadata'];
  return isObject(metadata) ? textOf(metadata['preservedSegment'], 'headUuid') : undefined;
}

function kindOf(value: JsonObject, uuid: string | undefined): RowKind {
  const type = textOf(value, 'type');
  if (uuid === undefined || !isObject(value['message'])) return isBoundary(value, uuid) ? 'boundary' : 'side';
  if (type === 'assistant') return isClientMade(value) ? 'notice' : 'assistant';
  if (type !== 'user') return 'side';
  if (value['isCompactSummary'] === true) return 'summary';
  if (blocksOf(value).some((block) => textOf(block, 'type') === 'tool_result')) return 'result';
  return value['isMeta'] === true || isNotice(firstText(value)) ? 'notice' : 'prompt';
}

function isBoundary(value: JsonObject, uuid: string | undefined): boolean {
  return uuid !== undefined && textOf(value, 'type') === 'system' && textOf(value, 'subtype') === 'compact_boundary';
}

/** A line that the client wrote in the assistant's name: an error of the API, mostly. */
export function isClientMade(value: JsonObject): boolean {
  return value['isApiErrorMessage'] === true || textOf(value['message'], 'model') === '<synthetic>';
}

/** The first text of a user's row. */
export function firstText(value: JsonObject): string {
  const content = isObject(value['message']) ? value['message']['content'] : undefined;
  if (typeof content === 'string') return content;
  const text = blocksOf(value).find((block) => textOf(block, 'type') === 'text');
  return textOf(text, 'text') ?? '';
}

/** Texts that stand in a user's row and were not typed: what was interrupted, and what a local command printed. */
const NOTICES = ['[Request interrupted by user', '<local-command-', '<bash-stdout>', '<bash-stderr>'];

function isNotice(text: string): boolean {
  const start = text.trimStart();
  return NOTICES.some((notice) => start.startsWith(notice));
}

/** The key of a row that no uuid names: by its text and how often that came before. */
export function digestKey(text: string, nth: number): string {
  return importedId('row', text, String(nth));
}
