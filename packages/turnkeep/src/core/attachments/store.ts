import type { NamespaceId } from '../ids.ts';

/** A part of an upload: {@link PART_BYTES} long, the last one shorter or as long. */
export interface UploadPart {
  readonly upload: string;
  readonly index: number;
  readonly bytes: Uint8Array;
  /** Milliseconds. */
  readonly now: number;
}

/** What an upload turned out to be, once its last byte was seen. */
export interface UploadSeal {
  readonly upload: string;
  readonly digest: string;
  readonly sizeBytes: number;
  /** The digests of the parts, in order; empty if there are no bytes. */
  readonly parts: readonly string[];
  /** The part that {@link AttachmentStore.add} has not seen. */
  readonly last?: Uint8Array | undefined;
  /** Milliseconds. */
  readonly now: number;
  /** The most bytes that all attachments of the namespace may have together. */
  readonly quotaBytes: number;
}

/** What may be cleared: what nobody refers to, and what was held or begun longer ago than `graceMs`. */
export interface Grace {
  /** Milliseconds. */
  readonly now: number;
  readonly graceMs: number;
}

/** Bytes of a part, the unit of reading, checking and memory. */
export const PART_BYTES = 262_144;

/**
 * Where a backend keeps the bytes of attachments. It knows parts and where they lie; `sealUpload` and `sweepShelf` decide
 * what they mean, and the caller checks every digest.
 *
 * - Nobody sees the parts of an upload. `finish` makes it an attachment, whole and durable, in one transaction with the
 *   rows of the shelf; bytes already stored for the digest are replaced, so that a put repairs damage.
 * - An upload whose parts are not all there (it was cleared as abandoned) is refused by `finish` as `aborted`.
 * - `collect` clears what a crash left of an upload.
 */
export interface AttachmentStore {
  /** Adds the next part; the first one begins the upload. */
  add(namespace: NamespaceId, part: UploadPart): Promise<void>;
  finish(namespace: NamespaceId, seal: UploadSeal): Promise<void>;
  /** Forgets an upload; does nothing if it is not there. */
  discard(namespace: NamespaceId, upload: string): Promise<void>;
  /** The bytes of a part as stored, unchecked; `undefined` if there are none. */
  part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined>;
  /**
   * Removes what nothing refers to, and abandoned uploads, from every file; returns how many attachments were removed. No
   * commit can refer to them between its reading and its removal.
   */
  collect(namespace: NamespaceId, grace: Grace, signal?: AbortSignal): Promise<number>;
}
