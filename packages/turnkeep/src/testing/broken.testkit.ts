import { assertNotAborted } from '../core/abort.ts';
import type {
  CoolOptions,
  Envelope,
  FeedEntry,
  RowReader,
  Scratch,
  SearchCandidates,
  SearchQuery,
  StoreFault,
  Traits,
  WriteSet,
} from '../core/backend.ts';
import type { Backend } from '../core/backend.ts';
import { HOT_MESSAGES } from '../core/cool.ts';
import { decide } from '../core/decide.ts';
import type { Finding } from '../core/finding.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { KEYS } from '../core/keys.ts';
import type { Receipt } from '../core/receipt.ts';
import { MemoryAttachments } from '../memory/memory-attachments.ts';
import { MemoryNamespace } from '../memory/memory-namespace.ts';
import { sha256 } from '../platform/hash.ts';
import { Place } from './fake-place.testkit.ts';
import type { Synced } from './fake-place.testkit.ts';
import type { ConformanceTarget } from './target.ts';

const TRAITS: Traits = {
  backend: 'memory',
  durability: 'process_crash',
  sync: 'an array that outlives its handles',
  sharedWriters: true,
  feedOrder: 'total',
  erasureReach: 'the memory of this process',
};

/**
 * A whole backend in little: durable as far as an array is that outlives its handles, with a sync that is a step of its
 * own. It keeps every clause; the ones below break one each.
 */
export class FakeBackend implements Backend {
  readonly traits: Traits = TRAITS;
  readonly place: Place;
  get scratch(): Scratch {
    return this.place.scratch;
  }

  get attachments(): MemoryAttachments {
    return this.place.attachments;
  }
  #closed = false;

  constructor(place: Place) {
    this.place = place;
    place.attach();
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.assertOpen(signal);
    const { namespace } = envelope.commit;
    const decision = decide(this.rowsToDecideOn(namespace), envelope, sha256);
    if (decision.outcome === 'refuse') throw decision.error;
    if (decision.outcome === 'write') {
      this.sync({ envelope });
      this.write(namespace, decision.writes);
    }
    return decision.receipt;
  }

  protected rowsToDecideOn(namespace: NamespaceId): RowReader {
    return this.place.live(namespace) ?? new MemoryNamespace();
  }

  protected sync(entry: Synced): void {
    this.place.sync(entry);
  }

  protected write(namespace: NamespaceId, writes: WriteSet): void {
    this.place.rows(namespace).apply(writes);
    for (const listener of this.place.listeners.get(namespace) ?? []) queueMicrotask(listener);
  }

  async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    this.assertOpen();
    return reading(this.place.live(namespace) ?? new MemoryNamespace());
  }

  async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    this.assertOpen();
    return this.place.live(namespace)?.feed.slice(after, after + limit) ?? [];
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    const listeners = this.place.listeners.get(namespace) ?? new Set();
    this.place.listeners.set(namespace, listeners);
    const added = () => listener();
    listeners.add(added);
    return () => listeners.delete(added);
  }

  async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    this.assertOpen(signal);
    return this.place.live(namespace)?.candidates(query) ?? { places: [] };
  }

  async namespaces(): Promise<readonly NamespaceId[]> {
    this.assertOpen();
    return this.place.names();
  }

  async collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    this.assertOpen(signal);
    const rows = this.place.live(namespace);
    if (!rows) return 0;
    this.sync({ collected: namespace });
    return rows.collect((writes) => this.write(namespace, writes));
  }

  async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    const { hotMessages = HOT_MESSAGES, signal, onProgress } = options;
    this.assertOpen(signal);
    const rows = this.place.live(namespace);
    if (!rows) return 0;
    this.sync({ cooled: namespace, hotMessages });
    return rows.cool(hotMessages, onProgress);
  }

  async verify(): Promise<readonly StoreFault[]> {
    return [];
  }

  async catchUp(): Promise<void> {
    // Nothing is derived.
  }

  async examine(): Promise<readonly Finding[]> {
    return [];
  }

  async rebuild(): Promise<void> {
    this.assertOpen();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.place.handles -= 1;
  }

  protected assertOpen(signal?: AbortSignal): void {
    if (this.#closed) throw new TurnkeepError('closed', { what: 'the store' });
    assertNotAborted(signal);
  }
}

