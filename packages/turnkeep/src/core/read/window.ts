import { TurnkeepError } from '../errors.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { ownCallsOf } from '../tree/calls.ts';
import { backward, findMessage, forward, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage, Seen } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import type { Segment, Tree } from '../tree/path.ts';
import { assertLeafOfCursor } from './cursor-leaf.ts';

const GROUP_CHECK = 1_024;
const GROUP_STEP = 32;

/** Where a window ends: before this message of this path, as it was when its last sequence was `lastSequence`. */
export interface WindowCursor {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  readonly messageId: MessageId;
}

export interface WindowOptions {
  /** The most messages to return. */
  readonly count: number;
  /** Absent: the active leaf. */
  readonly leaf?: TurnId | null | undefined;
  readonly before?: WindowCursor | undefined;
}

export interface PlacedWindow {
  /** Oldest first. */
  readonly messages: readonly PlacedMessage[];
  /** Pass it in for the messages before these; `null` at the path's start. */
  readonly before: WindowCursor | null;
}

/**
 * The last messages of a path, never between a tool call and its results. Its cost follows `count`, not the length of
 * the path, its depth or the number of branches. `group_too_large` if not even one group fits.
 */
export function placedWindow(tree: Tree, options: WindowOptions): PlacedWindow {
  const { count } = options;
  if (!Number.isInteger(count) || count < 1)
    throw new TurnkeepError('invalid_value', { path: 'count', reason: 'a whole number from 1 on' });
  if (count > LIMITS.pageMessages) {
    throw new TurnkeepError('limit_exceeded', {
      limit: 'pageMessages',
      max: LIMITS.pageMessages,
      actual: count,
      path: 'count',
    });
  }
  const leaf = options.before ? options.before.leaf : options.leaf === undefined ? tree.head.leaf : options.leaf;
  if (options.before) assertLeafOfCursor(tree, leaf);
  const lastSequence = options.before?.lastSequence ?? tree.head.lastSequence;
  const seen: Seen = { sequence: lastSequence };
  const messages = collect(messagesBefore(tree, leaf, seen, count, options.before), count);
  const first = messages[0];
  const before =
    first && hasEarlier(tree, leaf, seen, first) ? { leaf, lastSequence, messageId: first.row.messageId } : null;
  return { messages, before };
}

/** A message on its way into a window: whether a group is open before it. */
interface Step {
  readonly message: PlacedMessage;
  /** Calls that earlier messages of the turn make and that are still open after this message. */
  readonly open: number;
}

/** Takes whole groups while they fit. */
function collect(steps: Iterable<Step>, count: number): readonly PlacedMessage[] {
  const taken: PlacedMessage[] = [];
  let whole = 0;
  for (const { message, open } of steps) {
    if (taken.length >= count && whole > 0) break;
    taken.push(message);
    if (open === 0 && taken.length <= count) whole = taken.length;
    // The size of a group that does not fit is reported as far as it is worth reading.
    else if (open === 0 || taken.length >= count + GROUP_CHECK) break;
  }
  if (whole === 0 && taken.length > 0) throw new TurnkeepError('group_too_large', { count: taken.length });
  return taken.slice(0, whole).reverse();
}

function* messagesBefore(
  tree: Tree,
  leaf: TurnId | null,
  seen: Seen,
  step: number,
  before?: WindowCursor,
): Generator<Step> {
  let start = before && startOf(tree, leaf, seen, before.messageId);
  let open = new Set<string>();
  let turn = '';
  for (const segment of pathTo(tree, leaf)) {
    if (start && !isSame(segment, start.segment)) continue;
    const end = start?.message;
    start = undefined;
    for (const message of backward(tree, segment, seen, step + 1, end)) {
      const at = `${message.branch} ${message.position} ${message.owner}`;
      // Groups never leave a turn.
      if (at !== turn) open = new Set();
      turn = at;
      for (const callId of message.row.answers) if (hasCallBefore(tree, message, callId)) open.add(callId);
      for (const callId of message.row.calls) open.delete(callId);
      yield { message, open: open.size };
    }
  }
}

function isSame(left: Segment, right: Segment): boolean {
  return left.owner === right.owner && left.branch === right.branch;
}

function hasCallBefore(tree: Tree, message: PlacedMessage, callId: string): boolean {
  return ownCallsOf(tree, message.owner, callId, message.branch, message.position).some(
    (place) => place.kind === 'call' && place.sequence < message.sequence,
  );
}

function startOf(tree: Tree, leaf: TurnId | null, seen: Seen, messageId: MessageId) {
  const message = findMessage(tree, messageId);
  for (const segment of message ? pathTo(tree, leaf) : []) {
    if (!message || !segmentSees(segment, message, seen)) continue;
    if (isInsideGroup(tree, segment, message, seen))
      throw new TurnkeepError('bad_cursor', { reason: `${messageId} stands between a call and its result` });
    return { segment, message };
  }
  throw new TurnkeepError('bad_cursor', { reason: `${messageId} is not on this path` });
}

/**
 * True if a result at or after the message answers a call before it. Our own cursors never point there; one made by hand
 * is checked within GROUP_CHECK messages to each side, so that the cost of paging does not follow a turn's length.
 */
function isInsideGroup(tree: Tree, segment: Segment, message: PlacedMessage, seen: Seen): boolean {
  const { position, sequence } = message;
  const calls = new Set<string>();
  for (const earlier of within(backward(tree, segment, seen, GROUP_STEP, message), position)) {
    for (const callId of earlier.row.calls) calls.add(callId);
  }
  if (calls.size === 0) return false;
  for (const later of within(
    forward(tree, segment, seen, GROUP_STEP, { position, sequence: sequence - 1 }),
    position,
  )) {
    if (later.row.answers.some((callId) => calls.has(callId))) return true;
  }
  return false;
}

/** The messages of one turn at the start of a sequence of them, at most GROUP_CHECK. */
function* within(messages: Iterable<PlacedMessage>, position: number): Generator<PlacedMessage> {
  let taken = 0;
  for (const message of messages) {
    if (message.position !== position || taken === GROUP_CHECK) return;
    taken += 1;
    yield message;
  }
}

function hasEarlier(tree: Tree, leaf: TurnId | null, seen: Seen, first: PlacedMessage): boolean {
  let reached = false;
  for (const segment of pathTo(tree, leaf)) {
    const here = segment.owner === first.owner && segment.branch === first.branch;
    if (!reached && !here) continue;
    const rest = backward(tree, segment, seen, 1, reached ? undefined : first);
    reached = true;
    if (!rest.next().done) return true;
  }
  return false;
}
