import type { RowValue, WriteSet } from '../core/backend.ts';
import { decode, encode } from '../core/encoding.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import type { LogRecord, Redaction, StoredRecord } from '../core/log.ts';
import type { Edit } from './edit.ts';
import { editOf } from './edit.ts';

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

/** The JSON of a line: first what a replay needs, then the words exactly as core encoded them. */
export function lineBody(store: string, number: LineNumber, ns: NamespaceId, writes: WriteSet): string {
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
  return joinBody(meta, words);
}

/** The JSON of a line from its parts; `words` are the header's and the records' texts. */
export function joinBody(meta: LineMeta, words: readonly string[] | undefined): string {
  const text = printable(encode(meta));
  if (!words) return text;
  const [header, ...records] = words;
  return `${text.slice(0, -1)},"header":${header},"records":[${records.join()}]}`;
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

interface Parts {
  readonly meta: LineMeta;
  /** What follows the meta: `,"header":…,"records":[…]}`. */
  readonly words: string;
}

const SIZES = /^\{"store":"[^"]*","n":\d+,"group":\d+,"sizes":\[([\d,]+)\]/;
const HEADER = ',"header":';
const RECORDS = ',"records":[';
const END = ']}';

function split(body: Buffer): Parts {
  // A line whose words were scrubbed keeps its length with blanks at its end.
  const text = body.toString('utf8', 0, body.length).trimEnd();
  const sizes = SIZES.exec(text)?.[1]?.split(',').map(Number);
  if (!sizes) return { meta: JSON.parse(text) as LineMeta, words: '' };
  const commas = Math.max(0, sizes.length - 2);
  const length = sizes.reduce((sum, size) => sum + size, 0) + HEADER.length + RECORDS.length + commas + END.length;
  const meta = JSON.parse(`${text.slice(0, -length)}}`) as LineMeta; // its digest was checked: we wrote it
  return { meta, words: text.slice(-length) };
}

/** What a line says apart from its words. The digest of `body` was checked. */
export function readMeta(body: Buffer): LineMeta {
  return split(body).meta;
}

export interface ReadCommit {
  readonly meta: LineMeta;
  readonly log: LogRecord;
}

/** A line with its log record, exactly as it was handed in; `undefined` where the line has none. */
export function readCommit(body: Buffer): ReadCommit | undefined {
  const { meta, words } = split(body);
  if (meta.sizes === undefined || meta.version === undefined || meta.at === undefined || !meta.seals) return undefined;
  const texts = textsOf(words, meta.sizes);
  const records = texts.slice(1).map((text, index): StoredRecord => {
    const digest = meta.seals?.[2 + 2 * index] ?? '';
    const nonce = meta.seals?.[3 + 2 * index] ?? null;
    const redaction = meta.redactions?.[index];
    return redaction ? { digest, nonce, body: text, redaction } : { digest, nonce, body: text };
  });
  const log = {
    version: meta.version,
    at: meta.at,
    header: texts[0] ?? null,
    headerDigest: meta.seals[0] ?? '',
    nonce: meta.seals[1] ?? null,
    records,
  };
  return { meta, log };
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
