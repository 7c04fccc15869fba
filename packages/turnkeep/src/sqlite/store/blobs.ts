import { sealUpload, sweepShelf } from '../../core/attachments/keep.ts';
import type { Grace, UploadPart, UploadSeal } from '../../core/attachments/store.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import { sha256 } from '../../platform/hash.ts';
import type { Database, Statement } from '../driver/driver.ts';
import type { GroupWriter } from '../threads/group-writer.ts';
import { BLOB_PARTS } from './store-schema.ts';
import type { StoreWriter } from './store-writer.ts';

/** What the writer thread does with the bytes of attachments, each a transaction of its own. */
export type BlobCall = { readonly namespace: NamespaceId } & (
  | { readonly do: 'add'; readonly part: UploadPart }
  | { readonly do: 'finish'; readonly seal: UploadSeal }
  | { readonly do: 'discard'; readonly upload: string }
  /** Gives up uploads that nobody has touched for the grace. */
  | { readonly do: 'expire'; readonly grace: Grace }
  | { readonly do: 'sweep'; readonly after: string; readonly grace: Grace }
  /** Removes some bytes of what was given up. */
  | { readonly do: 'clear' }
);

export interface BlobStep {
  /** Attachments that went. */
  readonly removed: number;
  /** Where the sweep goes on; `null` where nothing is left to do. */
  readonly next: string | null;
}

const DONE: BlobStep = { removed: 0, next: null };
/** Parts that are removed in one transaction: 8 MiB. */
const CLEARED_PARTS = 32;

/** Blobs are named by the digest of their bytes; an upload that has none yet, and one that was given up, by these. */
const UPLOAD = '+';
const GIVEN_UP = '-';

/**
 * The bytes of attachments as blobs of parts. A blob that is named by a digest is whole; its name changes in the
 * transaction that writes the rows of the shelf, its parts come before and go afterwards, a few at a time.
 */
export class Blobs {
  readonly #writer: GroupWriter;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database, writer: GroupWriter) {
    this.#writer = writer;
    this.#statements = prepare(database);
  }

  /** Within the transaction that the writer began, which ends with it. */
  run(call: BlobCall): BlobStep {
    return this.#writer.maintain((writer) => this.#run(call, writer));
  }

  #run(call: BlobCall, writer: StoreWriter): BlobStep {
    const { namespace } = call;
    switch (call.do) {
      case 'add':
        return this.#add(namespace, call.part);
      case 'finish':
        return this.#finish(namespace, call.seal, writer);
      case 'discard':
        return this.#giveUp(namespace, UPLOAD + call.upload);
      case 'expire':
        return this.#expire(namespace, call.grace);
      case 'sweep':
        return this.#sweep(namespace, call.after, call.grace, writer);
      case 'clear':
        break;
    }
    return this.#clear(namespace);
  }

  #add(namespace: NamespaceId, { upload, index, bytes, now }: UploadPart): BlobStep {
    const name = UPLOAD + upload;
    if (index === 0) this.#statements.begin.run(namespace, name, now);
    const b = this.#blob(namespace, name);
    if (b === undefined) throw abandoned();
    this.#statements.putPart.run(b * BLOB_PARTS + index, bytes);
    this.#statements.touch.run(now, b);
    return DONE;
  }

  #finish(namespace: NamespaceId, seal: UploadSeal, writer: StoreWriter): BlobStep {
    const { upload, parts, last, now, digest } = seal;
    if (last) this.#add(namespace, { upload, index: parts.length - 1, bytes: last, now });
    else if (parts.length === 0) this.#statements.begin.run(namespace, UPLOAD + upload, now);
    const b = this.#blob(namespace, UPLOAD + upload);
    if (b === undefined || this.#count(b) !== parts.length) throw abandoned();
    const n = writer.namespace(namespace);
    writer.apply(n, sealUpload(this.#writer.reader.rows(n), seal, sha256));
    this.#giveUp(namespace, digest);
    this.#statements.rename.run(digest, b);
    return DONE;
  }

  #expire(namespace: NamespaceId, { now, graceMs }: Grace): BlobStep {
    this.#statements.expire.run(namespace, now - graceMs);
    return DONE;
  }

  #sweep(namespace: NamespaceId, after: string, grace: Grace, writer: StoreWriter): BlobStep {
    const n = this.#writer.reader.namespace(namespace);
    if (n === undefined) return DONE;
    const { writes, removed, next } = sweepShelf(this.#writer.reader.rows(n), after, grace);
    if (writes.rows.length > 0) writer.apply(n, writes);
    for (const digest of removed) this.#giveUp(namespace, digest);
    return { removed: removed.length, next };
  }

  #giveUp(namespace: NamespaceId, name: string): BlobStep {
    this.#statements.giveUp.run(namespace, name);
    return DONE;
  }

  #clear(namespace: NamespaceId): BlobStep {
    const b = this.#statements.givenUp.get(namespace)?.[0] as number | undefined; // an integer column
    if (b === undefined) return DONE;
    const gone = this.#statements.removeParts.run(b * BLOB_PARTS, (b + 1) * BLOB_PARTS);
    if (gone < CLEARED_PARTS) this.#statements.remove.run(b);
    return { removed: 0, next: '' };
  }

  #count(b: number): number {
    return this.#statements.count.get(b * BLOB_PARTS, (b + 1) * BLOB_PARTS)?.[0] as number; // an aggregate
  }

  #blob(namespace: NamespaceId, name: string): number | undefined {
    return this.#statements.blob.get(namespace, name)?.[0] as number | undefined; // an integer column
  }
}

function abandoned(): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: 'the upload was given up and cleared' });
}

function prepare(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    begin: sql('INSERT INTO blobs (ns, name, touched) VALUES (?, ?, ?)'),
    blob: sql('SELECT b FROM blobs WHERE ns = ? AND name = ?'),
    touch: sql('UPDATE blobs SET touched = ? WHERE b = ?'),
    putPart: sql('INSERT INTO parts (id, bytes) VALUES (?, ?)'),
    count: sql('SELECT count(*) FROM parts WHERE id >= ? AND id < ?'),
    rename: sql('UPDATE blobs SET name = ? WHERE b = ?'),
    giveUp: sql(`UPDATE blobs SET name = '${GIVEN_UP}' || b WHERE ns = ? AND name = ?`),
    expire: sql(`UPDATE blobs SET name = '${GIVEN_UP}' || b WHERE ns = ? AND name GLOB '${UPLOAD}*' AND touched <= ?`),
    givenUp: sql(`SELECT b FROM blobs WHERE ns = ? AND name GLOB '${GIVEN_UP}*' LIMIT 1`),
    removeParts: sql(
      `DELETE FROM parts WHERE id IN (SELECT id FROM parts WHERE id >= ? AND id < ? LIMIT ${CLEARED_PARTS})`,
    ),
    remove: sql('DELETE FROM blobs WHERE b = ?'),
  };
}
