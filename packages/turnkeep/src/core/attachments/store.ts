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
  /** The digest of each part, in their order; none where there are no bytes. */
  readonly parts: readonly string[];
  /** The part that {@link AttachmentStore.add} has not seen. */
  readonly last?: Uint8Array | undefined;
  /** Milliseconds. */
  readonly now: number;
  /** Bytes that all attachments of the namespace may have together. */
  readonly quotaBytes: number;
}

/** What may be cleared: what nobody refers to, and what was held or begun longer ago than `graceMs`. */
export interface Grace {
  /** Milliseconds. */
  readonly now: number;
  readonly graceMs: number;
}

/** Bytes of a part: what is read, checked and kept in memory at a time. */
export const PART_BYTES = 262_144;

/**
 * Where a backend keeps the bytes of attachments. It knows parts and where they lie; what they mean, `sealUpload` and
 * `sweepShelf` decide, and the caller checks every digest.
 *
 * - Parts of an upload are seen by nobody. `finish` makes it an attachment, whole and durable, in one transaction with the
 *   rows of the shelf; bytes that the digest had are replaced, so that a put mends what was damaged.
 * - An upload whose parts are not all there (it was cleared as abandoned) is refused by `finish` as `aborted`.
 * - What a crash left of an upload is cleared by `collect`.
 */
export interface AttachmentStore {
  /** Adds the next part; the first one begins the upload. */
  add(namespace: NamespaceId, part: UploadPart): Promise<void>;
  finish(namespace: NamespaceId, seal: UploadSeal): Promise<void>;
  /** Forgets an upload; one that is not there as well. */
  discard(namespace: NamespaceId, upload: string): Promise<void>;
  /** The bytes of a part as they lie there, unchecked; `undefined` where there are none. */
  part(namespace: NamespaceId, digest: string, index: number): Promise<Uint8Array | undefined>;
  /**
   * Removes what nothing refers to, and uploads that were given up, from every file; answers how many attachments went.
   * Between its reading and its removal no commit comes to refer to them.
   */
  collect(namespace: NamespaceId, grace: Grace, signal?: AbortSignal): Promise<number>;
}
