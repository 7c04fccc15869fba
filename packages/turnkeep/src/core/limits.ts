/**
 * Every limit of the ledger, by name. An input past one is refused with `limit_exceeded`, which names the limit, its
 * value and the path (an id with `invalid_value`, like everything else that can be wrong with an id); `docs/errors.md` says what
 * each one bounds. Sizes are bytes of UTF-8 of core's encoding.
 */
export const LIMITS = {
  /** Bytes of an id. */
  idBytes: 512,
  /** Nesting of a JSON value; a stack is never at risk below it. */
  jsonDepth: 200,
  /** Changes of one commit. */
  commitChanges: 1_000,
  /** Bytes of one commit, all its records together. */
  commitBytes: 33_554_432,
  /** Bytes of one record: a message, a checkpoint part, a state. */
  recordBytes: 16_777_216,
  /** Parts of one message. */
  messageParts: 1_000,
  /** Tool calls and results of one message. */
  messageCalls: 256,
  /** Parts of one checkpoint revision. */
  checkpointParts: 256,
  /** Bytes of a title, a label, a reader id, a reason or a code. */
  shortTextBytes: 4_096,
  /** Labels of a conversation; likewise participants. */
  conversationLabels: 64,
  /** Items of working state's blockers; likewise of its plan. */
  stateItems: 256,
  /** Branches between a leaf and its root, including those of the conversations that a fork was made from. */
  branchDepth: 4_096,
  /** Busy turns of one conversation. */
  busyTurns: 256,
  /** Interrupts of one conversation that nobody has answered. */
  openInterrupts: 256,
  /** Inputs of one conversation that wait. */
  waitingInputs: 256,
  /** Sub-agents of one turn. */
  subAgents: 256,
  /** Conversations between a sub-agent's and the user's, both included. */
  subAgentDepth: 16,
  /** Memories of a namespace. */
  memories: 10_000,
  /** Bytes of a memory's text. */
  memoryBytes: 16_384,
  /** Messages that a memory is made of. */
  memorySources: 64,
  /** Tokens of one kind in one record of usage; likewise its milliseconds. */
  usageCount: 1_000_000_000,
  /** Characters of the amount of a cost. */
  amountDigits: 64,
  /** Bytes of the draft of a turn; anything beyond is only in the message. */
  draftBytes: 262_144,
  /** How often a run restarts its agent's function because its question was answered at once; after that it lets the turn go. */
  agentRounds: 256,
  /** Milliseconds of a time to live: the longest that a timer runs. */
  ttlMs: 2_147_483_647,
  /** Messages of one window or page. */
  pageMessages: 1_000,
  /** Rows of one listing page. */
  pageRows: 1_000,
  /** Bytes of a search query. */
  queryBytes: 4_096,
  /** Bytes of one attachment. */
  attachmentBytes: 268_435_456,
  /** Bytes of all attachments of a namespace together, unless the ledger was opened with another quota. */
  attachmentQuotaBytes: 68_719_476_736,
  /** Commits that wait for one writer before it answers `overloaded`. */
  queuedCommits: 65_536,
} as const;

export type LimitName = keyof typeof LIMITS;
