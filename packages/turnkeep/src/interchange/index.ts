/**
 * Conversations of other tools, imported. One folder a format; what formats share stands beside them.
 */
export { importClaudeCode, planClaudeCode } from './claude-code/import.ts';
export type { ImportOptions, PlanOptions } from './claude-code/given.ts';
export type { ClaudeCodeSource, PlannedCommit } from './claude-code/import.ts';
export { rowsOfMessages } from './claude-code/message.ts';
export { findSessions } from './claude-code/sessions.ts';
export type { FoundSessions, SessionPath } from './claude-code/sessions.ts';
export type { DamageKind } from './jsonl.ts';
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
