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
  reader: (reader: string) => `r${reader}`,
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
  attempts: 'A',
  runs: 'R',
  steps: 'S',
  interrupts: 'i',
  interruptIds: 'I',
  inputs: 'Q',
  waiting: 'q',
  readers: 'r',
} as const;

/** The text after the last separator of a key. */
export function afterSeparator(key: string): string {
  return key.slice(key.lastIndexOf(SEPARATOR) + 1);
}

/** The text between the table's letter and the last separator. */
export function beforeSeparator(key: string, start: number): string {
  return key.slice(start, key.lastIndexOf(SEPARATOR));
}
