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

/** What usage is added up by. */
interface UsageBy {
  readonly provider: string;
  readonly model: string;
  /** Empty where no cost was said. */
  readonly currency: string;
}

/** What usage is added up for. */
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

/** What a key of a sum says: its day, where it is of one, and what it is by. */
export function usageSumParts(key: string): UsageBy & { readonly day: number } {
  const [scope = '', provider = '', model = '', currency = ''] = key.slice(1).split(SEPARATOR);
  return { day: dayIn(scope), provider, model, currency };
}

function dayIn(scope: string): number {
  if (scope.startsWith('d-')) return (numbersIn(scope, 2)[0] as number) - Number.MAX_SAFE_INTEGER;
  return scope.startsWith('d') ? (numbersIn(scope, 1)[0] as number) : -1;
}

export const KEYS = {
  branch: (branch: number) => `b${numberKey(branch)}`,
  turn: (branch: number, position: number) => `t${numberKey(branch)}${numberKey(position)}`,
  turnsOf: (branch: number) => `t${numberKey(branch)}`,
  turnId: (turnId: string) => `T${turnId}`,
  /** The states of a turn after its first. */
  turnStates: (branch: number, position: number) => `s${numberKey(branch)}${numberKey(position)}`,
  turnState: (branch: number, position: number, version: number, index: number) =>
    `s${numberKey(branch)}${numberKey(position)}${numberKey(version)}${numberKey(index)}`,
  children: (parentTurnId: string | null) => `n${parentTurnId ?? ''}${SEPARATOR}`,
  child: (parentTurnId: string | null, ordinal: number) => `n${parentTurnId ?? ''}${SEPARATOR}${numberKey(ordinal)}`,
  message: (branch: number, position: number, sequence: number) =>
    `m${numberKey(branch)}${numberKey(position)}${numberKey(sequence)}`,
  messagesOf: (branch: number) => `m${numberKey(branch)}`,
  messagesAt: (branch: number, position: number) => `m${numberKey(branch)}${numberKey(position)}`,
  messageId: (messageId: string) => `M${messageId}`,
  late: (branch: number, sequence: number) => `l${numberKey(branch)}${numberKey(sequence)}`,
  lateOf: (branch: number) => `l${numberKey(branch)}`,
  call: (callId: string, sequence: number) => `a${callId}${SEPARATOR}${numberKey(sequence)}`,
  callsOf: (callId: string) => `a${callId}${SEPARATOR}`,
  entry: (branch: number, entry: string, position: number, version: number, index: number) =>
    `e${numberKey(branch)}${entry}${SEPARATOR}${numberKey(position)}${numberKey(version)}${numberKey(index)}`,
  entriesOf: (branch: number, entry: string) => `e${numberKey(branch)}${entry}${SEPARATOR}`,
  entriesLike: (branch: number, start: string) => `e${numberKey(branch)}${start}`,
  commit: (commitId: string) => `c${commitId}`,
  operation: (operationId: string) => `o${operationId}`,
  prompt: (promptId: string) => `p${promptId}`,
  /** A message that shows a prompt which an earlier message brought. */
  promptUse: (promptId: string, sequence: number) => `u${promptId}${SEPARATOR}${numberKey(sequence)}`,
  promptUsesOf: (promptId: string) => `u${promptId}${SEPARATOR}`,
  binding: (turnId: string, history: string) => `g${turnId}${SEPARATOR}${history}`,
  bindingsOf: (turnId: string) => `g${turnId}${SEPARATOR}`,
  checkpoint: (checkpointId: string, revision: number) => `k${checkpointId}${SEPARATOR}${numberKey(revision)}`,
  checkpointsOf: (checkpointId: string) => `k${checkpointId}${SEPARATOR}`,
  pendingWrite: (checkpointId: string, revision: number, place: string) =>
    `w${checkpointId}${SEPARATOR}${numberKey(revision)}${place}`,
  pendingWritesOf: (checkpointId: string, revision: number) => `w${checkpointId}${SEPARATOR}${numberKey(revision)}`,
  content: (address: string) => `x${address}`,
  taskMessage: (taskId: string, sequence: number) => `y${taskId}${SEPARATOR}${numberKey(sequence)}`,
  taskMessagesOf: (taskId: string) => `y${taskId}${SEPARATOR}`,
  fork: (conversationId: string) => `f${conversationId}`,
  /** A sub-agent's conversation under a turn. */
  spawned: (turnId: string, conversationId: string) => `h${turnId}${SEPARATOR}${conversationId}`,
  spawnedOf: (turnId: string) => `h${turnId}${SEPARATOR}`,
  attempt: (attempt: string) => `A${attempt}`,
  run: (runId: string) => `R${runId}`,
  step: (turnId: string, key: string) => `S${turnId}${SEPARATOR}${key}`,
  stepsOf: (turnId: string) => `S${turnId}${SEPARATOR}`,
  interrupt: (turnId: string, interruptId: string) => `i${turnId}${SEPARATOR}${interruptId}`,
  interruptsOf: (turnId: string) => `i${turnId}${SEPARATOR}`,
  interruptId: (interruptId: string) => `I${interruptId}`,
  input: (inputId: string) => `Q${inputId}`,
  /** An input that waits, by the stamp at which it came. */
  waiting: (version: number, index: number) => `q${numberKey(version)}${numberKey(index)}`,
  usage: (usageId: string) => `U${usageId}`,
  /** What a scope of {@link USAGE_OF} used, by model and currency. */
  usageSum: (scope: string, by: UsageBy) =>
    `z${scope}${SEPARATOR}${by.provider}${SEPARATOR}${by.model}${SEPARATOR}${by.currency}`,
  usageSumsOf: (scope: string) => `z${scope}${SEPARATOR}`,
  memory: (memoryId: string) => `v${memoryId}`,
  memoryRevision: (memoryId: string, revision: number) => `V${memoryId}${SEPARATOR}${numberKey(revision)}`,
  memoryRevisionsOf: (memoryId: string) => `V${memoryId}${SEPARATOR}`,
  /** A memory that was made of a message, or in a conversation (`null`). */
  memoryOrigin: (conversationId: string, messageId: string | null, memoryId: string) =>
    `d${conversationId}${SEPARATOR}${messageId ?? ''}${SEPARATOR}${memoryId}`,
  memoryOriginsOf: (conversationId: string, messageId: string | null) =>
    `d${conversationId}${SEPARATOR}${messageId ?? ''}${SEPARATOR}`,
  memoryCount: 'N',
  reader: (reader: string) => `r${reader}`,
  /** A record of this conversation whose words refer to an attachment. */
  reference: (digest: string, version: number, index: number) =>
    `F${digest}${SEPARATOR}${numberKey(version)}${numberKey(index)}`,
  referencesTo: (digest: string) => `F${digest}${SEPARATOR}`,
} as const;

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

/** The text after the last separator of a key. */
export function afterSeparator(key: string): string {
  return key.slice(key.lastIndexOf(SEPARATOR) + 1);
}

/** The text between the table's letter and the last separator. */
export function beforeSeparator(key: string, start: number): string {
  return key.slice(start, key.lastIndexOf(SEPARATOR));
}
