import { sealUpload, sliceOfShelf, sweepShelf } from '../core/attachments/keep.ts';
import type { Sweep } from '../core/attachments/keep.ts';
import { ATTACHMENT_KEYS } from '../core/attachments/rows.ts';
import type { AttachmentStore, Grace, UploadPart, UploadSeal } from '../core/attachments/store.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import { prefixEnd } from '../core/keys.ts';
import { SHELVES } from '../core/shelf.ts';
import type { Ask } from './commit/ask.ts';
import { drawNumber } from './commit/conversation-number.ts';
import type { Session, Statement } from './driver/driver.ts';
import { inSession } from './driver/session.ts';
import { ShelfTransaction } from './commit/shelf-transaction.ts';
import {
  addPart,
  beginUpload,
  CLEARED_PARTS,
  expireUploads,
  findUpload,
  givenUp,
  giveUp,
  giveUpUpload,
  nameUpload,
  readPart,
  removeBlob,
  removeParts,
  touchUpload,
} from './sql/blobs.ts';
import { begin, beginSnapshot, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

/**
 * The bytes of attachments as blobs of parts. A blob that is named by a digest is whole; its name changes in the
 * transaction that writes the rows of the shelf, its parts come before and go afterwards.
 */
export class PostgresAttachments implements AttachmentStore {
  readonly #store: Store;
  readonly #assertOpen: (signal?: AbortSignal) => void;

  constructor(store: Store, assertOpen: (signal?: AbortSignal) => void) {
    this.#store = store;
    this.#assertOpen = assertOpen;
  }

  async add(namespace: NamespaceId, part: UploadPart): Promise<void> {
    const statements = this.#partStatements(namespace, part);
    const results = await this.#transact(namespace, statements);
    if (results[statements.length - 2]?.length === 0) throw abandoned();
  }

  async finish(namespace: NamespaceId, seal: UploadSeal): Promise<void> {
    this.#assertOpen();
    await inSession(this.#store, async (session) => this.#finish(session, namespace, seal));
  }

  async discard(namespace: NamespaceId, upload: string): Promise<void> {
    await this.#transact(namespace, [giveUpUpload(this.#store.schema, namespace, upload)]);
    await this.#clear(namespace);
  }

  async part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined> {
    this.#assertOpen();
    const read = readPart(this.#store.schema, namespace, digest, index);
    const results = await inSession(this.#store, async (session) =>
      session.run([beginSnapshot(), enterNamespace(namespace), read, commit()]),
    );
    const text = results[2]?.[0]?.[0];
    return text === undefined ? undefined : Buffer.from(text as string, 'base64'); // a text column
  }

  async collect(namespace: NamespaceId, grace: Grace, signal?: AbortSignal): Promise<number> {
    await this.#transact(namespace, [expireUploads(this.#store.schema, namespace, grace.now - grace.graceMs)]);
    let count = 0;
    for (let after: string | null = ''; after !== null;) {
      this.#assertOpen(signal);
      const from: string = after;
      const { removed, next }: Sweep = await inSession(this.#store, async (session) =>
        this.#sweep(session, namespace, from, grace),
      );
      count += removed.length;
      after = next;
    }
    await this.#clear(namespace, signal);
    return count;
  }

  async #finish(session: Session, namespace: NamespaceId, seal: UploadSeal): Promise<void> {
    const { schema, sha256 } = this.#store;
    const { upload, digest, parts, last, now } = seal;
    const shelf = await ShelfTransaction.begin(this.#store, session, namespace, {
      id: SHELVES.attachments,
      lock: 'writes',
    });
    const lastPart = last
      ? this.#partStatements(namespace, { upload, index: parts.length - 1, bytes: last, now })
      : [beginUpload(schema, namespace, upload, drawNumber(), now)];
    const already = findUpload(schema, namespace, upload);
    const [[found] = []] = await shelf.run([already]);
    // The transaction before this one was committed, and its answer was lost.
    if (found?.[0] === digest) return shelf.end(undefined, []);
    const results = await shelf.run([...(parts.length <= 1 || found ? lastPart : []), already]);
    if (Number(results.at(-1)?.[0]?.[1] ?? -1) !== parts.length) throw abandoned();
    await shelf.load([ATTACHMENT_KEYS.attachment(digest), ATTACHMENT_KEYS.total].map(rowAsk));
    const writes = await shelf.decide((rows) => sealUpload(rows, seal, sha256));
    await shelf.end(writes, [giveUp(schema, namespace, [digest]), nameUpload(schema, namespace, upload, digest)]);
  }

  async #sweep(session: Session, namespace: NamespaceId, after: string, grace: Grace): Promise<Sweep> {
    const shelf = await ShelfTransaction.begin(this.#store, session, namespace, {
      id: SHELVES.attachments,
      lock: 'alone',
    });
    const digests = await shelf.decide((rows) => sliceOfShelf(rows, after));
    await shelf.load([rowAsk(ATTACHMENT_KEYS.total), ...digests.map(firstUseAsk)]);
    const sweep = await shelf.decide((rows) => sweepShelf(rows, after, grace));
    const { schema } = this.#store;
    await shelf.end(sweep.writes, sweep.removed.length > 0 ? [giveUp(schema, namespace, sweep.removed)] : []);
    return sweep;
  }

  async #clear(namespace: NamespaceId, signal?: AbortSignal): Promise<void> {
    const { schema } = this.#store;
    for (;;) {
      this.#assertOpen(signal);
      const [[found] = []] = await this.#transact(namespace, [givenUp(schema, namespace)]);
      if (!found) return;
      const b = String(found[0]);
      const [parts = []] = await this.#transact(namespace, [removeParts(schema, namespace, b)]);
      if (parts.length < CLEARED_PARTS) await this.#transact(namespace, [removeBlob(schema, namespace, b)]);
    }
  }

  /** The last but one answers a row where the upload is there. */
  #partStatements(namespace: NamespaceId, { upload, index, bytes, now }: UploadPart): readonly Statement[] {
    const { schema } = this.#store;
    return [
      ...(index === 0 ? [beginUpload(schema, namespace, upload, drawNumber(), now)] : []),
      addPart(schema, namespace, upload, index, bytes),
      touchUpload(schema, namespace, upload, now),
    ];
  }

  async #transact(namespace: NamespaceId, statements: readonly Statement[]) {
    this.#assertOpen();
    const results = await inSession(this.#store, async (session) =>
      session.run([begin(), enterNamespace(namespace), ...statements, commit()]),
    );
    return results.slice(2, -1);
  }
}

function rowAsk(key: string): Ask {
  return { kind: 'row', conversation: SHELVES.attachments, key };
}

function firstUseAsk(digest: string): Ask {
  const from = ATTACHMENT_KEYS.usesOf(digest);
  return { kind: 'range', conversation: SHELVES.attachments, range: { from, to: prefixEnd(from), limit: 1 } };
}

function abandoned(): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: 'the upload was given up and cleared' });
}
