import { errorName } from './driver-error-names.ts';

/**
 * What went wrong, in the words that a caller decides by:
 * - `busy`: another connection holds a lock; the same again may succeed;
 * - `full`: no space left;
 * - `readonly`: the file or its folder cannot be written;
 * - `corrupt`: the file is SQLite's, and damaged;
 * - `not_a_database`: the file is something else;
 * - `io`: the operating system failed to read, write, lock or sync, or cannot do what was asked;
 * - `cant_open`: no such file or folder, or no right to open it;
 * - `constraint`: a row breaks a rule of its table;
 * - `other`: a mistake in the statement or in a value.
 */
export type DriverFaultKind =
  | 'busy'
  | 'full'
  | 'readonly'
  | 'corrupt'
  | 'not_a_database'
  | 'io'
  | 'cant_open'
  | 'constraint'
  | 'other';

export interface DriverFault {
  readonly kind: DriverFaultKind;
  /** SQLite's extended name (`SQLITE_BUSY_SNAPSHOT`), the runtime's own (`ERR_OUT_OF_RANGE`), or `UNKNOWN`. */
  readonly code: string;
  readonly message: string;
}

/** By primary code: what follows the second underscore of a name only refines it, unless a longer name stands here. */
const KINDS: Readonly<Record<string, DriverFaultKind>> = {
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED_SHAREDCACHE: 'busy',
  SQLITE_FULL: 'full',
  SQLITE_IOERR_SHMSIZE: 'full', // the index of a WAL could not be made longer
  SQLITE_READONLY: 'readonly',
  SQLITE_CORRUPT: 'corrupt',
  SQLITE_FORMAT: 'corrupt',
  SQLITE_IOERR_CORRUPTFS: 'corrupt',
  SQLITE_IOERR_DATA: 'corrupt',
  SQLITE_NOTADB: 'not_a_database',
  SQLITE_IOERR: 'io',
  SQLITE_PROTOCOL: 'io', // WAL's locks on a network file system
  SQLITE_NOLFS: 'io',
  SQLITE_CANTOPEN: 'cant_open',
  SQLITE_PERM: 'cant_open',
  SQLITE_CONSTRAINT: 'constraint',
  SQLITE_MISMATCH: 'constraint',
  ERR_NOT_DURABLE: 'io',
  ERR_INDEX_CORRUPT: 'corrupt',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'readonly',
  EIO: 'io',
  EACCES: 'cant_open',
  EPERM: 'cant_open',
  EISDIR: 'cant_open',
  ENOENT: 'cant_open',
  ENOTDIR: 'cant_open',
  EEXIST: 'cant_open', // a file where a folder should be
  ELOOP: 'cant_open',
  ENAMETOOLONG: 'cant_open',
  EMFILE: 'cant_open',
  ENFILE: 'cant_open',
};

/** Says what an error means that a `Database` or `openDatabase` threw, the same for every driver. Never throws. */
export function driverFault(error: unknown): DriverFault {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  return { kind: KINDS[code] ?? KINDS[primaryOf(code)] ?? 'other', code, message };
}

/** What a file system answers that has no shared memory or no locks for WAL. */
export function isWithoutWal(error: unknown): boolean {
  const { code, kind } = driverFault(error);
  if (kind === 'full') return false;
  return (
    code === 'ERR_NOT_DURABLE' ||
    code.startsWith('SQLITE_IOERR_SHM') ||
    code === 'SQLITE_PROTOCOL' ||
    code === 'SQLITE_CANTOPEN'
  );
}

/** True where somebody died in a commit without a WAL: a connection that may write takes back what that had begun. */
export function needsRollback(error: unknown): boolean {
  return driverFault(error).code === 'SQLITE_READONLY_ROLLBACK';
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }; // both optional
  if (typeof errcode === 'number') return errorName(errcode);
  // better-sqlite3 names what its build knows, and numbers the rest.
  const number = typeof code === 'string' ? /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code)?.[1] : undefined;
  if (number !== undefined) return errorName(Number(number));
  if (typeof code === 'string') return code;
  return isMissingFolder(error) ? 'SQLITE_CANTOPEN' : 'UNKNOWN';
}

/** better-sqlite3 looks for the folder itself, and answers without a code. */
function isMissingFolder(error: Error): boolean {
  return error.message.startsWith('Cannot open database because the directory does not exist');
}

function primaryOf(code: string): string {
  return code.split('_').slice(0, 2).join('_');
}
