import type { RowReader, WriteSet } from '../core/backend.ts';
import { sealUpload, sweepShelf } from '../core/attachments/keep.ts';
import type { AttachmentStore, Grace, UploadPart, UploadSeal } from '../core/attachments/store.ts';
import type { Sha256 } from '../core/digest.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';

/** What the attachments need of the store that they are part of. */
export interface MemoryRows {
  /** Throws where the store is closed. */
  readonly rows: (namespace: NamespaceId) => RowReader;
  readonly write: (namespace: NamespaceId, writes: WriteSet) => void;
  readonly sha256: Sha256;
}

interface Upload {
  readonly parts: Uint8Array[];
  touchedAt: number;
}

/** The bytes of attachments, in memory. */
export class MemoryAttachments implements AttachmentStore {
  readonly #store: MemoryRows;
  readonly #uploads = new Map<string, Upload>();
  readonly #parts = new Map<string, readonly Uint8Array[]>();

  constructor(store: MemoryRows) {
    this.#store = store;
  }

  async add(namespace: NamespaceId, { upload, index, bytes, now }: UploadPart): Promise<void> {
    this.#store.rows(namespace);
    const name = nameOf(namespace, upload);
    const known = this.#uploads.get(name) ?? { parts: [], touchedAt: now };
    if (known.parts.length !== index) throw abandoned();
    known.parts.push(bytes.slice());
    known.touchedAt = now;
    this.#uploads.set(name, known);
  }

  async finish(namespace: NamespaceId, seal: UploadSeal): Promise<void> {
    const name = nameOf(namespace, seal.upload);
    const parts = [...(this.#uploads.get(name)?.parts ?? []), ...(seal.last ? [seal.last.slice()] : [])];
    if (parts.length !== seal.parts.length) throw abandoned();
    const writes = sealUpload(this.#store.rows(namespace), seal, this.#store.sha256);
    this.#uploads.delete(name);
    this.#parts.set(nameOf(namespace, seal.digest), parts);
    this.#store.write(namespace, writes);
  }

  async discard(namespace: NamespaceId, upload: string): Promise<void> {
    this.#uploads.delete(nameOf(namespace, upload));
  }

  async part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined> {
    this.#store.rows(namespace);
    return this.#parts.get(nameOf(namespace, digest))?.[index]?.slice();
  }

  async collect(namespace: NamespaceId, grace: Grace): Promise<number> {
    this.#clearUploads(namespace, grace);
    let count = 0;
    for (let after: string | null = ''; after !== null;) {
      const { writes, removed, next } = sweepShelf(this.#store.rows(namespace), after, grace);
      for (const digest of removed) this.#parts.delete(nameOf(namespace, digest));
      if (writes.rows.length > 0) this.#store.write(namespace, writes);
      count += removed.length;
      after = next;
    }
    return count;
  }

  #clearUploads(namespace: NamespaceId, { now, graceMs }: Grace): void {
    const prefix = nameOf(namespace, '');
    for (const [name, { touchedAt }] of this.#uploads)
      if (name.startsWith(prefix) && now - touchedAt >= graceMs) this.#uploads.delete(name);
  }
}

function nameOf(namespace: NamespaceId, name: string): string {
  return `${namespace}\n${name}`;
}

function abandoned(): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: 'the upload was given up and cleared' });
}
