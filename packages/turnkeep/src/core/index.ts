/**
 * The core: records, changes, rules, and the seam that backends stand behind. It knows no file, no clock, no database and
 * no hash function.
 */
export { sealUpload, sliceOfShelf, sweepShelf } from './attachments/keep.ts';
export type { Sweep } from './attachments/keep.ts';
export * from './attachments/store.ts';
export * from './backend.ts';
export * from './change.ts';
export { collectErased } from './collect.ts';
export { coolable, HOT_MESSAGES } from './cool.ts';
export { prepareCommit } from './commit.ts';
export type { Surroundings } from './commit.ts';
export { decide } from './decide.ts';
export type { Decision } from './decide.ts';
export type { Sha256 } from './digest.ts';
export { ERRORS, TurnkeepError, errorFromData, isTurnkeepError } from './errors.ts';
export type { ErrorCode, ErrorData, ErrorDetails, Retry } from './errors.ts';
export type { Finding } from './finding.ts';
export type { Head, RecordRef } from './head.ts';
export * from './ids.ts';
export { parseJson } from './parse-json.ts';
export type { Json, JsonLike, JsonObject } from './json.ts';
export { LIMITS } from './limits.ts';
export type { LimitName } from './limits.ts';
export type { LogHeader, LogRecord, Redaction, StoredRecord, Tier } from './log.ts';
export * from './message.ts';
export type { ChangeEvent } from './event.ts';
export type { Receipt } from './receipt.ts';
export { TASK_TRANSITIONS } from './rules/task.ts';
