/**
 * Turnkeep: where AI agents keep what was said, what they promised and how far they got. The seam that backends stand behind
 * is `turnkeep/core`.
 */
export type { Traits } from './core/backend.ts';
export type * from './core/change.ts';
export { RUN_STATUSES, TASK_STATUSES, TURN_STATES } from './core/change.ts';
export type { Surroundings } from './core/commit.ts';
export { ERRORS, TurnkeepError, errorFromData, isTurnkeepError } from './core/errors.ts';
export type { ErrorCode, ErrorData, ErrorDetails, Retry } from './core/errors.ts';
export type { Finding } from './core/finding.ts';
export type * from './core/ids.ts';
export { asJson } from './core/json.ts';
export type { Json, JsonLike, JsonObject } from './core/json.ts';
export { LIMITS } from './core/limits.ts';
export type { LimitName } from './core/limits.ts';
export type { Tier } from './core/log.ts';
export type * from './core/message.ts';
export type { ChangeEvent } from './core/event.ts';
export type { Receipt } from './core/receipt.ts';
export { TASK_TRANSITIONS } from './core/rules/task.ts';
export type { Interrupt, Run, Step } from './core/read/agent.ts';
export type { Checkpoint, PendingWrite } from './core/read/checkpoint.ts';
export type { GraphTurn } from './core/read/graph.ts';
export type { Input } from './core/read/inputs.ts';
export type { ConversationInfo } from './core/read/listing.ts';
export type { Memory } from './core/read/memories.ts';
export type { DamagedMessages, Message, MessageLookup } from './core/read/message.ts';
export type { SearchHit } from './core/read/search.ts';
export type { Commitment, Summary, WorkingState } from './core/read/state.ts';
export type { Task } from './core/read/tasks.ts';
export type { Binding, Operation, Sibling } from './core/read/turns.ts';
export type { Cost, DayUsage, ModelUsage, Usage, UsageTotal } from './core/read/usage.ts';
export type { Fault } from './core/fault.ts';
export type { CommitmentStatus, InterruptStatus, StepStatus } from './core/rows.ts';
export * from './ledger/index.ts';