class CoolsOneTooMany extends FakeBackend {
  override async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    const { hotMessages = HOT_MESSAGES } = options;
    return super.cool(namespace, { ...options, hotMessages: Math.max(0, hotMessages - 1) });
  }
}

/** Moves what is old and keeps the digests alone. */
class LosesWhatItCools extends FakeBackend {
  override async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return super.read(namespace, (rows) =>
      reading({
        head: (id) => rows.head(id),
        get: (id, key) => rows.get(id, key),
        scan: (id, range) => rows.scan(id, range),
        heads: (query) => rows.heads(query),
        log: (id, version) => {
          const log = rows.log(id, version);
          if (log?.tier !== 'cool') return log;
          return { ...log, records: log.records.map(({ digest }) => ({ digest, nonce: null, body: null })) };
        },
      }),
    );
  }
}

/** Keeps the bytes of attachments in the handle that put them. */
class KeepsBytesInTheHandle extends FakeBackend {
  readonly #own = new MemoryAttachments(this.place.shelves);

  override get attachments(): MemoryAttachments {
    return this.#own;
  }
}

/** Acknowledges at once and syncs every eighth commit. */
class AcknowledgesBeforeSync extends FakeBackend {
  #waiting: Synced[] = [];

  protected override sync(entry: Synced): void {
    this.#waiting.push(entry);
    if (this.#waiting.length < 8) return;
    for (const waiting of this.#waiting) super.sync(waiting);
    this.#waiting = [];
  }
}

/** Shows a commit to readers, and syncs it some time later. */
class ShowsBeforeSync extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.assertOpen(signal);
    const { namespace } = envelope.commit;
    const decision = decide(this.rowsToDecideOn(namespace), envelope, sha256);
    if (decision.outcome === 'refuse') throw decision.error;
    if (decision.outcome === 'replay') return decision.receipt;
    this.write(namespace, decision.writes);
    for (let wait = 0; wait < 20; wait++) await Promise.resolve();
    this.assertOpen(signal);
    this.sync({ envelope });
    return decision.receipt;
  }
}

/** Applies the head, the log, and every row but the last of a large write set. */
class AppliesHalf extends FakeBackend {
  protected override write(namespace: NamespaceId, writes: WriteSet): void {
    const rows = writes.rows.length > 8 ? writes.rows.slice(0, -1) : writes.rows;
    super.write(namespace, { ...writes, rows });
  }
}

/** Commits each change for itself: those before a failing one stay. */
class CommitsChangeByChange extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const { commit } = envelope;
    const whole = decide(this.rowsToDecideOn(commit.namespace), envelope, sha256);
    if (whole.outcome !== 'refuse' || commit.changes.length === 1) return super.commit(envelope, signal);
    for (const [index, change] of commit.changes.entries()) {
      const part = { ...commit, commitId: `${commit.commitId}.${index}`, changes: [change] };
      await super.commit({ ...envelope, commit: part }, signal);
    }
    throw whole.error;
  }
}

/** Forgets what a fence says. */
class LosesFences extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const { fence: _fence, ...commit } = envelope.commit;
    return super.commit({ ...envelope, commit }, signal);
  }
}

/** Keeps heads that it once read, and takes them for the newest where another handle wrote. */
class DecidesOnStaleHeads extends FakeBackend {
  readonly #known = new Map<string, Head>();

