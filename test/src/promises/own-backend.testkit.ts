import {
  collectErased,
  compareKeys,
  coolable,
  decide,
  HOT_MESSAGES,
  sealUpload,
  sweepShelf,
  TurnkeepError,
} from 'turnkeep/core';
import type {
  AttachmentStore,
  Backend,
  CoolOptions,
  Envelope,
  FeedEntry,
  Grace,
  Head,
  HeadQuery,
  LogRecord,
  Receipt,
  Row,
  RowRange,
  RowReader,
  RowValue,
  Scratch,
  ScratchPlace,
  SearchCandidates,
  SearchQuery,
  Sha256,
  Traits,
  UploadPart,
  UploadSeal,
  WriteSet,
} from 'turnkeep/core';

/** One namespace as plain as can be: keys are sorted when they are read. */
class Place implements RowReader {
  readonly feed: FeedEntry[] = [];
  readonly #heads = new Map<string, Head>();
  readonly #rows = new Map<string, Map<string, RowValue>>();
  /** The keys of each conversation in order, until one comes or goes. */
  readonly #sorted = new Map<string, readonly string[]>();
  readonly #logs = new Map<string, LogRecord[]>();

  head(conversation: string): Head | undefined {
    return this.#heads.get(conversation);
  }

  get(conversation: string, key: string): RowValue | undefined {
    return this.#rows.get(conversation)?.get(key);
  }

