import type { FeedEntry, RowReader } from '../core/backend.ts';
import type { Finding } from '../core/finding.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { uncollectedFindings, unreadIn } from '../core/uncollected.ts';
import type { Database, SqlRow, Statement } from './driver/driver.ts';
import { patiently } from './store/patience.ts';
import { isWal, openForReading } from './store/store-file.ts';
import type { StoreFile } from './store/store-file.ts';
import { storeError } from './store/store-fault.ts';
import { MIGRATIONS } from './store/store-schema.ts';
import { StoreReader } from './store/store-reader.ts';
import { BLOB_PARTS } from './store/store-schema.ts';

/** The event loop waits no longer; then it is tried again. */
const BLOCKING_WAIT_MS = 10;

/** Reads snapshots over a connection of its own, which never waits for a writer where the journal is a WAL. */
export class MainReader {
  readonly #file: StoreFile;
  readonly #database: Database;
  readonly #reader: StoreReader;
  readonly #feed: Statement;
  readonly #namespaces: Statement;
  readonly #uncollected: Statement;
  readonly #blobPart: Statement;
  #dataVersion = -1;

  private constructor(file: StoreFile, database: Database) {
    this.#file = file;
    this.#database = database;
    this.#reader = new StoreReader(this.#database);
    this.#feed = this.#database.prepare(
      `SELECT log.pos, heads.id, log.version FROM log CROSS JOIN heads ON heads.c = log.c
       WHERE log.n = ? AND log.pos > ? ORDER BY log.pos LIMIT ?`,
    );
    this.#namespaces = this.#database.prepare('SELECT name FROM namespaces ORDER BY name');
    this.#uncollected = this.#database.prepare(
      'SELECT id, version FROM heads WHERE n = ? AND uncollected = 1 ORDER BY id',
    );
    this.#blobPart = this.#database.prepare(
      `SELECT bytes FROM parts WHERE id = (SELECT b FROM blobs WHERE ns = ? AND name = ?) * ${BLOB_PARTS} + ?`,
    );
  }

  static async open(file: StoreFile): Promise<MainReader> {
    try {
      const database = await patiently(file.busyTimeoutMs, () => openForReading(file, BLOCKING_WAIT_MS));
      return new MainReader(file, database);
    } catch (error) {
      throw storeError(error, file.path);
    }
  }

  read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return this.#snapshot(() => reading(this.#reader.rows(this.#reader.namespace(namespace))));
  }

  feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    return this.#snapshot(() => {
      const n = this.#reader.namespace(namespace);
      return n === undefined ? [] : this.#feed.all(n, after, limit).map(toEntry);
    });
  }

  namespaces(): Promise<readonly NamespaceId[]> {
    return this.#snapshot(() => this.#namespaces.all().map(([name]) => name as NamespaceId)); // a text column
  }

  /** A part of an attachment's bytes. */
  blobPart(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined> {
    return this.#snapshot(() => this.#blobPart.get(namespace, digest, index)?.[0] as Uint8Array | undefined); // a blob column
  }

  /** Differs from the last answer when anybody has committed. */
  dataVersion(): number {
    return this.#database.dataVersion();
  }

  /** The format, whether readers wait for commits, and what a collection cannot take out. */
  async examine(): Promise<readonly Finding[]> {
    const findings = [...(await this.#snapshot(() => this.#examineFile()))];
    for (const namespace of await this.namespaces())
      findings.push(...(await this.#snapshot(() => this.#examineErasures(namespace))));
    return findings;
  }

  #examineFile(): readonly Finding[] {
    const says = `schema ${String(this.#database.pragma('user_version'))} of ${MIGRATIONS.length}`;
    const format: Finding = { check: 'format', status: 'ok', says };
    if (isWal(this.#database))
      return [format, { check: 'wal', status: 'ok', says: 'readers and writers go on together' }];
    const refused = 'this file system refuses a WAL: readings wait for commits';
    return [format, { check: 'wal', status: 'warning', says: refused, advice: 'keep the store on a local disk' }];
  }

  #examineErasures(namespace: NamespaceId): readonly Finding[] {
    const n = this.#reader.namespace(namespace) ?? null;
    const rows = this.#reader.rows(n ?? undefined);
    const places = this.#uncollected.all(n).flatMap(([id, version]) =>
      // A text and an integer column.
      unreadIn(rows, { conversationId: id as ConversationId, version: version as number }),
    );
    return uncollectedFindings(namespace, places, 'restore the file from a backup');
  }

  close(): void {
    this.#database.close();
  }

  async #snapshot<Result>(read: () => Result): Promise<Result> {
    try {
      return await patiently(this.#file.busyTimeoutMs, () => this.#once(read));
    } catch (error) {
      throw storeError(error, this.#file.path);
    }
  }

  #once<Result>(read: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      // To ask is also to begin the snapshot.
      const dataVersion = this.#database.dataVersion();
      if (dataVersion !== this.#dataVersion) this.#reader.renew();
      this.#dataVersion = dataVersion;
      return read();
    } finally {
      // What fails to be read may have ended it.
      if (this.#database.inTransaction()) this.#database.exec('COMMIT');
    }
  }
}

function toEntry(row: SqlRow): FeedEntry {
  const [position, conversationId, version] = row as [number, ConversationId, number]; // the columns of the statement
  return { position, conversationId, version };
}
