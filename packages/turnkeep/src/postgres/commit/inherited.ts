import type { Commit, ConversationFork } from '../../core/change.ts';
import type { ConversationId } from '../../core/ids.ts';
import { afterSeparator, KEYS, numberKey, numbersIn, prefixEnd, TABLES } from '../../core/keys.ts';
import type { BranchRow } from '../../core/rows.ts';
import { unpackBranch, unpackTurn, WHOLE } from '../../core/rows.ts';
import { asksAfter } from '../follow.ts';
import type { Ask } from './ask.ts';
import { KnownRows } from './known-rows.ts';
import type { Snapshot } from './snapshot.ts';

/** As many entries as core reads at a time. */
const ENTRIES = 8;
/** Inputs of those that wait longest. */
const WAITING = 8;

/** A branch of which a conversation inherits what stands up to a place. */
interface Inherited {
  readonly owner: ConversationId;
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
}

/** What a branch of a conversation goes on from, nearest first, own branches and others', as far as they are at hand. */
export function inheritedBy(snapshot: Snapshot, conversation: ConversationId, branch: number): readonly Inherited[] {
  const inherited: Inherited[] = [];
  let owner = conversation;
  for (let row = branchOf(snapshot, owner, branch); row?.parent; row = branchOf(snapshot, owner, branch)) {
    ({ owner, branch } = row.parent);
    inherited.push({ owner, branch, position: row.cutPosition, sequence: row.cutSequence });
  }
  return inherited;
}

function branchOf(snapshot: Snapshot, owner: ConversationId, branch: number): BranchRow | undefined {
  const value = snapshot.peek(owner, KEYS.branch(branch));
  return value && unpackBranch(value);
}

/**
 * What is asked of a conversation for a commit is asked of what it inherits, too, if it may stand there: an id's row, a call, an
 * entry; and what stands at the cuts.
 */
export function asksOfInherited(asks: readonly Ask[], inherited: readonly Inherited[]): readonly Ask[] {
  if (inherited.length === 0) return [];
  return [
    ...asks.flatMap(askOfLine),
    ...inherited.flatMap((one) => [...asks.flatMap((ask) => askOf(ask, one)), ...asksAtCut(one)]),
  ];
}

/** An id is followed through all that its conversation inherits at once. */
function askOfLine(ask: Ask): readonly Extract<Ask, { kind: 'place' }>[] {
  if (ask.kind !== 'row' && ask.kind !== 'said') return [];
  const leads = ask.key.startsWith(TABLES.messageIds) || ask.key.startsWith(TABLES.turnIds);
  return leads ? [{ kind: 'place', conversation: ask.conversation, key: ask.key }] : [];
}

function askOf(ask: Ask, { owner, branch, position }: Inherited): readonly Ask[] {
  if (ask.kind !== 'range' && ask.kind !== 'words' && ask.kind !== 'nextTurn') return [];
  const { from } = ask.range;
  if (from.startsWith(TABLES.calls)) return ask.conversation === owner ? [] : [{ ...ask, conversation: owner }];
  if (!from.startsWith(TABLES.entries)) return [];
  const start = `${TABLES.entries}${numberKey(branch)}${from.slice(1 + lengthOfNumber(from))}`;
  // Of several names: each has its own order.
  if (afterSeparator(from) !== '')
    return [{ ...ask, conversation: owner, range: { ...ask.range, from: start, to: prefixEnd(start) } }];
  const range = { from: start, to: prefixEnd(start + numberKey(position)), reverse: true, limit: ENTRIES };
  return [{ ...ask, conversation: owner, range }];
}

/** Of the number that stands behind a table's letter. */
function lengthOfNumber(key: string): number {
  return 1 + parseInt(key[1] ?? '', 36);
}

/** The turns around a cut. */
function asksAtCut({ owner, branch, position }: Inherited): readonly Ask[] {
  return [position, position + 1].map((at) => ({ kind: 'row', conversation: owner, key: KEYS.turn(branch, at) }));
}

/**
 * What a fork asks of its source and of what that inherits: where it is cut, and, once that is known, what stands there; and what is
 * asked of itself (`own`) by the changes that follow.
 */
export function asksOfFork(snapshot: Snapshot, { source, at }: ConversationFork, own: readonly Ask[]): readonly Ask[] {
  const named = KEYS.messageId(at);
  const line = inheritedBy(snapshot, source, 0);
  const owners = [...new Set([source, ...line.map(({ owner }) => owner)])];
  const owner = owners.find((one) => snapshot.peek(one, named));
  if (owner === undefined) return [];
  const [branch, position, sequence] = snapshot.peek(owner, named) as readonly [number, number, number];
  const turnId = snapshot.peek(owner, KEYS.turn(branch, position))?.[0];
  const cuts = [{ owner, branch, position, sequence }, ...line, ...inheritedBy(snapshot, owner, branch)];
  return [
    ...(typeof turnId === 'string' ? [{ kind: 'row' as const, conversation: owner, key: KEYS.turnId(turnId) }] : []),
    ...asksAfter(owner, named, [branch, position, sequence]),
    ...cuts.flatMap((cut) => [...asksAtCut(cut), ...asksBeforeCut(cut), ...own.flatMap((ask) => askOf(ask, cut))]),
    ...own.flatMap(askOfLine).map((ask) => ({ ...ask, conversation: source })),
    ...owners.map((conversation) => rootMessageAsk(conversation)),
  ];
}

