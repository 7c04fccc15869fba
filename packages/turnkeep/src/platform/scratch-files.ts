import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scratch, ScratchPlace } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import { sha256 } from './hash.ts';

/** What a file holds: its place too, since its name is a digest. */
interface Stored extends ScratchPlace {
  readonly value: string;
}

/** The name of a value's file: a digest. */
const OWN = /^[\w-]{43}$/;

let written = 0;

/**
 * Scratch values as files of their own below a directory, which comes with the first one: replaced by renaming, never
 * synced, shared by every process. A value that is half written by a crash of the machine counts as none.
 */
export class ScratchFiles implements Scratch {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async put(place: ScratchPlace, value: string): Promise<void> {
    const path = this.#pathOf(place);
    const temporary = `${path}.${process.pid}.${(written += 1)}.tmp`;
    const stored: Stored = { ...place, value };
    await this.#guarded(async () => {
      await mkdir(this.#folderOf(place.namespace), { recursive: true, mode: 0o700 });
      await writeFile(temporary, JSON.stringify(stored), { mode: 0o600 });
      await rename(temporary, path);
    });
  }

  async get(place: ScratchPlace): Promise<string | undefined> {
    return (await this.#read(this.#pathOf(place)))?.value;
  }

  async remove(place: ScratchPlace): Promise<void> {
    await this.#guarded(() => rm(this.#pathOf(place), { force: true }));
  }

  async list(namespace: NamespaceId): Promise<readonly ScratchPlace[]> {
    const folder = this.#folderOf(namespace);
    const names = await this.#guarded(() => readdir(folder).catch(noneWhereMissing));
    const found: ScratchPlace[] = [];
    for (const name of names.filter((one) => OWN.test(one)).sort()) {
      const stored = await this.#read(join(folder, name));
      if (stored) found.push({ namespace, conversationId: stored.conversationId, key: stored.key });
    }
    return found;
  }

  async #read(path: string): Promise<Stored | undefined> {
    const text = await this.#guarded(() => readFile(path, 'utf8').catch(noneWhereMissing));
    if (typeof text !== 'string') return undefined;
    try {
      return JSON.parse(text) as Stored;
    } catch {
      return undefined;
    }
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TurnkeepError('store_unavailable', { place: this.#directory, reason }, { cause: error });
    }
  }

  #folderOf(namespace: NamespaceId): string {
    return join(this.#directory, sha256(namespace));
  }

  #pathOf({ namespace, conversationId, key }: ScratchPlace): string {
    return join(this.#folderOf(namespace), sha256(JSON.stringify([conversationId, key])));
  }
}

function noneWhereMissing(error: unknown): readonly string[] {
  if ((error as { readonly code?: unknown }).code === 'ENOENT') return [];
  throw error;
}
