/**
 * Row keys: one letter for the table, then its columns. A number is written so that text order is its order; an id is
 * followed by a separator that no id can contain. Nothing ever depends on the order of two ids.
 */

const SEPARATOR = '\u0001';
// Keys begin with a letter: this is above them all.
const LAST = '\u{10ffff}';

/** A whole number from 0 to 2^53 - 1, as a length digit and base 36: `10` is `1a`. Text order is numeric order. */
export function numberKey(value: number): string {
  const digits = value.toString(36);
  return digits.length.toString(36) + digits;
}

/** The numbers at the end of a key, from `start` on. */
export function numbersIn(key: string, start: number): readonly number[] {
  const numbers: number[] = [];
  for (let at = start; at < key.length;) {
    const length = parseInt(key[at] ?? '', 36);
    numbers.push(parseInt(key.slice(at + 1, at + 1 + length), 36));
    at += 1 + length;
  }
  return numbers;
}

/** The end (exclusive) of the range of all keys that start with `prefix`, which ends in no surrogate; all keys for ''. */
export function prefixEnd(prefix: string): string {
  if (prefix === '') return LAST;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

/** The tables, by the letter that their keys start with: what a listing, an export or a collection walks. */
export const TABLES = {
  branches: 'b',
  turns: 't',
  turnIds: 'T',
  turnStates: 's',
  children: 'n',
  messages: 'm',
  messageIds: 'M',
  late: 'l',
  calls: 'a',
  entries: 'e',
  commits: 'c',
  operations: 'o',
  prompts: 'p',
  promptUses: 'u',
  bindings: 'g',
  checkpoints: 'k',
  pendingWrites: 'w',
  contents: 'x',
  taskMessages: 'y',
  forks: 'f',
  spawned: 'h',
  attempts: 'A',
  runs: 'R',
  steps: 'S',
  interrupts: 'i',
  interruptIds: 'I',
  inputs: 'Q',
  waiting: 'q',
  usages: 'U',
  usageSums: 'z',
  memories: 'v',
  memoryRevisions: 'V',
  memoryOrigins: 'd',
  memoryCount: 'N',
  readers: 'r',
  references: 'F',
} as const;

export type Table = (typeof TABLES)[keyof typeof TABLES];

/** How a sum of usage is broken down. */
interface UsageBy {
  readonly provider: string;
  readonly model: string;
  /** Empty if no cost was given. */
  readonly currency: string;
}

/** The scopes that usage is summed over. */
export const USAGE_OF = {
  all: 'a',
  /** Days since the epoch, in UTC; those before it stand first, in order. */
  day: (day: number): string => (day < 0 ? `d-${numberKey(Number.MAX_SAFE_INTEGER + day)}` : `d${numberKey(day)}`),
  turn: (turnId: string) => `t${turnId}`,
} as const;

const DAY_MS = 86_400_000;

/** Days since the epoch, in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** A day as `2026-11-29`; of a year before 0 or after 9999 as `-000001-11-29` or `+010000-11-29`. */
export function dayText(day: number): string {
  const [text = ''] = new Date(day * DAY_MS).toISOString().split('T');
  return text;
}

/** What the key of a sum says: its day (`undefined` for a sum of a turn or of all), and its breakdown. */
export function usageSumParts(key: string): UsageBy & { readonly day: number | undefined } {
  const [scope = '', provider = '', model = '', currency = ''] = key.slice(1).split(SEPARATOR);
  return { day: dayIn(scope), provider, model, currency };
}

function dayIn(scope: string): number | undefined {
  if (scope.startsWith('d-')) return (numbersIn(scope, 2)[0] as number) - Number.MAX_SAFE_INTEGER;
  return scope.startsWith('d') ? numbersIn(scope, 1)[0] : undefined;
}

export const KEYS = {
  branch: (branch: number) => `${TABLES.branches}${numberKey(branch)}`,
  turn: (branch: number, position: number) => `${TABLES.turns}${numberKey(branch)}${numberKey(position)}`,
  turnsOf: (branch: number) => `${TABLES.turns}${numberKey(branch)}`,
  turnId: (turnId: string) => `${TABLES.turnIds}${turnId}`,
  /** The states of a turn after its first. */
  turnStates: (branch: number, position: number) => `${TABLES.turnStates}${numberKey(branch)}${numberKey(position)}`,
  turnState: (branch: number, position: number, version: number, index: number) =>
    `${TABLES.turnStates}${numberKey(branch)}${numberKey(position)}${numberKey(version)}${numberKey(index)}`,
  children: (parentTurnId: string | null) => `${TABLES.children}${parentTurnId ?? ''}${SEPARATOR}`,
  child: (parentTurnId: string | null, ordinal: number) =>
    `${TABLES.children}${parentTurnId ?? ''}${SEPARATOR}${numberKey(ordinal)}`,
  message: (branch: number, position: number, sequence: number) =>
    `${TABLES.messages}${numberKey(branch)}${numberKey(position)}${numberKey(sequence)}`,
  messagesOf: (branch: number) => `${TABLES.messages}${numberKey(branch)}`,
  messagesAt: (branch: number, position: number) => `${TABLES.messages}${numberKey(branch)}${numberKey(position)}`,
  messageId: (messageId: string) => `${TABLES.messageIds}${messageId}`,
  late: (branch: number, sequence: number) => `${TABLES.late}${numberKey(branch)}${numberKey(sequence)}`,
  lateOf: (branch: number) => `${TABLES.late}${numberKey(branch)}`,
  call: (callId: string, sequence: number) => `${TABLES.calls}${callId}${SEPARATOR}${numberKey(sequence)}`,
  callsOf: (callId: string) => `${TABLES.calls}${callId}${SEPARATOR}`,
  entry: (branch: number, entry: string, position: number, version: number, index: number) =>
    `${TABLES.entries}${numberKey(branch)}${entry}${SEPARATOR}${numberKey(position)}${numberKey(version)}${numberKey(index)}`,
  entriesOf: (branch: number, entry: string) => `${TABLES.entries}${numberKey(branch)}${entry}${SEPARATOR}`,
  entriesLike: (branch: number, start: string) => `${TABLES.entries}${numberKey(branch)}${start}`,
  commit: (commitId: string) => `${TABLES.commits}${commitId}`,
  operation: (operationId: string) => `${TABLES.operations}${operationId}`,
  prompt: (promptId: string) => `${TABLES.prompts}${promptId}`,
  /** A message that shows the prompt of an earlier message. */
  promptUse: (promptId: string, sequence: number) =>
    `${TABLES.promptUses}${promptId}${SEPARATOR}${numberKey(sequence)}`,
  promptUsesOf: (promptId: string) => `${TABLES.promptUses}${promptId}${SEPARATOR}`,
  binding: (turnId: string, history: string) => `${TABLES.bindings}${turnId}${SEPARATOR}${history}`,
  bindingsOf: (turnId: string) => `${TABLES.bindings}${turnId}${SEPARATOR}`,
  checkpoint: (checkpointId: string, revision: number) =>
    `${TABLES.checkpoints}${checkpointId}${SEPARATOR}${numberKey(revision)}`,
  checkpointsOf: (checkpointId: string) => `${TABLES.checkpoints}${checkpointId}${SEPARATOR}`,
  pendingWrite: (checkpointId: string, revision: number, place: string) =>
    `${TABLES.pendingWrites}${checkpointId}${SEPARATOR}${numberKey(revision)}${place}`,
  pendingWritesOf: (checkpointId: string, revision: number) =>
    `${TABLES.pendingWrites}${checkpointId}${SEPARATOR}${numberKey(revision)}`,
  content: (address: string) => `${TABLES.contents}${address}`,
  taskMessage: (taskId: string, sequence: number) =>
    `${TABLES.taskMessages}${taskId}${SEPARATOR}${numberKey(sequence)}`,
  taskMessagesOf: (taskId: string) => `${TABLES.taskMessages}${taskId}${SEPARATOR}`,
  fork: (conversationId: string) => `${TABLES.forks}${conversationId}`,
  /** A sub-agent's conversation under a turn. */
  spawned: (turnId: string, conversationId: string) => `${TABLES.spawned}${turnId}${SEPARATOR}${conversationId}`,
  spawnedOf: (turnId: string) => `${TABLES.spawned}${turnId}${SEPARATOR}`,
  attempt: (attempt: string) => `${TABLES.attempts}${attempt}`,
  run: (runId: string) => `${TABLES.runs}${runId}`,
  step: (turnId: string, key: string) => `${TABLES.steps}${turnId}${SEPARATOR}${key}`,
  stepsOf: (turnId: string) => `${TABLES.steps}${turnId}${SEPARATOR}`,
  interrupt: (turnId: string, interruptId: string) => `${TABLES.interrupts}${turnId}${SEPARATOR}${interruptId}`,
  interruptsOf: (turnId: string) => `${TABLES.interrupts}${turnId}${SEPARATOR}`,
  interruptId: (interruptId: string) => `${TABLES.interruptIds}${interruptId}`,
  input: (inputId: string) => `${TABLES.inputs}${inputId}`,
  /** An input that waits, by the stamp at which it came. */
  waiting: (version: number, index: number) => `${TABLES.waiting}${numberKey(version)}${numberKey(index)}`,
  usage: (usageId: string) => `${TABLES.usages}${usageId}`,
  /** The usage of a scope of {@link USAGE_OF}, by model and currency. */
  usageSum: (scope: string, by: UsageBy) =>
    `${TABLES.usageSums}${scope}${SEPARATOR}${by.provider}${SEPARATOR}${by.model}${SEPARATOR}${by.currency}`,
  usageSumsOf: (scope: string) => `${TABLES.usageSums}${scope}${SEPARATOR}`,
  memory: (memoryId: string) => `${TABLES.memories}${memoryId}`,
  memoryRevision: (memoryId: string, revision: number) =>
    `${TABLES.memoryRevisions}${memoryId}${SEPARATOR}${numberKey(revision)}`,
  memoryRevisionsOf: (memoryId: string) => `${TABLES.memoryRevisions}${memoryId}${SEPARATOR}`,
  /** A memory that was made of a message, or in a conversation (`null`). */
  memoryOrigin: (conversationId: string, messageId: string | null, memoryId: string) =>
    `${TABLES.memoryOrigins}${conversationId}${SEPARATOR}${messageId ?? ''}${SEPARATOR}${memoryId}`,
  memoryOriginsOf: (conversationId: string, messageId: string | null) =>
    `${TABLES.memoryOrigins}${conversationId}${SEPARATOR}${messageId ?? ''}${SEPARATOR}`,
  reader: (reader: string) => `${TABLES.readers}${reader}`,
  /** A record of this conversation whose words refer to an attachment. */
  reference: (digest: string, version: number, index: number) =>
    `${TABLES.references}${digest}${SEPARATOR}${numberKey(version)}${numberKey(index)}`,
  referencesTo: (digest: string) => `${TABLES.references}${digest}${SEPARATOR}`,
} as const;

/** The text after the last separator of a key. */
export function afterSeparator(key: string): string {
  return key.slice(key.lastIndexOf(SEPARATOR) + 1);
}

/** The text between the table's letter and the last separator. */
export function beforeSeparator(key: string, start: number): string {
  return key.slice(start, key.lastIndexOf(SEPARATOR));
}