/** The first message before the turns. */
function rootMessageAsk(conversation: ConversationId): Ask {
  const from = KEYS.messagesAt(0, 0);
  return { kind: 'range', conversation, range: { from, to: prefixEnd(from), limit: 1 } };
}

/** The last message before a cut, and results that came late. */
export function asksBeforeCut({ owner, branch, position, sequence }: Inherited): readonly Ask[] {
  const to =
    sequence === WHOLE ? prefixEnd(KEYS.messagesAt(branch, position)) : KEYS.message(branch, position, sequence + 1);
  const late = KEYS.lateOf(branch);
  return [
    { kind: 'range', conversation: owner, range: { from: KEYS.messagesOf(branch), to, reverse: true, limit: 1 } },
    { kind: 'range', conversation: owner, range: { from: late, to: prefixEnd(late), reverse: true } },
  ];
}

/** A conversation and those that it inherits from. */
export function ownersOf(snapshot: Snapshot, conversation: ConversationId): readonly ConversationId[] {
  return [...new Set([conversation, ...inheritedBy(snapshot, conversation, 0).map(({ owner }) => owner)])];
}

/** What a turn asks for that has the prompt of another, or goes on from what is inherited, once it is known where that stands. */
export function asksOfNamed(snapshot: Snapshot, { conversationId, changes }: Commit): readonly Ask[] {
  return changes.flatMap((change): readonly Ask[] => {
    if (change.kind === 'input.deliver')
      return change.inputId === undefined ? asksOfWaiting(snapshot, conversationId) : [];
    if (change.kind !== 'turn.submit' && change.kind !== 'turn.record') return [];
    const { parent } = change;
    const same = change.kind === 'turn.submit' ? change.samePromptAs : undefined;
    return [
      ...(same === undefined ? [] : asksOfPrompt(snapshot, conversationId, same)),
      ...(parent && 'messageId' in parent ? asksUnder(snapshot, conversationId, parent.messageId) : []),
    ];
  });
}

/** Inputs that wait longest, and the words that they came with. */
function asksOfWaiting(snapshot: Snapshot, conversation: ConversationId): readonly Ask[] {
  const waiting = snapshot.rowsOf(conversation).scan({ from: TABLES.waiting, to: prefixEnd(TABLES.waiting) });
  if (waiting === KnownRows.unknown) return [];
  return waiting.slice(0, WAITING).flatMap(({ key, value }): readonly Ask[] => {
    const [version] = numbersIn(key, 1) as [number];
    const inputId = value[0] as string;
    return [
      { kind: 'row', conversation, key: KEYS.input(inputId) },
      { kind: 'row', conversation, key: KEYS.operation(inputId) },
      { kind: 'log', conversation, version },
    ];
  });
}

/** The messages of a turn, and the words of the commit that made it. */
function asksOfPrompt(snapshot: Snapshot, conversation: ConversationId, turnId: string): readonly Ask[] {
  return ownersOf(snapshot, conversation).flatMap((owner): readonly Ask[] => {
    const place = snapshot.peek(owner, KEYS.turnId(turnId)) as readonly [number, number] | undefined;
    const turn = place && snapshot.peek(owner, KEYS.turn(...place));
    if (!turn) return [];
    const from = KEYS.messagesAt(...place);
    return [
      { kind: 'range', conversation: owner, range: { from, to: prefixEnd(from) } },
      { kind: 'log', conversation: owner, version: unpackTurn(turn).created.version },
    ];
  });
}

/** The turns that go on from an inherited message's, and where that stands. */
function asksUnder(snapshot: Snapshot, conversation: ConversationId, messageId: string): readonly Ask[] {
  return ownersOf(snapshot, conversation).flatMap((owner): readonly Ask[] => {
    const place = snapshot.peek(owner, KEYS.messageId(messageId)) as readonly [number, number] | undefined;
    const turnId = place && snapshot.peek(owner, KEYS.turn(place[0], place[1]))?.[0];
    if (owner === conversation || typeof turnId !== 'string') return [];
    const from = KEYS.children(turnId);
    return [
      { kind: 'range', conversation, range: { from, to: prefixEnd(from), reverse: true, limit: 1 } },
      { kind: 'place', conversation, key: KEYS.turnId(turnId) },
    ];
  });
}
