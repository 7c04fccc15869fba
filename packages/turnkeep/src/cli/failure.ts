import { ERRORS, isTurnkeepError, TurnkeepError } from '../core/errors.ts';
import type { ErrorCode, Retry } from '../core/errors.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { clip, safeLine } from './terminal-text.ts';

/** A failed command, as it is reported. */
export interface Failure {
  /** One line: what, where, what to do, and the code. Safe to print. */
  readonly line: string;
  /** The same for a program. */
  readonly json: { readonly error: { readonly code: string; readonly details: object; readonly retry: Retry } };
  readonly exitCode: ExitCode;
}

const LINE_COLUMNS = 2_000;

const HINTS: Partial<Record<ErrorCode, string>> = {
  conversation_not_found: 'turnkeep ls shows the conversations; --namespace and --store say where it looks.',
  no_interrupt: 'turnkeep interrupts shows what turns wait on.',
  no_turn: 'turnkeep tree CONVERSATION shows its turns.',
  bad_cursor: 'Start again without --after.',
  corrupt: 'turnkeep verify lists everything that is damaged.',
  store_foreign: 'Name another file with --store; this one was left as it is.',
  store_newer: 'Use the newer version of Turnkeep; the store was left as it is.',
  store_full: 'Make room and run the command again.',
  store_unavailable: 'Check the path and its permissions.',
  group_too_large: 'Ask for more with --limit.',
};

const RETRY_HINTS: Record<Retry, string | undefined> = {
  never: undefined,
  same_request: 'Run the command again.',
  after_reread: 'Look at the conversation again, then decide anew.',
  after_delay: 'Wait a little and run the command again.',
  ask_outcome: 'Run the same command again to learn it.',
};

/** A file, or standard output, that could not be opened, read or written: not a mistake of the program. */
export class FileFailure extends Error {
  readonly path: string;
  readonly code: string;

  constructor(path: string, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'UNKNOWN';
    super(FILE_REASONS[code] ?? `it cannot be used (${code})`, { cause });
    this.path = path;
    this.code = code;
  }
}

const FILE_REASONS: { readonly [code: string]: string } = {
  EACCES: 'permission is denied',
  EEXIST: 'there is such a file already',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'no space is left',
};

/** Whatever was thrown, as a failure: ours by its code, a file's by its path, anything else as a mistake of the program. */
export function failureOf(error: unknown): Failure {
  if (error instanceof FileFailure) return fileFailure(error);
  return isTurnkeepError(error) ? ourFailure(error) : internalFailure(error);
}

function fileFailure({ path, code, message: reason }: FileFailure): Failure {
  // Nothing of the system is wrong: a path is.
  const exitCode = code === 'ENOENT' || code === 'EEXIST' ? EXIT.usage : EXIT.failure;
  const json = { error: { code: 'file_unavailable', details: { path, reason }, retry: 'never' } } as const;
  return { line: oneLine(`${path}: ${reason} [file_unavailable]`), json, exitCode };
}

function ourFailure(error: TurnkeepError): Failure {
  const { code, details, retry } = error;
  const hint = HINTS[code] ?? RETRY_HINTS[retry];
  const what = code === 'invalid_value' ? wrongValue(details as { path: string; reason: string }) : detailed(error);
  const line = oneLine(`${what} [${code}]${hint === undefined ? '' : ` ${hint}`}`);
  return { line, json: { error: { code, details, retry } }, exitCode: exitCodeOf(code) };
}

function wrongValue({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${path}: ${reason}`;
}

function detailed({ code, details }: TurnkeepError): string {
  const fields = Object.entries(details).filter(([, value]) => value !== undefined);
  const said = fields.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${ERRORS[code].says}${said.length === 0 ? '' : ` (${said.join(', ')})`}.`;
}

function internalFailure(error: unknown): Failure {
  // A message may go on with a stack; its first line says what happened.
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const line = oneLine(`A mistake in Turnkeep: ${reason} [internal] Please report it; TURNKEEP_DEBUG=1 shows where.`);
  return { line, json: { error: { code: 'internal', details: { reason }, retry: 'never' } }, exitCode: EXIT.failure };
}

function oneLine(text: string): string {
  return `turnkeep: ${clip(safeLine(text), LINE_COLUMNS)}`;
}

/** A wrong word on the command line. */
export function usageError(path: string, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path, reason });
}
