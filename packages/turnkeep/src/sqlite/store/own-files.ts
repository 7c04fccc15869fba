import { statSync } from 'node:fs';
import { TurnkeepError } from '../../core/errors.ts';

/** Which files those of a store are, by what stands behind its path. Plain data: it crosses to threads. */
export type FileIdentities = readonly (readonly [suffix: string, identity: string | undefined])[];

/** Of a store that a connection has just opened; one with a WAL has made its files. */
export function identitiesOf(path: string, isWal: boolean): FileIdentities {
  return ['', ...(isWal ? ['-wal', '-shm'] : [])].map((suffix) => [suffix, identityOf(path + suffix)]);
}

/**
 * The files of an open store, the WAL and its index included, as they were when it was opened. A process whose files were
 * removed or replaced must not write: nobody would find it again, or it would overwrite what others write, for it and they
 * do not see each other's locks.
 */
export class OwnFiles {
  readonly #path: string;
  readonly #files: FileIdentities;

  constructor(path: string, files: FileIdentities) {
    this.#path = path;
    this.#files = files;
  }

  /** What has become of one that is not in its place any more. */
  problem(): string | undefined {
    const moved = this.#files.find(([suffix, identity]) => identityOf(this.#path + suffix) !== identity);
    if (!moved) return undefined;
    const [suffix] = moved;
    const became = identityOf(this.#path + suffix) === undefined ? 'removed' : 'replaced by another';
    return `its file${suffix} was ${became}`;
  }

  assertInPlace(): void {
    const reason = this.problem();
    if (reason !== undefined) throw new TurnkeepError('store_unavailable', { place: this.#path, reason });
  }
}

/** Which file stands at a path. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