  scan(conversation: string, { from, to, reverse, limit }: RowRange): readonly Row[] {
    const rows = this.#rows.get(conversation) ?? new Map<string, RowValue>();
    const sorted = of(this.#sorted, conversation, () => [...rows.keys()].sort(compareKeys));
    const inside = sorted.filter((key) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0);
    const asked = (reverse === true ? inside.toReversed() : inside).slice(0, limit);
    return asked.map((key) => ({ key, value: rows.get(key) ?? [] }));
  }

  log(conversation: string, version: number): LogRecord | undefined {
    return this.#logs.get(conversation)?.[version - 1];
  }

  heads({ order, owner, after, limit }: HeadQuery): readonly Head[] {
    const timeOf = (head: Head) => (order === 'activity' ? head.lastActivityAt : head.createdAt);
    const isAfter = (head: Head) =>
      !after ||
      timeOf(head) < after.at ||
      (timeOf(head) === after.at && compareKeys(head.conversationId, after.conversationId) > 0);
    return [...this.#heads.values()]
      .filter((head) => (owner === undefined || head.owner === owner) && isAfter(head))
      .sort((left, right) => timeOf(right) - timeOf(left) || compareKeys(left.conversationId, right.conversationId))
      .slice(0, limit);
  }

  apply({ heads, rows, edits, log }: WriteSet): void {
    for (const head of heads) this.#heads.set(head.conversationId, head);
    for (const { conversation, key, value } of rows) {
      const known = of(this.#rows, conversation, () => new Map<string, RowValue>());
      if (known.has(key) !== (value !== null)) this.#sorted.delete(conversation);
      if (value === null) known.delete(key);
      else known.set(key, value);
    }
    for (const edit of edits) this.replace(edit.conversation, edit.log);
    if (!log) return;
    of(this.#logs, log.conversation, () => []).push(log.record);
    const { conversation: conversationId, record } = log;
    this.feed.push({ position: this.feed.length + 1, conversationId, version: record.version });
  }

  replace(conversation: string, log: LogRecord): void {
    of(this.#logs, conversation, () => [])[log.version - 1] = log;
  }
}

function of<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** Attachments of all namespaces. */
class Files implements AttachmentStore {
  readonly #parts = new Map<string, Uint8Array[]>();
  readonly #uploads = new Map<string, { readonly parts: Uint8Array[]; touchedAt: number }>();
  readonly #rows: (namespace: string) => Place;
  readonly #sha256: Sha256;

  constructor(rows: (namespace: string) => Place, sha256: Sha256) {
    this.#rows = rows;
    this.#sha256 = sha256;
  }

  async add(namespace: string, { upload, index, bytes, now }: UploadPart): Promise<void> {
    this.#rows(namespace);
    const { parts } = of(this.#uploads, `${namespace} ${upload}`, () => ({ parts: [], touchedAt: now }));
    if (parts.length !== index) throw new TurnkeepError('aborted', { reason: 'the upload was cleared' });
    this.#uploads.set(`${namespace} ${upload}`, { parts: [...parts, bytes.slice()], touchedAt: now });
  }

  async finish(namespace: string, seal: UploadSeal): Promise<void> {
    const place = this.#rows(namespace);
    const begun = this.#uploads.get(`${namespace} ${seal.upload}`)?.parts ?? [];
    const parts = seal.last ? [...begun, seal.last.slice()] : begun;
    if (parts.length !== seal.parts.length) throw new TurnkeepError('aborted', { reason: 'the upload was cleared' });
    place.apply(sealUpload(place, seal, this.#sha256));
    this.#parts.set(`${namespace} ${seal.digest}`, parts);
    await this.discard(namespace, seal.upload);
  }

  async discard(namespace: string, upload: string): Promise<void> {
    this.#uploads.delete(`${namespace} ${upload}`);
  }

  async part(namespace: string, digest: string, index: number): Promise<Uint8Array | undefined> {
    this.#rows(namespace);
    return this.#parts.get(`${namespace} ${digest}`)?.[index]?.slice();
  }

  async collect(namespace: string, grace: Grace): Promise<number> {
    for (const [name, { touchedAt }] of this.#uploads)
      if (name.startsWith(`${namespace} `) && grace.now - touchedAt >= grace.graceMs) this.#uploads.delete(name);
    let count = 0;
    for (let after: string | null = ''; after !== null;) {
      const { writes, removed, next } = sweepShelf(this.#rows(namespace), after, grace);
      this.#rows(namespace).apply(writes);
      for (const digest of removed) this.#parts.delete(`${namespace} ${digest}`);
      count += removed.length;
      after = next;
    }
    return count;
  }
}

class Notes implements Scratch {
  readonly #values = new Map<string, string>();

  async put(place: ScratchPlace, value: string): Promise<void> {
    this.#values.set(nameOf(place), value);
  }

  async get(place: ScratchPlace): Promise<string | undefined> {
    return this.#values.get(nameOf(place));
  }

  async remove(place: ScratchPlace): Promise<void> {
    this.#values.delete(nameOf(place));
  }

  async list(namespace: string): Promise<readonly ScratchPlace[]> {
    const places = [...this.#values.keys()].map((name) => JSON.parse(name) as readonly [string, string, string]); // nameOf
    return places
      .filter(([of]) => of === namespace)
      .map(([, conversationId, key]) => ({ namespace, conversationId, key }));
  }
}

function nameOf({ namespace, conversationId, key }: ScratchPlace): string {
  return JSON.stringify([namespace, conversationId, key]);
}

/** A backend as somebody else would write it: by what `turnkeep/core` exports, and by the seam's clauses. */
export class OwnBackend implements Backend {
  readonly traits: Traits = {
    backend: 'own',
    durability: 'none',
    sync: 'nothing is written',
    sharedWriters: false,
    feedOrder: 'total',
    erasureReach: 'the memory of this process',
  };
  readonly scratch: Scratch = new Notes();
  readonly attachments: AttachmentStore;
  readonly #places = new Map<string, Place>();
  readonly #listeners = new Set<{ readonly namespace: string; readonly call: () => void }>();
  readonly #sha256: Sha256;
  #isClosed = false;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
    this.attachments = new Files((namespace) => this.#place(namespace), sha256);
  }

  #place(namespace: string, signal?: AbortSignal): Place {
    this.#assertOpen();
    if (signal?.aborted) throw new TurnkeepError('aborted', { reason: 'the caller gave up' });
    return of(this.#places, namespace, () => new Place());
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const { namespace } = envelope.commit;
    const place = this.#place(namespace, signal);
    const decision = decide(place, envelope, this.#sha256);
    if (decision.outcome === 'refuse') throw decision.error;
    if (decision.outcome === 'write') this.#apply(namespace, decision.writes);
    return decision.receipt;
  }

  #apply(namespace: string, writes: WriteSet): void {
    this.#place(namespace).apply(writes);
    for (const listener of this.#listeners) if (listener.namespace === namespace) listener.call();
  }

  async read<Result>(namespace: string, reading: (rows: RowReader) => Result): Promise<Result> {
    return reading(this.#place(namespace));
  }

  async feed(namespace: string, after: number, limit: number): Promise<readonly FeedEntry[]> {
    return this.#place(namespace).feed.slice(after, after + limit);
  }

  onCommit(namespace: string, call: () => void): () => void {
    const listener = { namespace, call };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Every commit may hold the text. */
  async search(namespace: string, { before, limit }: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    const { feed } = this.#place(namespace, signal);
    const end = before === undefined ? feed.length : Number(before);
    if (end > feed.length) throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of this store' });
    const start = Math.max(0, end - limit);
    const places = feed.slice(start, end).map((entry) => ({ ...entry, cursor: String(entry.position - 1) }));
    return { places: places.toReversed(), next: start > 0 ? String(start) : undefined };
  }

  async namespaces(): Promise<readonly string[]> {
    this.#assertOpen();
    return [...this.#places]
      .filter(([, { feed }]) => feed.length > 0)
      .map(([namespace]) => namespace)
      .sort(compareKeys);
  }

  async collect(namespace: string, signal?: AbortSignal): Promise<number> {
    const place = this.#place(namespace, signal);
    let removed = 0;
    for (const { conversationId } of this.#all(place).filter((head) => head.erasedAt !== null && !head.collected)) {
      for (const writes of collectErased(place, conversationId)) {
        this.#apply(namespace, writes);
        removed += writes.rows.length;
      }
    }
    return removed;
  }

  #all(place: Place): readonly Head[] {
    return place.heads({ order: 'created', limit: Number.MAX_SAFE_INTEGER });
  }

  async cool(namespace: string, options: CoolOptions = {}): Promise<number> {
    const { hotMessages = HOT_MESSAGES, signal, onProgress } = options;
    const place = this.#place(namespace, signal);
    let moved = 0;
    for (const { conversationId, version } of this.#all(place)) {
      const versions = Array.from({ length: version }, (_, at) => at + 1);
      const cooled = versions.findLast((at) => place.log(conversationId, at)?.tier === 'cool') ?? 0;
      const slice = [...coolable(place, conversationId, cooled, hotMessages)];
      for (const log of slice) place.replace(conversationId, { ...log, tier: 'cool' });
      moved += slice.length;
      if (slice.length > 0) onProgress?.(moved);
    }
    return moved;
  }

  // Nothing is derived, and nothing lies in files: there is nothing to check, to catch up or to rebuild.

  async verify(): Promise<readonly []> {
    this.#assertOpen();
    return [];
  }

  async examine(): Promise<readonly []> {
    this.#assertOpen();
    return [];
  }

  async catchUp(): Promise<void> {
    this.#assertOpen();
  }

  async rebuild(): Promise<void> {
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new TurnkeepError('closed', { what: 'the store' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
