import type { RowReader } from './backend.ts';
import { fieldOf } from './event.ts';
import type { ChangeEvent } from './event.ts';
import { decodeHeader } from './header.ts';
import type { ConversationId } from './ids.ts';
import type { LogHeader, LogRecord } from './log.ts';

/** The number of newest messages of a conversation whose words stay hot by default. */
export const HOT_MESSAGES = 512;

/**
 * UTF-16 units of words that cool together, at most, unless one commit alone has more. Reading a message out of that many
 * takes 0.4 ms; twice as many save 2% of the text's size, half as many cost 2%.
 */
const SLICE_LENGTH = 131_072;
/** Commits that cool together, at most: a swap holds the head's lock while it goes through them. */
const SLICE_COMMITS = 512;

/** Which commits may cool. */
export interface CoolingPolicy {
  /** Own messages of the conversation, its newest, that stay hot. */
  readonly hotMessages: number;
  /** Whether commits that do not fill a slice cool now, or wait until they do. */
  readonly rest: 'cools' | 'waits';
  /** UTF-16 units of words that cool together, at most; 131,072 when absent. */
  readonly sliceLength?: number | undefined;
}

/**
 * The commits of a conversation that may cool, oldest first, from the one after version `after` on: those before the commit
 * that brought the oldest message which stays hot. They are a prefix of the log, so a late result cools after its
 * neighbours on the path. Ends before a commit that is missing or whose header cannot be read: damage stays where it is.
 */
export function* coolable(
  rows: RowReader,
  conversationId: ConversationId,
  after: number,
  hotMessages: number,
): Generator<LogRecord> {
  const head = rows.head(conversationId);
  // Of what was erased, collection removes the words.
  if (!head || head.erasedAt !== null || head.messages <= hotMessages) return;
  const oldestHot = head.lastSequence - hotMessages + 1;
  for (let version = after + 1; version <= head.version; version++) {
    const log = rows.log(conversationId, version);
    if (!log || newestIn(log) >= oldestHot) return;
    yield log;
  }
}

/**
 * The version up to which the commits of a conversation may cool: the one before the commit that brought the oldest hot
 * message; 0 if none may. Reads the log from its end, as far as messages stay hot.
 */
export function coolBound(
  rows: Pick<RowReader, 'head' | 'log'>,
  conversationId: ConversationId,
  hotMessages: number,
): number {
  const head = rows.head(conversationId);
  if (!head || head.erasedAt !== null || head.messages <= hotMessages) return 0;
  const oldestHot = head.lastSequence - hotMessages + 1;
  let bound = head.version;
  for (let { version } = head; version > 0; version--) {
    const log = rows.log(conversationId, version);
    const newest = log ? newestIn(log) : Infinity;
    if (newest >= oldestHot) bound = version - 1;
    else if (newest > 0) return bound;
  }
  return bound;
}

/** The next commits that cool together, by a policy; empty if none may. */
export function nextToCool(
  rows: RowReader,
  conversationId: ConversationId,
  after: number,
  { hotMessages, rest, sliceLength = SLICE_LENGTH }: CoolingPolicy,
): readonly LogRecord[] {
  const slice: LogRecord[] = [];
  let length = 0;
  for (const log of coolable(rows, conversationId, after, hotMessages)) {
    length += lengthOf(log);
    if (slice.length > 0 && length > sliceLength) return slice;
    slice.push(log);
    if (slice.length === SLICE_COMMITS) return slice;
  }
  return rest === 'cools' ? slice : [];
}

/** The sequence of the newest message that a commit brought; 0 if it brought none. */
function newestIn(log: LogRecord): number {
  const events = eventsOf(log);
  if (!events) return Infinity;
  return events.reduce((newest, event) => Math.max(newest, sequenceIn(event)), 0);
}

/** An event with a sequence brought a message, unless the message was there already. */
function sequenceIn(event: ChangeEvent): number {
  return fieldOf(event, 'noop') ? 0 : (fieldOf(event, 'sequence') ?? 0);
}

function eventsOf({ header }: LogRecord): LogHeader['events'] | undefined {
  try {
    return header === null ? undefined : decodeHeader(header).events;
  } catch {
    return undefined;
  }
}

function lengthOf({ header, records }: LogRecord): number {
  return records.reduce((sum, { body }) => sum + (body?.length ?? 0), header?.length ?? 0);
}
