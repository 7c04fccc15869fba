/**
 * Conversations of other tools, imported. One folder a format; what formats share stands beside them.
 */
export { bufferedSource, bytesSource } from './byte-source.ts';
export { importClaudeCode, planClaudeCode } from './claude-code/import.ts';
export type { ImportOptions, PlanOptions } from './claude-code/given.ts';
export type { ClaudeCodeSource, PlannedCommit } from './claude-code/import.ts';
export { rowsOfMessages } from './claude-code/message.ts';
export { findSessions } from './claude-code/sessions.ts';
export type { FoundSessions, SessionPath } from './claude-code/sessions.ts';
export { parseExact } from '../core/exact.ts';
export type { ExactJson, InexactNumber, JsonPath } from '../core/exact.ts';
export { importedId } from './ids.ts';
export { JsonlReader } from './jsonl.ts';
export type { Damage, DamageKind, JsonlCounts, JsonlDamage, JsonlEntry, JsonlOptions, JsonlRecord } from './jsonl.ts';
export type {
  ConversationReport,
  DamageEntry,
  FileReport,
  ImportProgress,
  ImportReport,
  LeftFile,
  Note,
  NoteKind,
  OpenCall,
  Refusal,
} from './report.ts';
export type { ImportTarget, Outcome, StoredMessage } from './target.ts';
