import type { RowValue, WriteSet } from '../../core/backend.ts';
import { decode, encode } from '../../core/encoding.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import type { LogRecord, Redaction, StoredRecord } from '../../core/log.ts';
import type { Edit } from './edit.ts';
import { editOf } from './edit.ts';
import type { Frame, LineParts } from './frame.ts';

/** Where a line stands in the order of all lines of its store, and which line began its group. */
export interface LineNumber {
  readonly n: number;
  readonly group: number;
}

/** What a line says apart from words: all that a replay needs. */
export interface LineMeta extends LineNumber {
  readonly store: string;
  /** Lengths of the header and of each record below, in UTF-16 units; absent where the line has none. */
  readonly sizes?: readonly number[] | undefined;
  readonly ns: NamespaceId;
  readonly conversation?: ConversationId | undefined;
  readonly version?: number | undefined;
  readonly at?: number | undefined;
  /** Digest and nonce of the header, then of each record. */
  readonly seals?: readonly (string | null)[] | undefined;
  readonly redactions?: { readonly [index: string]: Redaction } | undefined;
  readonly heads: readonly Head[];
  /** A third member names the conversation where it is not the line's own. */
  readonly rows: readonly (readonly [key: string, value: RowValue | null, conversation?: ConversationId])[];
  readonly edits?: readonly Edit[] | undefined;
}

// Control characters that JSON leaves as they are: some readers end a line at U+0085.
const CONTROLS = /[\u007f-\u009f]/;
const EACH_CONTROL = /[\u007f-\u009f]/g;
const ESCAPED_CONTROL = /\\u00[789]/;

/** A line in its two parts: first what a replay needs, then the words exactly as core encoded them. */
export function lineParts(store: string, number: LineNumber, ns: NamespaceId, writes: WriteSet): LineParts {
  const { log } = writes;
  const own = log?.conversation;
  const words = log && wordsOf(log.record);
  const meta: LineMeta = {
    store,
    ...number,
    sizes: words?.map((text) => text.length),
    ns,
    conversation: own,
    version: log?.record.version,
    at: log?.record.at,
    seals: log && sealsOf(log.record),
    redactions: log && redactionsOf(log.record.records),
    heads: writes.heads,
    rows: writes.rows.map(({ conversation, key, value }) =>
      conversation === own ? [key, value] : [key, value, conversation],
    ),
    edits: writes.edits.length > 0 ? writes.edits.map(editOf) : undefined,
  };
  return encodeParts(meta, words);
}

/** `words` are the header's and the records' texts. The brace that closes the object stands with them. */
export function encodeParts(meta: LineMeta, words: readonly string[] | undefined): LineParts {
  const text = printable(encode(meta)).slice(0, -1);
  if (!words) return { meta: text, words: '}' };
  const [header, ...records] = words;
  return { meta: text, words: `,"header":${header},"records":[${records.join()}]}` };
}

export function wordsOf(record: LogRecord): readonly string[] {
  return [record.header, ...record.records.map(({ body }) => body)].map((text) => printable(text ?? 'null'));
}

function printable(text: string): string {
  if (!CONTROLS.test(text)) return text;
  return text.replace(EACH_CONTROL, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
}

export function sealsOf(record: LogRecord): readonly (string | null)[] {
  return [record.headerDigest, record.nonce, ...record.records.flatMap(({ digest, nonce }) => [digest, nonce])];
}

export function redactionsOf(records: readonly StoredRecord[]): { readonly [index: string]: Redaction } | undefined {
  if (records.every(({ redaction }) => redaction === undefined)) return undefined;
  const redacted = [...records.entries()].filter(([, record]) => record.redaction !== undefined);
  return Object.fromEntries(redacted.map(([index, record]) => [index, record.redaction as Redaction])); // filtered above
}

const HEADER = ',"header":';
const RECORDS = ',"records":[';

/**
 * What a line says apart from its words; `undefined` where it is none that we wrote, though its digest fits: anybody may put a
 * frame around anything.
 */
export function readMeta(meta: Buffer): LineMeta | undefined {
  const found = parsed(`${meta.toString('utf8', 0, meta.length)}}`);
  return isMeta(found) ? found : undefined;
}

function parsed(text: string): Partial<LineMeta> | null {
  try {
    return JSON.parse(text) as Partial<LineMeta> | null; // looked at below
  } catch {
    return null;
  }
}

function isMeta(found: Partial<LineMeta> | null): found is LineMeta {
  if (typeof found?.store !== 'string' || typeof found.ns !== 'string') return false;
  const areNumbers = Number.isSafeInteger(found.n) && Number.isSafeInteger(found.group);
  const lists = [found.heads, found.rows, found.edits ?? [], found.sizes ?? [], found.seals ?? []];
  return areNumbers && lists.every(Array.isArray);
}

export interface ReadCommit {
  readonly meta: LineMeta;
  readonly log: LogRecord;
}

/** A line with its log record, exactly as it was handed in; `undefined` where the line has none. */
export function readCommit(frame: Pick<Frame, 'meta' | 'words'>): ReadCommit | undefined {
  const meta = readMeta(frame.meta);
  const log = meta && logOf(meta, frame.words);
  return log && { meta, log };
}

/** The log record of a line that was read; `undefined` where it has none. */
export function logOf(meta: LineMeta, words: Buffer): LogRecord | undefined {
  if (meta.sizes === undefined || meta.version === undefined || meta.at === undefined || !meta.seals) return undefined;
  const texts = textsOf(words.toString('utf8', 0, words.length), meta.sizes);
  const records = texts.slice(1).map((text, index): StoredRecord => {
    const digest = meta.seals?.[2 + 2 * index] ?? '';
    const nonce = meta.seals?.[3 + 2 * index] ?? null;
    const redaction = meta.redactions?.[index];
    return redaction ? { digest, nonce, body: text, redaction } : { digest, nonce, body: text };
  });
  return {
    version: meta.version,
    at: meta.at,
    header: texts[0] ?? null,
    headerDigest: meta.seals[0] ?? '',
    nonce: meta.seals[1] ?? null,
    records,
  };
}

function textsOf(words: string, sizes: readonly number[]): readonly (string | null)[] {
  let at = HEADER.length;
  return sizes.map((size, index) => {
    const text = words.slice(at, at + size);
    at += size + (index === 0 ? RECORDS.length : 1);
    if (text === 'null') return null;
    return ESCAPED_CONTROL.test(text) ? encode(decode(text)) : text;
  });
}
