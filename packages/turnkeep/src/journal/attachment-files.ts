import { PART_BYTES } from '../core/attachments/store.ts';
import type { Sha256 } from '../core/digest.ts';
import type { NamespaceId } from '../core/ids.ts';
import { nonce } from '../platform/random.ts';
import { openIfThere } from './files/files.ts';
import type { FileSystem, JournalFile } from './files/file-system.ts';
import { LAYOUT } from './files/layout.ts';

/** Bytes on their way in: a file that no row names. */
export interface Incoming {
  readonly path: string;
  readonly file: JournalFile;
  parts: number;
  touchedAt: number;
  /** True once its last byte is there. */
  isWhole: boolean;
}

/**
 * The files of attachments: `attachments/NAMESPACE/AB/DIGEST`, where NAMESPACE is the digest of the namespace's name (names
 * of files are not told apart by case everywhere) and AB begins the digest; uploads stand in `attachments/incoming`.
 */
export class AttachmentFiles {
  readonly #fs: FileSystem;
  readonly #root: string;
  readonly #folder: string;
  readonly #sha256: Sha256;
  /** Directories whose names are known to be on the disk. */
  readonly #settled = new Set<string>();

  constructor(fs: FileSystem, root: string, sha256: Sha256) {
    this.#fs = fs;
    this.#root = root;
    this.#folder = `${root}/${LAYOUT.attachments}`;
    this.#sha256 = sha256;
  }

  /** Begins a file for an upload. */
  begin(now: number): Incoming {
    const incoming = this.#incoming;
    if (!this.#fs.list(incoming)) this.#fs.makeDirectory(incoming);
    const path = `${incoming}/${nonce()}`;
    return { path, file: this.#fs.open(path, 'replace'), parts: 0, touchedAt: now, isWhole: false };
  }

  /** Gives a whole file, whose bytes are on the disk, the name of its digest; the name is on the disk as well then. */
  async settle(namespace: NamespaceId, digest: string, { path }: Incoming): Promise<void> {
    const folder = this.#folderOf(namespace);
    const place = `${folder}/${digest.slice(0, 2)}`;
    await this.#ensure(this.#root, this.#folder);
    await this.#ensure(this.#folder, folder);
    await this.#ensure(folder, place);
    this.#fs.rename(path, `${place}/${digest}`);
    await this.#fs.syncDirectory(place);
  }

  part(namespace: NamespaceId, digest: string, index: number): Uint8Array | undefined {
    const file = openIfThere(this.#fs, this.#pathOf(namespace, digest));
    if (!file) return undefined;
    try {
      const bytes = Buffer.alloc(PART_BYTES);
      const filled = file.read(bytes, index * PART_BYTES);
      return filled === 0 ? undefined : bytes.subarray(0, filled);
    } finally {
      file.close();
    }
  }

  async remove(namespace: NamespaceId, digests: readonly string[]): Promise<void> {
    const folder = this.#folderOf(namespace);
    for (const digest of digests) this.#fs.remove(this.#pathOf(namespace, digest));
    for (const place of new Set(digests.map((digest) => `${folder}/${digest.slice(0, 2)}`)))
      if (this.#fs.list(place)) await this.#fs.syncDirectory(place);
  }

  /** The digests of a namespace's files. */
  *digests(namespace: NamespaceId): Generator<string> {
    const folder = this.#folderOf(namespace);
    for (const start of this.#fs.list(folder) ?? []) yield* this.#fs.list(`${folder}/${start}`) ?? [];
  }

  /** Removes uploads, but for those at the paths of `active`. */
  async clearIncoming(active: ReadonlySet<string>): Promise<void> {
    const paths = (this.#fs.list(this.#incoming) ?? []).map((name) => `${this.#incoming}/${name}`);
    const left = paths.filter((path) => !active.has(path) && this.#fs.list(path) === undefined);
    for (const path of left) this.#fs.remove(path);
    if (left.length > 0) await this.#fs.syncDirectory(this.#incoming);
  }

  /** Lets go of an upload. What cannot be removed now, a collection removes. */
  discard({ path, file }: Incoming): void {
    try {
      file.close();
      this.#fs.remove(path);
    } catch {
      // No row names it.
    }
  }

  get #incoming(): string {
    return `${this.#folder}/incoming`;
  }

  #folderOf(namespace: NamespaceId): string {
    return `${this.#folder}/${Buffer.from(this.#sha256(namespace), 'base64url').toString('hex')}`;
  }

  #pathOf(namespace: NamespaceId, digest: string): string {
    return `${this.#folderOf(namespace)}/${digest.slice(0, 2)}/${digest}`;
  }

  /** A directory whose own name survives a power cut. */
  async #ensure(parent: string, path: string): Promise<void> {
    if (this.#settled.has(path)) return;
    if (!this.#fs.list(path)) this.#fs.makeDirectory(path);
    await this.#fs.syncDirectory(parent);
    this.#settled.add(path);
  }
}
