import { canonical } from '../../core/encoding.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ByteSource } from '../../platform/byte-source.ts';
import { sha256 } from '../../platform/hash.ts';
import { parseExact } from '../../core/exact.ts';
import type { ExactJson } from '../../core/exact.ts';
import { JsonlReader } from '../jsonl.ts';
import type { JsonlCounts, JsonlOptions, JsonlRecord } from '../jsonl.ts';
import { damageEntry } from '../report.ts';
import type { DamageEntry, Note } from '../report.ts';
import { checksum, digestKey, isKnownType, isName, isObject, rowOf, textOf } from './row.ts';
import type { Row } from './row.ts';

/** A title that a session file gives, and how. */
export interface Title {
  readonly text: string;
  readonly source: 'auto' | 'user';
  /** The row that a legacy title is about, by its uuid. */
  readonly leafUuid: string | undefined;
  readonly row: Row;
}

/** What tells which call started a sub-agent. */
export interface AgentHints {
  /** Calls by the digest of the prompt that they hand on. */
  readonly callsByPrompt: Map<string, string[]>;
  /** Calls by the id of the agent that their result names. */
  readonly callByAgent: Map<string, string>;
  /** The digest of each prompt. */
  readonly promptOf: Map<string, string>;
}

/** A session file, read once: an index of its rows, whose texts stay in the file. */
export interface SessionFile {
  readonly source: ByteSource;
  readonly rows: readonly Row[];
  readonly counts: JsonlCounts;
  readonly damage: readonly DamageEntry[];
  readonly notes: readonly Note[];
  readonly unusable: number;
  readonly repeated: { readonly rows: number; readonly withId: number };
  readonly titles: readonly Title[];
  /** The leaf that the tool noted last, with the row that says so. */
  readonly lastPrompt: { readonly leafUuid: string; readonly row: Row } | undefined;
  readonly unknownTypes: { readonly [type: string]: number };
  readonly hints: AgentHints;
  /** The id of the session: the file's name where a row agrees or where it is a UUID, else what the last row says. */
  readonly sessionId: string | null;
  /** The working folder of the first row that names one, the version and the fork's origin likewise. */
  readonly about: JsonObject;
}

/** Reads a session file's rows into an index. `stem` is the file's name without its ending, if it has one. */
export async function readSessionFile(
  source: ByteSource,
  stem: string | undefined,
  options: JsonlOptions,
): Promise<SessionFile> {
  const index = new Index(source);
  const reader = new JsonlReader(source.stream(), options);
  let replacedLine = 0;
  for await (const entry of reader) {
    if (entry.damage) {
      index.damage.push(damageEntry(entry.line, entry.byte, entry.damage));
      if (entry.damage.kind === 'invalid_utf8') replacedLine = entry.line;
    } else await index.add(entry, entry.line === replacedLine);
  }
  return { ...index.finish(stem), counts: reader.counts };
}

class Index {
  readonly source: ByteSource;
  readonly rows: Row[] = [];
  readonly damage: DamageEntry[] = [];
  readonly notes: Note[] = [];
  readonly titles: Title[] = [];
  readonly repeated = { rows: 0, withId: 0 };
  readonly unknown = new Map<string, number>();
  readonly hints: AgentHints = { callsByPrompt: new Map(), callByAgent: new Map(), promptOf: new Map() };
  /** The first row of each uuid, and what all rows said whose uuid came more than once, as digests. */
  readonly #byUuid = new Map<string, Row>();
  readonly #saidBy = new Map<string, Set<string>>();
  /** Texts that many rows share, each held once. */
  readonly #shared = new Map<string, string>();
  readonly #times = new Map<string, number>();
  readonly #lastOfType = new Map<string, string>();
  readonly #sessions = new Map<string, number>();
  #lastSession: string | null = null;
  #unusable = 0;
  #lastPrompt: SessionFile['lastPrompt'];
  #about: { [key: string]: Json } = {};

  constructor(source: ByteSource) {
    this.source = source;
  }

