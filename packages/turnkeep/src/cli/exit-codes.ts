import { ERRORS } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';

/** What a command's exit code says; `docs/cli.md` is its page. */
export const EXIT = {
  ok: 0,
  /** The store or a file could not be opened, read or written. */
  failure: 1,
  /** The command line or a value in it is wrong. */
  usage: 2,
  /** What was named is not there. */
  notFound: 3,
  /** Damage was found; everything that is whole was handled all the same. */
  damage: 4,
  /** The store refused: the conversation is not as the command needs it. */
  conflict: 5,
  /** Somebody else is at work; the same command may succeed later. */
  busy: 6,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const EXIT_OF: Partial<Record<ErrorCode, ExitCode>> = {
  invalid_value: EXIT.usage,
  limit_exceeded: EXIT.usage,
  bad_cursor: EXIT.usage,
  conversation_not_found: EXIT.notFound,
  erased: EXIT.notFound,
  no_turn: EXIT.notFound,
  no_message: EXIT.notFound,
  no_operation: EXIT.notFound,
  no_checkpoint: EXIT.notFound,
  no_task: EXIT.notFound,
  no_commitment: EXIT.notFound,
  no_interrupt: EXIT.notFound,
  no_memory: EXIT.notFound,
  attachment_missing: EXIT.notFound,
  corrupt: EXIT.damage,
  unsupported: EXIT.failure,
  store_foreign: EXIT.failure,
  store_newer: EXIT.failure,
  store_full: EXIT.failure,
  store_unavailable: EXIT.failure,
  outcome_unknown: EXIT.failure,
  closed: EXIT.failure,
  aborted: EXIT.interrupted,
};

/** The exit code of an error: by its code, else by when it may be tried again. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return EXIT_OF[code] ?? (ERRORS[code].retry === 'after_delay' ? EXIT.busy : EXIT.conflict);
}