  override async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    const rows = this.place.live(namespace) ?? new MemoryNamespace();
    for (const head of rows.heads({ order: 'created', limit: 100 }))
      this.#known.set(`${namespace} ${head.conversationId}`, head);
    return super.read(namespace, reading);
  }

  protected override rowsToDecideOn(namespace: NamespaceId): RowReader {
    const rows = super.rowsToDecideOn(namespace);
    return over(rows, { head: (id) => this.#known.get(`${namespace} ${id}`) ?? rows.head(id) });
  }

  protected override write(namespace: NamespaceId, writes: WriteSet): void {
    super.write(namespace, writes);
    for (const head of writes.heads) this.#known.set(`${namespace} ${head.conversationId}`, head);
  }
}

/** Its index lacks every third commit. */
class MissesInSearch extends FakeBackend {
  override async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    const found = await super.search(namespace, query, signal);
    return { ...found, places: found.places.filter((place) => place.version % 3 !== 0) };
  }
}

/** Its index does not know one letter of a word from another script’s case. */
class FoldsCaseItsOwnWay extends FakeBackend {
  override async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    const found = await super.search(namespace, query, signal);
    const rows = this.place.rows(namespace);
    const holds = (owner: ConversationId, version: number) =>
      JSON.stringify(rows.log(owner, version)?.records.map((record) => record.body))
        .toLowerCase()
        .includes(JSON.stringify(query.text).slice(1, -1).toLowerCase());
    return { ...found, places: found.places.filter((place) => holds(place.conversationId, place.version)) };
  }
}

/** Does a commit again whose id it knows. */
class AppliesReplaysTwice extends FakeBackend {
  protected override rowsToDecideOn(namespace: NamespaceId): RowReader {
    const rows = super.rowsToDecideOn(namespace);
    return over(rows, { get: (id, key) => (key.startsWith(KEYS.commit('')) ? undefined : rows.get(id, key)) });
  }
}

/** Leaves out the first entry of every page after the first. */
class SkipsInTheFeed extends FakeBackend {
  override async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    const entries = await super.feed(namespace, after, limit);
    return after === 0 ? entries : entries.slice(1);
  }
}

/** Wakes no watcher. */
class WakesNobody extends FakeBackend {
  override onCommit(): () => void {
    return () => undefined;
  }
}

/** Applies the changes of a commit one by one while others read, and takes them back when one fails. */
class ShowsWhatIsUnderWay extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const { commit } = envelope;
    const decision = decide(this.rowsToDecideOn(commit.namespace), envelope, sha256);
    if (decision.outcome !== 'write') return super.commit(envelope, signal);
    const { heads, rows, edits } = decision.writes;
    const half = Math.ceil(rows.length / 2);
    this.place.rows(commit.namespace).apply({ heads: [], rows: rows.slice(0, half), edits: [] });
    await Promise.resolve();
    const again = decide(this.rowsToDecideOn(commit.namespace), envelope, sha256);
    void [heads, edits];
    if (again.outcome !== 'write') return decision.receipt;
    return super.commit(envelope, signal);
  }
}

/** Commits of one tick are one group; where one of them is refused, so are all. */
class HarmsNeighbours extends FakeBackend {
  #group: Promise<unknown>[] = [];

  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    const mine = Promise.resolve().then(async () => super.commit(envelope, signal));
    this.#group.push(mine);
    const group = this.#group;
    await Promise.resolve();
    this.#group = [];
    await Promise.all(group);
    return mine;
  }
}

/** One table for all namespaces. */
class MixesNamespaces extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    return super.commit({ ...envelope, commit: { ...envelope.commit, namespace: 'all' } }, signal);
  }

  override async read<Result>(_namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return super.read('all', reading);
  }

  override async feed(_namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    return super.feed('all', after, limit);
  }
}

/** Binds text as a C string and as UTF-8: what follows a NUL is gone, and half a pair is a question mark. */
class BindsTextCarelessly extends FakeBackend {
  protected override write(namespace: NamespaceId, writes: WriteSet): void {
    const mangle = (body: string | null) =>
      body && body.replaceAll('\\u0000', '').replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '\ufffd');
    const log = writes.log && {
      ...writes.log,
      record: {
        ...writes.log.record,
        records: writes.log.record.records.map((record) => ({ ...record, body: mangle(record.body) })),
      },
    };
    super.write(namespace, { ...writes, ...(log ? { log } : {}) });
  }
}

