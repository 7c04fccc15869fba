import { abortedBy } from '../core/abort.ts';
import { collectErased } from '../core/collect.ts';
import type { WriteSet } from '../core/backend.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import { Overlay } from '../core/overlay.ts';
import { SHELVES } from '../core/shelf.ts';
import type { Ask } from './commit/ask.ts';
import { cleanBlocks } from './tiers/cool.ts';
import type { Connection } from './driver/driver.ts';
import { Loader, storedHead } from './commit/loader.ts';
import { attempt } from './reading.ts';
import { inSession } from './driver/session.ts';
import { Snapshot } from './commit/snapshot.ts';
import { nextUncollected } from './sql/collect.ts';
import { lockHeads } from './sql/lock-heads.ts';
import { begin, commit, enterBounded, rollback } from './sql/transaction.ts';
import type { Store } from './store.ts';
import { WriteBatch } from './commit/write-batch.ts';
import type { Held } from './commit/write-batch.ts';

/** Write sets of one transaction, of 500 rows each. */
const SETS = 20;
/** Log records that are loaded together: a collection goes through all of them. */
const LOGS = 500;
const LOCK_MS = 5_000;
const IDLE_MS = 60_000;

interface Step {
  readonly rows: number;
  /** The id after which the next step looks; absent where nothing is left. */
  readonly after?: string | undefined;
}

/**
 * Removes what erased conversations of a namespace hold and nobody shares, in slices; answers how many rows went. What cannot
 * be read stays, for `examine` to tell, and the conversation is one that the next collection goes through.
 */
export async function collectNamespace(store: Store, namespace: string, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    if (signal?.aborted) throw abortedBy(signal);
    const from: string = after;
    const step: Step = await inSession(store, async (session) => collectStep(store, session, namespace, from));
    removed += step.rows;
    ({ after } = step);
  }
  await cleanBlocks(store, namespace, signal);
  return removed;
}

async function collectStep(store: Store, session: Connection, namespace: string, after: string): Promise<Step> {
  const { schema } = store;
  const start = [begin(), enterBounded(namespace, LOCK_MS, IDLE_MS)];
  const found = await session.run([...start, nextUncollected(schema, namespace, after)]);
  const id = found.at(-1)?.[0]?.[0] as ConversationId | undefined; // a text column
  if (id === undefined) {
    await session.run([commit()]);
    return { rows: 0 };
  }
  const locks = [
    lockHeads(schema, namespace, [SHELVES.attachments], true, 'shares'),
    lockHeads(schema, namespace, [id], true),
  ];
  const locked = (await session.run(locks)).flat();
  const collection = new Collection(store, session, namespace);
  try {
    for (const row of locked) collection.hold(storedHead(row));
    const removed = collection.holds(id) ? await collection.run(id) : 0;
    await session.run([...collection.batch.statements(schema, namespace), commit()]);
    return { rows: removed, after };
  } catch (error) {
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    await session.run([rollback()]);
    return { rows: 0, after: id };
  }
}

/** What one transaction removes of one conversation, whose head it has locked. */
class Collection {
  readonly batch: WriteBatch;
  readonly #connection: Connection;
  readonly #held = new Map<ConversationId, Held>();
  readonly #snapshot = new Snapshot();
  readonly #overlay = new Overlay(this.#snapshot);
  readonly #loader: Loader;

  constructor(store: Store, connection: Connection, namespace: string) {
    this.#connection = connection;
    this.#loader = new Loader(store.schema, namespace, this.#snapshot, this.#held);
    this.batch = new WriteBatch(this.#held, this.#snapshot);
  }

  /** A head that is locked: the conversation's own, and that of the attachments which it lets go. */
  hold(stored: ReturnType<typeof storedHead>): void {
    const id = stored.head.conversationId;
    this.#held.set(id, { ...stored, isNew: false });
    this.#snapshot.putHead(id, stored);
  }

  holds(id: ConversationId): boolean {
    return this.#held.has(id);
  }

  /** Answers how many rows go. Whatever is missing, the collection begins again, on what it has removed so far. */
  async run(id: ConversationId): Promise<number> {
    let rows = 0;
    let sets = 0;
    for (;;) {
      const collection = collectErased(this.#overlay, id);
      for (;;) {
        const tried = attempt(this.#snapshot, () => nextOf(collection, sets));
        if ('ask' in tried) {
          await this.#loader.loadMissing(this.#connection, [tried.ask, ...logsAfter(tried.ask)]);
          break;
        }
        if (tried.result.done === true) return rows;
        this.batch.add(tried.result.value);
        this.#overlay.apply(tried.result.value);
        rows += tried.result.value.rows.length;
        sets += 1;
        if (sets === SETS) return rows;
      }
    }
  }
}

/** Of a collection that ends at words which cannot be read, what went before is kept; the next step says so. */
function nextOf(collection: Generator<WriteSet>, sets: number): IteratorResult<WriteSet, unknown> {
  try {
    return collection.next();
  } catch (error) {
    if (sets > 0 && isTurnkeepError(error, 'corrupt')) return { done: true, value: undefined };
    throw error;
  }
}

function logsAfter(ask: Ask): readonly Ask[] {
  if (ask.kind !== 'log') return [];
  return Array.from({ length: LOGS }, (_, at) => ({ ...ask, version: ask.version + 1 + at }));
}
