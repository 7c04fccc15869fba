import { sealUpload, sweepShelf } from '../core/attachments/keep.ts';
import type { Sweep } from '../core/attachments/keep.ts';
import { attachmentOf } from '../core/attachments/rows.ts';
import type { AttachmentStore, Grace, UploadPart, UploadSeal } from '../core/attachments/store.ts';
import { PART_BYTES } from '../core/attachments/store.ts';
import type { RowReader, WriteSet } from '../core/backend.ts';
import type { Sha256 } from '../core/digest.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import { newShelf, SHELVES } from '../core/shelf.ts';
import type { AttachmentFiles, Incoming } from './attachment-files.ts';
import { storeError } from './store-error.ts';

/** What the attachments need of the journal that they are part of. */
export interface JournalAccess {
  /** Throws where the store is closed. */
  readonly assertOpen: (signal?: AbortSignal) => void;
  /** Throws where this handle only reads, and where it cannot vouch for what it wrote. */
  readonly assertWriter: () => void;
  readonly rows: (namespace: NamespaceId) => RowReader;
  /** Runs work while no group of commits is written. */
  readonly alone: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Makes a line of a write set, durable; within `alone`. */
  readonly append: (namespace: NamespaceId, writes: WriteSet) => Promise<void>;
  /** Takes what lines may say no more out of every file. */
  readonly scrub: (namespace: NamespaceId) => Promise<void>;
  readonly sha256: Sha256;
}

/**
 * The bytes of attachments, a file for each. A file has its place before the line that names it, and keeps it until the
 * line that takes the name away: what a crash leaves is a file that no row names, and a collection removes it.
 */
export class JournalAttachments implements AttachmentStore {
  readonly #store: JournalAccess;
  readonly #files: AttachmentFiles;
  readonly #incoming = new Map<string, Incoming>();

  constructor(store: JournalAccess, files: AttachmentFiles) {
    this.#store = store;
    this.#files = files;
  }

  async add(namespace: NamespaceId, part: UploadPart): Promise<void> {
    this.#assertWriter();
    await mapped(async () => this.#write(namespace, part));
  }

  async finish(namespace: NamespaceId, seal: UploadSeal): Promise<void> {
    this.#assertWriter();
    const { upload, parts, last, now } = seal;
    await mapped(async () => {
      const name = nameOf(namespace, upload);
      if (last) this.#write(namespace, { upload, index: parts.length - 1, bytes: last, now });
      else if (parts.length === 0) this.#incoming.set(name, this.#files.begin(now));
      const incoming = this.#incoming.get(name);
      if (incoming?.parts !== parts.length) throw abandoned();
      // Until it has its name, a collection must know it as one that is on its way.
      incoming.isWhole = true;
      try {
        await incoming.file.sync();
        await this.#store.alone(() => this.#settle(namespace, seal, incoming));
        incoming.file.close();
      } catch (error) {
        this.#files.discard(incoming);
        throw error;
      } finally {
        this.#incoming.delete(name);
      }
    });
  }

  async discard(namespace: NamespaceId, upload: string): Promise<void> {
    const name = nameOf(namespace, upload);
    const incoming = this.#incoming.get(name);
    this.#incoming.delete(name);
    if (incoming?.isWhole === false) await mapped(async () => this.#files.discard(incoming));
  }

  async part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined> {
    this.#store.assertOpen();
    return mapped(async () => this.#files.part(namespace, digest, index));
  }

  async collect(namespace: NamespaceId, grace: Grace, signal?: AbortSignal): Promise<number> {
    this.#assertWriter(signal);
    return mapped(async () => {
      await this.#expire(grace);
      let count = 0;
      for (let after: string | null = ''; after !== null;) {
        this.#assertWriter(signal);
        const { removed, next } = await this.#sweep(namespace, after, grace);
        count += removed.length;
        after = next;
      }
      await this.#store.alone(() => this.#removeUnnamed(namespace));
      if (count > 0) await this.#store.scrub(namespace);
      return count;
    });
  }

  /** Closes what is on its way in; a collection removes it. */
  close(): void {
    for (const incoming of this.#incoming.values()) this.#files.discard(incoming);
    this.#incoming.clear();
  }

  #write(namespace: NamespaceId, { upload, index, bytes, now }: UploadPart): void {
    const name = nameOf(namespace, upload);
    if (index === 0) this.#incoming.set(name, this.#files.begin(now));
    const incoming = this.#incoming.get(name);
    if (incoming?.parts !== index) throw abandoned();
    incoming.file.write(bytes, index * PART_BYTES);
    incoming.parts += 1;
    incoming.touchedAt = now;
  }

  async #settle(namespace: NamespaceId, seal: UploadSeal, incoming: Incoming): Promise<void> {
    const rows = this.#store.rows(namespace);
    // The namespace comes first: nobody would collect what stands in one that is not there.
    if (!rows.head(SHELVES.attachments))
      await this.#store.append(namespace, {
        heads: [newShelf(SHELVES.attachments, seal.now, this.#store.sha256)],
        rows: [],
        edits: [],
      });
    const writes = sealUpload(rows, seal, this.#store.sha256);
    await this.#files.settle(namespace, seal.digest, incoming);
    await this.#store.append(namespace, writes);
  }

  #sweep(namespace: NamespaceId, after: string, grace: Grace): Promise<Sweep> {
    return this.#store.alone(async () => {
      const sweep = sweepShelf(this.#store.rows(namespace), after, grace);
      if (sweep.writes.rows.length > 0) await this.#store.append(namespace, sweep.writes);
      await this.#files.remove(namespace, sweep.removed);
      return sweep;
    });
  }

  /** One handle writes: uploads that it does not know are of one that is gone. */
  async #expire({ now, graceMs }: Grace): Promise<void> {
    for (const [name, incoming] of this.#incoming) {
      if (incoming.isWhole || now - incoming.touchedAt < graceMs) continue;
      this.#incoming.delete(name);
      this.#files.discard(incoming);
    }
    await this.#store.alone(() =>
      this.#files.clearIncoming(new Set([...this.#incoming.values()].map((one) => one.path))),
    );
  }

  /** A line that may be on the disk without the index knowing may name any of them: then none goes. */
  async #removeUnnamed(namespace: NamespaceId): Promise<void> {
    this.#store.assertWriter();
    const rows = this.#store.rows(namespace);
    const unnamed = [...this.#files.digests(namespace)].filter((digest) => !attachmentOf(rows, digest));
    await this.#files.remove(namespace, unnamed);
  }

  #assertWriter(signal?: AbortSignal): void {
    this.#store.assertOpen(signal);
    this.#store.assertWriter();
  }
}

async function mapped<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, 'the attachments of the journal');
  }
}

function nameOf(namespace: NamespaceId, upload: string): string {
  return `${namespace}\n${upload}`;
}

function abandoned(): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: 'the upload was given up and cleared' });
}