  async add(record: JsonlRecord, isReplaced: boolean): Promise<void> {
    const { value, line, byte } = record;
    if (!isObject(value)) {
      this.#unusable += 1;
      this.damage.push({
        line,
        byte,
        kind: 'not_a_record',
        reason: 'the line is JSON, but no record',
        bytes: record.bytes,
      });
      return;
    }
    const found = rowOf(record, value, this.rows.length, isReplaced);
    const key = found.uuid === undefined ? this.#keyWithoutId(found, record.text) : await this.#keyOf(found, record);
    if (key === undefined) {
      this.repeated.rows += 1;
      if (found.uuid !== undefined) this.repeated.withId += 1;
      return;
    }
    const row = this.#slim({ ...found, key });
    this.rows.push(row);
    if (row.uuid !== undefined && !this.#byUuid.has(row.uuid)) this.#byUuid.set(row.uuid, row);
    this.#note(record, row);
    this.#tell(row, value);
  }

  /** The row with texts that other rows have too as one text: half of what an index holds are names of rows and sessions. */
  #slim(row: Row): Row {
    const parentUuid =
      row.parentUuid === undefined ? undefined : (this.#byUuid.get(row.parentUuid)?.uuid ?? row.parentUuid);
    const { type, sessionId, agentId } = row;
    return {
      ...row,
      parentUuid,
      type: this.#share(type),
      sessionId: sessionId && this.#share(sessionId),
      agentId: agentId && this.#share(agentId),
    };
  }

  #share(text: string): string {
    const known = this.#shared.get(text);
    if (known === undefined) this.#shared.set(text, text);
    return known ?? text;
  }

  /** A row without an id is repeated where the last one of its type says the same: nothing has changed since. */
  #keyWithoutId(row: Row, text: string): string | undefined {
    const digest = sha256(text);
    if (this.#lastOfType.get(row.type) === digest) return undefined;
    this.#lastOfType.set(row.type, digest);
    const times = (this.#times.get(digest) ?? 0) + 1;
    this.#times.set(digest, times);
    return digestKey(digest, times);
  }

  /** The uuid of a row that comes first, a digest for one with other content, nothing for one that is repeated. */
  async #keyOf(row: Row, record: JsonlRecord): Promise<string | undefined> {
    const uuid = row.uuid ?? '';
    const first = this.#byUuid.get(uuid);
    if (!first) return uuid;
    const said = this.#saidBy.get(uuid) ?? new Set([contentDigest(await loadRow(this.source, first))]);
    this.#saidBy.set(uuid, said);
    const digest = contentDigest(record);
    if (said.has(digest)) return undefined;
    said.add(digest);
    this.notes.push({ kind: 'variant', line: row.line, byte: row.byte, id: row.uuid });
    return digestKey(record.text, 1);
  }

