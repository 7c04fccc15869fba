import { lstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { TurnkeepError } from '../../core/errors.ts';
import { systemNow } from '../../platform/clock.ts';

/** File systems note when a folder changed, some to two seconds: one that changed no later than this shows another change. */
const SETTLED_MS = 2_500;

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
  readonly #directory: string;
  readonly #isLink: boolean;
  readonly #files: FileIdentities;
  /** The folder as it was when the files were last looked at, long after its last change: it is as good as they are. */
  #settled: Stats | undefined;

  constructor(path: string, files: FileIdentities) {
    this.#path = path;
    this.#directory = dirname(path);
    this.#isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    this.#files = files;
  }

  /** What has become of one that is not in its place any more. */
  problem(): string | undefined {
    const folder = this.#isLink ? undefined : statSync(this.#directory, { throwIfNoEntry: false });
    if (folder && isSame(folder, this.#settled)) return undefined;
    const problem = this.#look();
    const isSettled = problem === undefined && folder && folder.mtimeMs < systemNow() - SETTLED_MS;
    this.#settled = isSettled ? folder : undefined;
    return problem;
  }

  #look(): string | undefined {
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

/** True for the same folder, in which no file was made, removed or replaced. */
function isSame(folder: Stats, before: Stats | undefined): boolean {
  return folder.mtimeMs === before?.mtimeMs && folder.ino === before.ino && folder.dev === before.dev;
}

/** Which file stands at a path. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
