import { TurnkeepError } from '../core/errors.ts';
import { readWhole } from './files/files.ts';
import { errorCode } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { LAYOUT, TEMPORARY } from './files/layout.ts';
import { letGo, openToHold } from '../platform/processes.ts';
import type { HeldFile, Owner, Processes } from '../platform/processes.ts';
import { seal, unseal } from './files/sealed.ts';
import { storeError } from './store-error.ts';

/** A writer's lock where it lies, for whoever writes on its strength. */
export class LockFile {
  protected readonly fs: FileSystem;
  protected readonly directory: string;
  readonly name: string;

  constructor(fs: FileSystem, directory: string, name: string) {
    this.fs = fs;
    this.directory = directory;
    this.name = name;
  }

  /** Throws `store_unavailable` where the lock is not in its place any more: somebody else may write what stands there. */
  assertHeld(): void {
    if (this.#isThere()) return;
    const reason = 'the lock of this writer is gone: the directory was moved, or the lock was removed';
    throw new TurnkeepError('store_unavailable', { place: this.directory, reason });
  }

  #isThere(): boolean {
    try {
      return this.fs.has(`${this.directory}/${this.name}`);
    } catch (error) {
      throw storeError(error, this.name);
    }
  }
}

/**
 * The writer's lock: a file of its own in the directory. Who wants to write first makes his and then looks at all others:
 * where one's owner may live he takes his own back. So of two at once at most one gets it; both may be told to wait.
 */
export class Lock extends LockFile {
  /** True where the last writer ended without closing: what it wrote last may be in the system's cache alone. */
  readonly foundUnclean: boolean;
  /** Of the lock's file, which is open as long as the thread lives that took it; absent where it is none of the system's. */
  readonly #descriptor: number | undefined;

  private constructor(
    fs: FileSystem,
    directory: string,
    name: string,
    { foundUnclean, descriptor }: { readonly foundUnclean: boolean; readonly descriptor: number | undefined },
  ) {
    super(fs, directory, name);
    this.foundUnclean = foundUnclean;
    this.#descriptor = descriptor;
  }

  /** Takes the lock or throws `store_locked`, which names the owner. `token` is this opening's own. */
  static take(fs: FileSystem, directory: string, processes: Processes, token: string): Lock {
    const name = `${LAYOUT.lockPrefix}${token}`;
    const path = `${directory}/${name}`;
    const descriptor = place(fs, path, processes.self());
    try {
      const foundUnclean = dismissTheDead(fs, directory, processes, name);
      return new Lock(fs, directory, name, { foundUnclean, descriptor });
    } catch (error) {
      letGo(descriptor);
      fs.remove(path);
      throw error;
    }
  }

  /** The log was brought in order: an unclean end before this one is settled. */
  settle(): void {
    this.fs.remove(`${this.directory}/${LAYOUT.unclean}`);
  }

  release(): void {
    try {
      this.fs.remove(`${this.directory}/${this.name}`);
    } finally {
      letGo(this.#descriptor);
    }
  }

  /** Lets go after a failed sync: the next writer is told not to trust the system's cache. A lock that is gone was found. */
  releaseUnclean(): void {
    try {
      this.fs.rename(`${this.directory}/${this.name}`, `${this.directory}/${LAYOUT.unclean}`);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    } finally {
      letGo(this.#descriptor);
    }
  }
}

/** What a lock's file says. Those of earlier builds do not name a descriptor. */
interface Locked extends Owner {
  readonly descriptor?: number | undefined;
}

const ATTEMPTS = 8;

/**
 * Puts a lock in its place as one, and answers the descriptor that holds it. Who takes his own at the same time may take an
 * unfinished one for a dead writer's.
 */
function place(fs: FileSystem, path: string, owner: Owner): number | undefined {
  for (let attempt = 1; ; attempt++) {
    const descriptor = write(fs, path + TEMPORARY, owner);
    try {
      fs.rename(path + TEMPORARY, path);
      return descriptor;
    } catch (error) {
      letGo(descriptor);
      if (errorCode(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Writes a lock's file, and answers the descriptor that holds it. */
function write(fs: FileSystem, path: string, owner: Owner): number | undefined {
  const file = fs.open(path, 'replace');
  const descriptor = openToHold(path);
  try {
    file.write(Buffer.from(seal({ ...owner, descriptor } satisfies Locked)), 0);
    return descriptor;
  } catch (error) {
    letGo(descriptor);
    throw error;
  } finally {
    file.close();
  }
}

/** Who may live and have the lock of that name; `undefined` where nobody does. */
export function livingOwner(processes: Processes, name: string, bytes: Buffer | undefined): Owner | undefined {
  const owner = bytes && (unseal(bytes) as Locked | undefined);
  // A lock is renamed into place when it is written: one that cannot be read was lost in a power cut, with its owner.
  if (!owner) return undefined;
  const { descriptor } = owner;
  const held: HeldFile | undefined = descriptor === undefined ? undefined : { name, descriptor };
  return processes.mayLive(owner, held) ? owner : undefined;
}

/** Removes the locks of the dead and answers whether there was one; throws where the owner of another may live. */
function dismissTheDead(fs: FileSystem, directory: string, processes: Processes, own: string): boolean {
  const names = fs.list(directory) ?? [];
  const others = names.filter((name) => name.startsWith(LAYOUT.lockPrefix) && name !== own);
  for (const name of others) {
    const bytes = name.endsWith(TEMPORARY) ? undefined : readWhole(fs, `${directory}/${name}`);
    const owner = livingOwner(processes, name, bytes);
    if (owner) {
      const who = `process ${owner.pid} on ${owner.host}`;
      throw new TurnkeepError('store_locked', { place: `${directory}/${name}`, owner: who });
    }
  }
  for (const name of others) if (!name.endsWith(TEMPORARY)) fs.remove(`${directory}/${name}`);
  return others.some((name) => !name.endsWith(TEMPORARY)) || names.includes(LAYOUT.unclean);
}
