export type { LedgerSettings, WriteOptions } from './access.ts';
export { TurnWaits } from './agent/turn-work.ts';
export type { NewInterrupt } from './agent/same-work.ts';
export type { AtBoundary, Boundary } from './agent/turn-work.ts';
export type { AgentTurn } from './agent/agent-turn.ts';
export type {
  CallUsage,
  Cancellation,
  Completion,
  ModelCall,
  ModelOptions,
  StepOptions,
  ToolOptions,
} from './agent/turn-options.ts';
export type { Reconciled } from './agent/reconciled.ts';
export type { DraftEvent, FollowOptions } from './agent/follow.ts';
export { modelAgent } from './agent/model-agent.ts';
export type { Model, ModelAgentOptions, ModelRequest, Tool } from './agent/model-agent.ts';
export type { RecoverOptions, RecoveredTurn } from './agent/recover.ts';
export type { TurnOutcome } from './agent/outcome.ts';
export type { AgentTurnStart, ResumeOptions, RunOptions } from './agent/run.ts';
export type { Agent } from './agent/turn-run.ts';
export type { AttachmentContent, ByteRange, GetOptions } from './attachments/content.ts';
export type { AttachmentSource } from './attachments/parts.ts';
export type { AttachmentInfo, PutOptions } from './attachments/upload.ts';
export type { Attachments } from './attachments/attachments.ts';
export type { Checkpoints } from './checkpoints.ts';
export type { CollectOptions } from './upkeep/collect.ts';
export type { Commitments } from './commitments.ts';
export type { Conversation } from './conversation.ts';
export type { DamageOptions, GraphOptions, LabelledTurn, MessagePage, MessageWindow, PastHead } from './readings.ts';
export type * from './context/index.ts';
export { examineStore } from './upkeep/doctor.ts';
export type { Examination } from './upkeep/examine-backend.ts';
export type { Edit, Regeneration, StartingTurn } from './edits.ts';
export type { EraseSubjectOptions, SubjectErasure } from './upkeep/erase-subject.ts';
export type { Answered, AnswerOptions, OpenInterrupt } from './interrupts.ts';
export type { DeliveredInput, Inputs, QueuedInput, SubmittedTurn } from './inputs.ts';
export type { Ledger } from './ledger.ts';
export type { MaintenanceOptions, MaintenanceProgress, MaintenanceReport, MaintenanceStep } from './upkeep/maintain.ts';
export type {
  ConversationMemories,
  Embed,
  FoundMemory,
  MemoryFilter,
  MemorySearch,
  MemoryWords,
  NamespaceMemories,
  WrittenMemory,
} from './memories.ts';
export type { ConversationPage, ListOptions, Namespace } from './namespace.ts';
export { openBackend, openLedger } from './open.ts';
export type { OpenOptions } from './open.ts';
export { isConfirmation } from './operator/confirmations.ts';
export type {
  CompleteOptions,
  FailOptions,
  Operator,
  OperatorSettings,
  SendOptions,
  SentTask,
} from './operator/operator.ts';
export type { OperatorView, ViewLine } from './operator/view.ts';
export type { PathOptions } from './path-reads.ts';
export type { ConversationSearch, SearchOptions, SearchPage } from './search.ts';
export type { SubAgent } from './sub-agents.ts';
export type { Tasks } from './tasks.ts';
export type { ConversationUsage, DayRange, NamespaceUsage } from './usage.ts';
export type { VerifyOptions, VerifyProgress, VerifyReport } from './upkeep/verify.ts';
export type { ConversationEvent, NamespaceEvent, WatchOptions } from './watch.ts';
