import type { AttachmentStore, Grace, UploadPart, UploadSeal } from '../core/attachments/store.ts';
import { PART_BYTES } from '../core/attachments/store.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { BlobCall, BlobStep } from './store/blobs.ts';
import type { MainReader } from './main-reader.ts';

/** What the attachments need of the store that they are part of. */
export interface BlobAccess {
  /** Throws where the store is closed. */
  readonly assertOpen: (signal?: AbortSignal) => void;
  readonly run: (call: BlobCall) => Promise<BlobStep>;
  readonly reader: MainReader;
  /** About so many bytes were written. */
  readonly wrote: (bytes: number) => void;
  /** Takes what was removed out of every file. */
  readonly emptyFiles: (signal: AbortSignal | undefined) => Promise<void>;
}

/** The bytes of attachments, in the file of the store: its writer thread writes them, this process reads them. */
export class SqliteAttachments implements AttachmentStore {
  readonly #store: BlobAccess;

  constructor(store: BlobAccess) {
    this.#store = store;
  }

  async add(namespace: NamespaceId, part: UploadPart): Promise<void> {
    await this.#run({ namespace, do: 'add', part });
    this.#store.wrote(PART_BYTES);
  }

  async finish(namespace: NamespaceId, seal: UploadSeal): Promise<void> {
    await this.#run({ namespace, do: 'finish', seal });
    this.#store.wrote(seal.last?.length ?? 0);
  }

  async discard(namespace: NamespaceId, upload: string): Promise<void> {
    await this.#run({ namespace, do: 'discard', upload });
    await this.#clear(namespace);
  }

  async part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined> {
    this.#store.assertOpen();
    return this.#store.reader.blobPart(namespace, digest, index);
  }

  async collect(namespace: NamespaceId, grace: Grace, signal?: AbortSignal): Promise<number> {
    await this.#run({ namespace, do: 'expire', grace });
    let count = 0;
    for (let after: string | null = ''; after !== null;) {
      const { removed, next }: BlobStep = await this.#run({ namespace, do: 'sweep', after, grace }, signal);
      count += removed;
      after = next;
    }
    if (await this.#clear(namespace, signal)) await this.#store.emptyFiles(signal);
    return count;
  }

  /** Answers whether there was anything. */
  async #clear(namespace: NamespaceId, signal?: AbortSignal): Promise<boolean> {
    for (let cleared = false; ; cleared = true) {
      const { next } = await this.#run({ namespace, do: 'clear' }, signal);
      if (next === null) return cleared;
    }
  }

  async #run(call: BlobCall, signal?: AbortSignal): Promise<BlobStep> {
    this.#store.assertOpen(signal);
    return this.#store.run(call);
  }
}
