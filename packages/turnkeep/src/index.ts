/** Turnkeep: where AI agents keep what was said, what they promised and how far they got. */
export * from './core/index.ts';
export type { Checkpoint, PendingWrite } from './core/read/checkpoint.ts';
export type { GraphTurn } from './core/read/graph.ts';
export type { ConversationInfo } from './core/read/listing.ts';
export type { DamagedMessages, Message, MessageLookup } from './core/read/message.ts';
export type { SearchHit } from './core/read/search.ts';
export type { Commitment, Summary, WorkingState } from './core/read/state.ts';
export type { Task } from './core/read/tasks.ts';
export type { Binding, Operation, Sibling } from './core/read/turns.ts';
export type { Fault } from './core/verify.ts';
export type { CommitmentStatus, SiblingReason } from './core/rows.ts';
export * from './ledger/index.ts';