/** Orders ids and keys by a collation that folds case. */
class FoldsIds extends FakeBackend {
  protected override rowsToDecideOn(namespace: NamespaceId): RowReader {
    return folded(super.rowsToDecideOn(namespace));
  }

  protected override write(namespace: NamespaceId, writes: WriteSet): void {
    const rows = writes.rows.map((row) => ({ ...row, key: (row.key[0] ?? '') + row.key.slice(1).toLowerCase() }));
    super.write(namespace, { ...writes, rows });
  }

  override async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return super.read(namespace, (rows) => reading(folded(rows)));
  }
}

const foldKey = (key: string): string => (key[0] ?? '') + key.slice(1).toLowerCase();

function folded(rows: RowReader): RowReader {
  return over(rows, {
    get: (id, key) => rows.get(id, foldKey(key)),
    scan: (id, range) => rows.scan(id, { ...range, from: foldKey(range.from), to: foldKey(range.to) }),
  });
}

/** Refuses with errors of its driver. */
class ThrowsBareErrors extends FakeBackend {
  override async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    try {
      return await super.commit(envelope, signal);
    } catch (error) {
      throw new Error(`constraint failed: ${String(error)}`, { cause: error });
    }
  }
}

/** Removes the rows of what was erased, and leaves the words in the log. */
class KeepsErasedWords extends FakeBackend {
  override async collect(namespace: NamespaceId): Promise<number> {
    const rows = this.place.rows(namespace);
    this.sync({ collected: namespace });
    return rows.collect((writes) => this.write(namespace, { ...writes, edits: [] }));
  }
}

/** Sorts lists by JavaScript's order of text. */
class SortsByUnits extends FakeBackend {
  override async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return super.read(namespace, (rows) =>
      reading(
        over(rows, {
          heads: (query) =>
            [...rows.heads(query)].sort(
              (left, right) =>
                right.lastActivityAt - left.lastActivityAt || (left.conversationId < right.conversationId ? -1 : 1),
            ),
        }),
      ),
    );
  }
}

/** Loses the order of a range that is read backwards with a limit. */
class LimitsBeforeReversing extends FakeBackend {
  override async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return super.read(namespace, (rows) =>
      reading(
        over(rows, {
          scan: (id, range) =>
            range.reverse ? [...rows.scan(id, { ...range, reverse: false })].reverse() : rows.scan(id, range),
        }),
      ),
    );
  }
}

/** A reader with some answers of its own. */
function over(rows: RowReader, own: Partial<RowReader>): RowReader {
  return {
    head: (id) => rows.head(id),
    get: (id, key) => rows.get(id, key),
    scan: (id, range) => rows.scan(id, range),
    log: (id, version) => rows.log(id, version),
    heads: (query) => rows.heads(query),
    ...own,
  };
}

export function fakeTarget(name: string, Kind: new (place: Place) => FakeBackend): ConformanceTarget {
  const places = new Map<string, Place>();
  return {
    name,
    durable: true,
    async create() {
      const location = `${name}-${places.size}`;
      places.set(location, new Place());
      return location;
    },
    async open(location) {
      return new Kind(places.get(location) as Place);
    },
    async destroy(location) {
      places.delete(location);
    },
  };
}

