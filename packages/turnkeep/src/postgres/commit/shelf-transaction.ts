import type { RowReader, WriteSet } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { pause } from '../../platform/timers.ts';
import type { Ask } from './ask.ts';
import { drawNumber } from './conversation-number.ts';
import type { Session, Statement } from '../driver/driver.ts';
import { Loader, storedHead } from './loader.ts';
import { attempt } from '../reading.ts';
import { Snapshot } from './snapshot.ts';
import type { StoredHead } from './snapshot.ts';
import { addHeads } from '../sql/add-heads.ts';
import { lockHeads } from '../sql/lock-heads.ts';
import { begin, commit, enterBounded, rollback } from '../sql/transaction.ts';
import type { Store } from '../store.ts';
import { WriteBatch } from './write-batch.ts';
import type { Held } from './write-batch.ts';

const LOCK_MS = 5_000;
const IDLE_MS = 60_000;
const RETRY_MS = 5;

/**
 * A transaction that holds the head of a shelf, as that of a namespace's attachments. Where it is alone with it, no commit
 * comes to refer to one meanwhile; where it writes beside them, what such commits write is not its concern. What else it
 * reads of the shelf holds until the end.
 */
export class ShelfTransaction {
  readonly #store: Store;
  readonly #session: Session;
  readonly #namespace: string;
  readonly #snapshot = new Snapshot();
  readonly #loader: Loader;
  readonly #batch: WriteBatch;

  /** True where the shelf has no head yet. */
  readonly isNew: boolean;

  private constructor(store: Store, session: Session, namespace: string, id: ConversationId, shelf: Shelf) {
    this.#store = store;
    this.#session = session;
    this.#namespace = namespace;
    const held = new Map([[id, heldOf(shelf)]]);
    this.#loader = new Loader(store.schema, namespace, this.#snapshot, held);
    this.isNew = 'isNew' in shelf;
    this.#batch = new WriteBatch(held, this.#snapshot);
    this.#snapshot.putHead(id, 'isNew' in shelf ? null : shelf);
  }

  /** Begins one; the shelf is made where there is none. */
  static async begin(
    store: Store,
    session: Session,
    namespace: string,
    { id, lock }: { readonly id: ConversationId; readonly lock: 'alone' | 'writes' },
  ): Promise<ShelfTransaction> {
    const { schema } = store;
    for (const start = monotonicNow(); ;) {
      const results = await session.run([
        begin(),
        enterBounded(namespace, LOCK_MS, IDLE_MS),
        lockHeads(schema, namespace, [id], true, lock),
        addHeads(schema, namespace, [id], [drawNumber()]),
      ]);
      const [[locked] = [], [made] = []] = results.slice(2);
      if (locked) return new ShelfTransaction(store, session, namespace, id, storedHead(locked));
      if (made) return new ShelfTransaction(store, session, namespace, id, { c: String(made[1]), isNew: true });
      // Another transaction makes the shelf at this moment.
      await session.run([rollback()]);
      const waitedMs = Math.round(monotonicNow() - start);
      if (waitedMs >= LOCK_MS) throw new TurnkeepError('store_busy', { waitedMs });
      await pause(RETRY_MS);
    }
  }

  /** Reads what is asked for ahead of a decision, in one round trip. */
  async load(asks: readonly Ask[]): Promise<void> {
    await this.#loader.load(this.#session, asks);
  }

  /** What a pure function of the shelf's rows answers. */
  async decide<Result>(reading: (rows: RowReader) => Result): Promise<Result> {
    for (;;) {
      const tried = attempt(this.#snapshot, reading);
      if ('result' in tried) return tried.result;
      await this.#loader.loadMissing(this.#session, [tried.ask]);
    }
  }

  async run(statements: readonly Statement[]): Promise<readonly (readonly (readonly unknown[])[])[]> {
    return this.#session.run(statements);
  }

  /** Writes the rows, then what goes with them, and commits. */
  async end(writes: WriteSet | undefined, statements: readonly Statement[]): Promise<void> {
    if (writes) this.#batch.add(writes);
    await this.#session.run([...this.#batch.statements(this.#store.schema, this.#namespace), ...statements, commit()]);
  }
}

type Shelf = StoredHead | { readonly c: string; readonly isNew: true };

function heldOf(shelf: Shelf): Held {
  return 'isNew' in shelf
    ? { c: shelf.c, isNew: true, rank: 0, packs: '', places: new Map() }
    : { ...shelf, isNew: false };
}
