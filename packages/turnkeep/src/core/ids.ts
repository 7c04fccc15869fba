import { TurnkeepError } from './errors.ts';
import { LIMITS } from './limits.ts';

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]?: Name };

/** Isolation boundary (a tenant): 1 to 128 of `A-Za-z0-9._@|:+-`, not `.` or `..`. */
export type NamespaceId = Brand<'namespace'>;
export type ConversationId = Brand<'conversation'>;
export type CommitId = Brand<'commit'>;
export type TurnId = Brand<'turn'>;
export type MessageId = Brand<'message'>;
export type PromptId = Brand<'prompt'>;
export type OperationId = Brand<'operation'>;
export type CheckpointId = Brand<'checkpoint'>;
export type TaskId = Brand<'task'>;
export type CommitmentId = Brand<'commitment'>;
export type SummaryId = Brand<'summary'>;
export type AttemptId = Brand<'attempt'>;
export type RunId = Brand<'run'>;
export type InterruptId = Brand<'interrupt'>;
export type UsageId = Brand<'usage'>;
export type MemoryId = Brand<'memory'>;
/** The operation that starts a turn with an input has the input's id. */
export type InputId = OperationId;

const NAMESPACE = /^[A-Za-z0-9._@|:+-]{1,128}$/;
// C0, DEL and C1: never part of an id, so that `\u0001` can separate ids inside row keys.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Throws `invalid_value` unless `value` is a namespace id. `path` names the place in the caller's input. */
export function assertNamespaceId(value: unknown, path: string): asserts value is NamespaceId {
  const fits = typeof value === 'string' && NAMESPACE.test(value) && value !== '.' && value !== '..';
  if (!fits) throw invalidId(path, 'a namespace is 1 to 128 of A-Za-z0-9._@|:+- and neither . nor ..');
}

/** Throws `invalid_value` unless `value` is opaque text of 1 to 512 bytes of UTF-8 without control characters. */
export function assertId(value: unknown, path: string): asserts value is string {
  const problem = idProblem(value);
  if (problem) throw invalidId(path, problem);
}

/** What is wrong with an id, or `undefined` when it is fit to use. */
export function idProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'an id is a string';
  if (value.length === 0) return 'an id is at least 1 byte long';
  if (CONTROL.test(value)) return 'an id has no control characters';
  if (!value.isWellFormed()) return 'an id has no lone surrogates';
  if (utf8Length(value) > LIMITS.idBytes) return `an id is at most ${LIMITS.idBytes} bytes of UTF-8`;
  return undefined;
}

/** Bytes of `text` in UTF-8, a lone surrogate counted as three. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += 1;
    if (unit < 0x800 || isLowOfPair(text, at, unit)) continue;
    bytes += isHighOfPair(text, at, unit) ? 0 : 1;
  }
  return bytes;
}

// A pair takes four bytes for two units: one extra is counted at each half.
function isHighOfPair(text: string, at: number, unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(at + 1));
}

function isLowOfPair(text: string, at: number, unit: number): boolean {
  const before = at > 0 ? text.charCodeAt(at - 1) : 0;
  return isLow(unit) && before >= 0xd800 && before < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function invalidId(path: string, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path, reason });
}