/** Backends that each break one clause, and the cases that must tell. */
export const BROKEN: readonly {
  readonly name: string;
  readonly Kind: new (place: Place) => FakeBackend;
  /** The start of `CLAUSE [mode] case` of a result that fails. */
  readonly fails: readonly string[];
  /** True where some of its cases wait for what never comes. */
  readonly hangs?: boolean;
}[] = [
  {
    name: 'cools one message too many',
    Kind: CoolsOneTooMany,
    fails: ['R10 [same_handle] the newest messages stay hot, older ones cool, and each says so'],
  },
  {
    name: 'loses the words that it cools',
    Kind: LosesWhatItCools,
    fails: ['R10 [same_handle] no reading can tell a cooled conversation from a hot one but by its tiers'],
  },
  {
    name: 'acknowledges before the sync',
    Kind: AcknowledgesBeforeSync,
    fails: ['S3 [reopen] a commit that was acknowledged is there'],
  },
  {
    name: 'shows a commit before the sync',
    Kind: ShowsBeforeSync,
    fails: ['S3 [reopen] what a reader has seen stays'],
  },
  {
    name: 'applies half a write set',
    Kind: AppliesHalf,
    fails: ['S1 [same_handle] all that an accepted commit made is there'],
  },
  {
    name: 'commits change by change',
    Kind: CommitsChangeByChange,
    fails: ['S1 [same_handle] task.amend: nothing of it is there when a change after it fails'],
  },
  {
    name: 'loses fences',
    Kind: LosesFences,
    fails: [
      'S5 [same_handle] two writers race for a turn, as its owner',
      'S8 [same_handle] fenced: another attempt took over',
    ],
  },
  {
    name: 'decides on a stale head',
    Kind: DecidesOnStaleHeads,
    fails: [
      'S2 [same_handle] two handles that write at once',
      'S5 [same_handle] two writers race for the version: the left one is first',
    ],
  },
  {
    name: 'misses in search',
    Kind: MissesInSearch,
    fails: ['R4 [same_handle] it finds what a scan finds', 'R4 [same_handle] it finds every text'],
  },
  { name: 'folds case its own way', Kind: FoldsCaseItsOwnWay, fails: ['R4 [same_handle] it finds what a scan finds'] },
  { name: 'applies replays twice', Kind: AppliesReplaysTwice, fails: ['S4 [same_handle] state.update: sent twice'] },
  {
    name: 'skips in the feed',
    Kind: SkipsInTheFeed,
    hangs: true,
    fails: ['R5 [same_handle] who comes back at any cursor', 'R5 [same_handle] the feed is the same in steps'],
  },
  {
    name: 'shows what is under way',
    Kind: ShowsWhatIsUnderWay,
    fails: ['S3 [same_handle] a commit that is under way is seen whole'],
  },
  {
    name: 'harms neighbours',
    Kind: HarmsNeighbours,
    fails: ['S9 [same_handle] a refused commit harms no other conversation’s'],
  },
  { name: 'mixes namespaces', Kind: MixesNamespaces, fails: ['S6 [same_handle] lists, searches and feeds stay'] },
  {
    name: 'binds text carelessly',
    Kind: BindsTextCarelessly,
    fails: [
      'S7 [same_handle] it comes out as it went in: NUL',
      'S7 [same_handle] it comes out as it went in: a lone high surrogate',
    ],
  },
  {
    name: 'folds ids',
    Kind: FoldsIds,
    fails: ['S7 [same_handle] two ids that differ in a byte are two ids: ["Session","session"]'],
  },
  { name: 'throws bare errors', Kind: ThrowsBareErrors, fails: ['S8 [same_handle] conflict: the version is another'] },
  {
    name: 'keeps erased words',
    Kind: KeepsErasedWords,
    fails: ['R6 [same_handle] nothing of an erased conversation is left'],
  },
  {
    name: 'keeps bytes in the handle',
    Kind: KeepsBytesInTheHandle,
    fails: ['R11 [second_handle] 1 bytes come out as they went in', 'R11 [reopen] chunks of any length'],
  },
  { name: 'sorts by units', Kind: SortsByUnits, fails: ['R3 [same_handle] ties are ordered by id'] },
  { name: 'limits before reversing', Kind: LimitsBeforeReversing, fails: ['R1 [same_handle] windows of every size'] },
  { name: 'wakes nobody', Kind: WakesNobody, hangs: true, fails: ['R5 [same_handle] a watcher is woken'] },
];
