import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';

/** What went wrong, as far as it decides what happens next. */
export type FaultKind =
  /** The connection is gone: what was sent may have been done. */
  | 'lost'
  /** Nobody answers, or nobody lets us in: nothing was sent. */
  | 'unreachable'
  /** The server took the transaction back, and the same again may pass. */
  | 'again'
  /** A lock or a statement took longer than it may. */
  | 'slow'
  | 'full'
  /** The server itself cannot work. */
  | 'failing'
  | 'corrupt'
  /** The server takes no writes: a standby, or one that was told so. */
  | 'readonly'
  /** The role lacks a right. */
  | 'forbidden'
  /** A statement that we prepared is not there, or was there already: a pooler is in between that keeps none. */
  | 'unprepared'
  /** Our tables are not there, or not as they were left: somebody took something away, or added a constraint or a trigger. */
  | 'foreign'
  | 'other';

export interface DriverFault {
  readonly kind: FaultKind;
  /** The SQLSTATE, or the system's code. */
  readonly code: string;
  readonly message: string;
}

/** By SQLSTATE, or by its class of two letters. docs/backends/postgres.md tells them. */
export const KINDS: { readonly [state: string]: FaultKind } = {
  '08': 'lost',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'unreachable',
  '57P05': 'lost',
  '25P03': 'lost',
  '25P04': 'lost',
  '57014': 'slow',
  '55P03': 'slow',
  '40': 'again',
  // A number drawn for a conversation was taken, or two first migrations met: drawn anew, it passes.
  '23505': 'again',
  // A plan or a table changed beneath us, as while a migration runs.
  '0A000': 'again',
  '53100': 'full',
  '53200': 'full',
  '53300': 'unreachable',
  '53': 'full',
  '25006': 'readonly',
  '26000': 'unprepared',
  '42P05': 'unprepared',
  XX001: 'corrupt',
  XX002: 'corrupt',
  '28': 'unreachable',
  '57P04': 'unreachable',
  // The server could not read or write its files.
  '58': 'failing',
  '58P01': 'corrupt',
  // An object in use or in no state for it, somebody who intervened, a setting, a mistake of the server's own.
  '55': 'failing',
  '57': 'failing',
  F0: 'failing',
  XX: 'failing',
  '3D': 'unreachable',
  '42': 'foreign',
  '3F': 'foreign',
  '23': 'foreign',
  '27': 'foreign',
  '38': 'foreign',
  '39': 'foreign',
  '44': 'foreign',
  P0: 'foreign',
  '42501': 'forbidden',
};

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const LOST = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);
const LOST_TEXT =
  /connection terminated|connection error and is not queryable|client was closed|timeout exceeded when trying to connect|query read timeout|cannot use a pool after/i;

export function driverFault(error: unknown): DriverFault {
  const { code = '', message = String(error) } = (error ?? {}) as {
    readonly code?: unknown;
    readonly message?: string;
  };
  return { kind: kindOf(String(code), message), code: String(code), message };
}

function kindOf(code: string, message: string): FaultKind {
  if (UNREACHABLE.has(code)) return 'unreachable';
  if (LOST.has(code) || LOST_TEXT.test(message)) return 'lost';
  return KINDS[code] ?? KINDS[code.slice(0, 2)] ?? 'other';
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * What a driver's error means to a caller of ours, where nothing was written. Whatever the server said is typed, with its SQLSTATE in
 * the reason and the driver's error as `cause`; what it did not say is a mistake of ours, and comes back as it is.
 */
export function storeError(error: unknown, place: string, waitedMs: number): Error {
  if (isTurnkeepError(error)) return error;
  const { kind, code, message } = driverFault(error);
  const reason = code === '' ? message : `${message} (${code})`;
  const options = { cause: error };
  switch (kind) {
    case 'unprepared': {
      const advice = `${reason}; behind a pooler that keeps no prepared statements, open with prepare: false`;
      return new TurnkeepError('store_unavailable', { place, reason: advice }, options);
    }
    case 'lost':
    case 'unreachable':
    case 'readonly':
    case 'forbidden':
    case 'failing':
      return new TurnkeepError('store_unavailable', { place, reason }, options);
    case 'again':
    case 'slow':
      return new TurnkeepError('store_busy', { waitedMs: Math.round(waitedMs) }, options);
    case 'full':
      return new TurnkeepError('store_full', { place }, options);
    case 'corrupt':
      return new TurnkeepError('corrupt', { place, reason }, options);
    case 'foreign':
      return new TurnkeepError('store_foreign', { place, reason }, options);
    case 'other':
      if (SQLSTATE.test(code)) return new TurnkeepError('store_unavailable', { place, reason }, options);
  }
  return error instanceof Error ? error : new Error(String(error));
}