  #note(record: JsonlRecord, row: Row): void {
    const place = { line: row.line, byte: row.byte, id: row.uuid };
    for (const { path, text } of record.inexact) {
      this.notes.push({ kind: 'inexact_number', ...place, about: `${path.join('.')}: ${text.slice(0, 80)}` });
    }
    if (record.hasRepeatedKeys) this.notes.push({ kind: 'repeated_key', ...place });
    if (record.depth > MAX_ROW_DEPTH) this.notes.push({ kind: 'too_deep', ...place, about: String(record.depth) });
    if (!isKnownType(row.type)) this.unknown.set(row.type, (this.unknown.get(row.type) ?? 0) + 1);
  }

  #tell(row: Row, value: JsonObject): void {
    if (row.sessionId !== undefined) {
      this.#sessions.set(row.sessionId, (this.#sessions.get(row.sessionId) ?? 0) + 1);
      this.#lastSession = row.sessionId;
    }
    this.#tellTitle(row, value);
    this.#tellAgents(row, value);
    for (const key of ['cwd', 'version', 'gitBranch']) {
      const text = textOf(value, key);
      if (text !== undefined && isName(text) && !Object.hasOwn(this.#about, key)) this.#about[key] = text;
    }
    const from = value['forkedFrom'];
    if (isObject(from) && !Object.hasOwn(this.#about, 'forkedFrom')) this.#about['forkedFrom'] = namesIn(from);
  }

  #tellTitle(row: Row, value: JsonObject): void {
    const leafUuid = textOf(value, 'leafUuid');
    if (row.type === 'last-prompt' && leafUuid !== undefined) this.#lastPrompt = { leafUuid, row };
    const [text, source] = titleIn(row.type, value);
    if (text !== undefined && text.trim() !== '') this.titles.push({ text, source, leafUuid, row });
  }

  #tellAgents(row: Row, value: JsonObject): void {
    const { callsByPrompt, callByAgent, promptOf } = this.hints;
    const content = isObject(value['message']) ? value['message']['content'] : undefined;
    if (row.kind === 'prompt' && typeof content === 'string') promptOf.set(row.key, sha256(content));
    const agentId = textOf(value['toolUseResult'], 'agentId');
    if (agentId !== undefined && row.answers[0] !== undefined) callByAgent.set(agentId, row.answers[0]);
    for (const block of row.calls.length > 0 && Array.isArray(content) ? (content as readonly Json[]) : []) {
      const prompt = isObject(block) ? textOf(block['input'], 'prompt') : undefined;
      const callId = textOf(block, 'id');
      if (prompt === undefined || callId === undefined) continue;
      const digest = sha256(prompt);
      const calls = callsByPrompt.get(digest);
      if (calls) calls.push(callId);
      else callsByPrompt.set(digest, [callId]);
    }
  }

  finish(stem: string | undefined): Omit<SessionFile, 'counts'> {
    const { source, rows, damage, notes, titles, repeated, hints } = this;
    const unknownTypes = Object.fromEntries(this.unknown);
    const shared = { source, rows, damage, notes, titles, repeated, hints, unknownTypes };
    return {
      ...shared,
      unusable: this.#unusable,
      lastPrompt: this.#lastPrompt,
      sessionId: this.#sessionOf(stem),
      about: this.#about,
    };
  }

  #sessionOf(stem: string | undefined): string | null {
    const isNamed = stem !== undefined && (this.#sessions.has(stem) || UUID.test(stem));
    return isNamed ? stem : this.#lastSession;
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function namesIn(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => isName(key) && isName(member))
      .slice(0, MAX_NAMES),
  );
}

const MAX_NAMES = 16;

/** A row that nests deeper is kept as text: it has to fit below core's limit with what stands around it. */
export const MAX_ROW_DEPTH = 150;

function titleIn(type: string, value: JsonObject): readonly [string | undefined, 'auto' | 'user'] {
  if (type === 'custom-title') return [textOf(value, 'customTitle'), 'user'];
  if (type === 'ai-title') return [textOf(value, 'aiTitle') ?? textOf(value, 'title'), 'auto'];
  return [type === 'summary' ? textOf(value, 'summary') : undefined, 'auto'];
}

/** Equal for records of equal content, whatever the order of keys; by its text where the value does not say all of it. */
export function contentDigest(record: ExactJson & { readonly text: string }): string {
  return sha256(isWholeIn(record) ? canonical(record.value) : record.text);
}

/** True where a row's value says all that its text says, and nests no deeper than what core keeps. */
export function isWholeIn({ inexact, hasRepeatedKeys, depth }: ExactJson): boolean {
  return inexact.length === 0 && !hasRepeatedKeys && depth <= MAX_ROW_DEPTH;
}

/** A row with its words. */
export interface LoadedRow extends ExactJson {
  readonly row: Row;
  readonly text: string;
  readonly value: JsonObject;
}

/** A file was written over while it was read; one that only grows is not. */
export class SourceChanged extends Error {}

/** Reads a row's words from its file again; throws {@link SourceChanged} where others stand in their place. */
export async function loadRow(source: ByteSource, row: Row): Promise<LoadedRow> {
  const bytes = await source.slice(row.byte, row.bytes);
  const text = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(bytes)
    .trim()
    .replace(/^\ufeff/, '');
  if (checksum(text) !== row.check) throw new SourceChanged('it was written over while it was read: import it again');
  const exact = parseExact(text);
  // The index holds rows of objects only.
  return { ...exact, value: exact.value as JsonObject, row, text };
}
