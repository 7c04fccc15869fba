import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
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
  const real = realPath(path);
  return ['', ...(isWal ? ['-wal', '-shm'] : [])].map((suffix) => [
    suffix,
    identityOf(suffix === '' ? path : real + suffix),
  ]);
}

/** The path of a file itself, whatever links lead to it: SQLite keeps a store's other files beside that, and so do we. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** What tells whether a folder has changed, in milliseconds since the epoch. */
interface FolderTimes {
  now(): number;
  changedAt(folder: Stats): number;
}

/** The time of the last change is the system's own: whoever puts a backup back sets the other one to what it was. */
export const FOLDER_TIMES: FolderTimes = { now: systemNow, changedAt: ({ ctimeMs }) => ctimeMs };

/**
 * The files of an open store, the WAL and its index included, as they were when it was opened. A process whose files were
 * removed or replaced must not write: nobody would find it again, or it would overwrite what others write, for it and they
 * do not see each other's locks.
 */
export class OwnFiles {
  readonly #path: string;
  readonly #realPath: string;
  readonly #times: FolderTimes;
  readonly #directory: string;
  readonly #isLink: boolean;
  readonly #files: FileIdentities;
  /** The folder as it was when the files were last looked at, long after its last change: it is as good as they are. */
  #settled: Stats | undefined;

  constructor(path: string, files: FileIdentities, times: FolderTimes = FOLDER_TIMES) {
    this.#path = path;
    this.#realPath = realPath(path);
    this.#times = times;
    this.#directory = dirname(path);
    this.#isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    this.#files = files;
  }

  /** What has become of one that is not in its place any more. */
  problem(): string | undefined {
    const folder = this.#isLink ? undefined : statSync(this.#directory, { throwIfNoEntry: false });
    if (folder && this.#isSame(folder, this.#settled)) return undefined;
    const problem = this.#look();
    const isSettled = problem === undefined && folder && this.#times.changedAt(folder) < this.#times.now() - SETTLED_MS;
    this.#settled = isSettled ? folder : undefined;
    return problem;
  }

  /** True for the same folder, in which no file was made, removed or replaced. */
  #isSame(folder: Stats, before: Stats | undefined): boolean {
    if (folder.ino !== before?.ino || folder.dev !== before.dev) return false;
    return this.#times.changedAt(folder) === this.#times.changedAt(before);
  }

  #look(): string | undefined {
    const moved = this.#files.find(([suffix, identity]) => identityOf(this.#pathOf(suffix)) !== identity);
    if (!moved) return undefined;
    const [suffix] = moved;
    const became = identityOf(this.#pathOf(suffix)) === undefined ? 'removed' : 'replaced by another';
    return `its file${suffix} was ${became}`;
  }

  /** A link that leads to another file is as good as a file that was replaced; the other files stand beside the file itself. */
  #pathOf(suffix: string): string {
    return suffix === '' ? this.#path : this.#realPath + suffix;
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
