import type { Conversation } from './model.ts';
import { keyOf, lastSequenceOn, messagesOn, pathTo, visibleMessages, visibleTurns } from './path.ts';
import type { Oracle } from './oracle.ts';
import type { Pin, Question } from './questions.ts';
import type { Random } from './random.ts';

type Leaf = string | null;

function leavesOf(conversation: Conversation): readonly Leaf[] {
  return [null, ...visibleTurns(conversation).map((turn) => turn.turnId)];
}

/** Some questions about a conversation: about its active path and a few others, each way of reading at random sizes. */
export function someQuestions(random: Random, conversation: Conversation): readonly Question[] {
  const leaves = leavesOf(conversation);
  const chosen = [conversation.leaf, random.pick(leaves) ?? null];
  const id = conversation.conversationId;
  const seen = visibleMessages(conversation);
  const messageId = random.pick(seen)?.messageId ?? 'm1';
  return [
    { ask: 'head', conversation: id, reader: random.pick(['ann', 'bob']) },
    { ask: 'graph', conversation: id },
    ...chosen.flatMap((leaf) => aboutPath(random, conversation, leaf)),
    ...atVersion(random, conversation),
    { ask: 'message', conversation: id, messageId: random.oneIn(4) ? `m${random.below(300)}` : messageId },
    ...(random.oneIn(6) ? rareQuestions(random, conversation) : []),
  ];
}

function aboutPath(random: Random, conversation: Conversation, leaf: Leaf): readonly Question[] {
  const id = conversation.conversationId;
  const asked = { conversation: id, leaf };
  const messages = messagesOn(pathTo(conversation, leaf));
  const messageId = random.pick(random.oneIn(10) ? visibleMessages(conversation) : messages)?.messageId;
  const pinned = random.oneIn(3) ? random.below(conversation.lastSequence + 1) : conversation.lastSequence;
  const before = messageId !== undefined && random.oneIn(2) ? { before: { lastSequence: pinned, messageId } } : {};
  return [
    { ask: 'path', ...asked },
    { ask: 'pages', ...asked, limit: 1 + random.below(5) },
    { ask: 'context', ...asked },
    { ask: 'window', ...asked, count: 1 + random.below(7), ...before },
  ];
}

/** The conversation as it was, along a path that was there by then. */
function atVersion(random: Random, conversation: Conversation): readonly Question[] {
  const id = conversation.conversationId;
  const version = 1 + random.below(conversation.version);
  const then = visibleTurns(conversation).filter(
    (turn) => turn.conversationId !== id || turn.moves[0].stamp.version <= version,
  );
  const leaf = random.pick([null, ...then.map((turn) => turn.turnId)]) ?? null;
  return [
    { ask: 'moment', conversation: id, version },
    { ask: 'graph', conversation: id, version },
    { ask: 'path', conversation: id, leaf, version },
    { ask: 'context', conversation: id, leaf, version },
  ];
}

function rareQuestions(random: Random, conversation: Conversation): readonly Question[] {
  const id = conversation.conversationId;
  const leaf = random.pick(leavesOf(conversation)) ?? null;
  const text = String(random.below(100));
  return [
    { ask: 'beside', conversation: id },
    { ask: 'usage', conversation: id },
    { ask: 'spent' },
    { ask: 'memories' },
    { ask: 'task', conversation: id, taskId: `T${1 + random.below(5)}` },
    { ask: 'search', conversation: id, text },
    { ask: 'search', conversation: id, leaf, text },
    { ask: 'listing', order: random.pick(['activity', 'created']), limit: 1 + random.below(5) },
  ];
}

/** Every path and every side of every conversation, and all that is left of the erased ones. */
export function everyQuestion(oracle: Oracle): readonly Question[] {
  const erased = oracle.all().filter((one) => 'erasedAt' in one);
  return [
    ...oracle.everyLiving().flatMap(everythingOf),
    ...erased.flatMap(({ conversationId }): readonly Question[] => [
      { ask: 'tombstone', conversation: conversationId },
      { ask: 'held', conversation: conversationId },
    ]),
    { ask: 'listing', order: 'activity', limit: 3 },
    { ask: 'spent' },
    { ask: 'memories' },
    { ask: 'search', text: '7' },
  ];
}

/** Everything that one conversation shows, each path whole. */
export function everythingOf(conversation: Conversation): readonly Question[] {
  const id = conversation.conversationId;
  return [
    { ask: 'head', conversation: id, reader: 'ann' },
    { ask: 'graph', conversation: id },
    { ask: 'beside', conversation: id },
    { ask: 'usage', conversation: id },
    { ask: 'search', conversation: id, text: '7' },
    ...leavesOf(conversation).flatMap((leaf): readonly Question[] => [
      { ask: 'path', conversation: id, leaf },
      { ask: 'context', conversation: id, leaf },
      { ask: 'window', conversation: id, leaf, count: 4 },
    ]),
    ...visibleMessages(conversation).map(({ messageId }): Question => ({
      ask: 'message',
      conversation: id,
      messageId,
    })),
  ];
}

/** Every question there is, all sizes, cursors and versions included: for a short history. */
export function exhaustively(oracle: Oracle, pins: readonly { conversation: string; pin: Pin }[]): readonly Question[] {
  const living = new Set(oracle.everyLiving().map((one) => one.conversationId));
  return [
    ...everyQuestion(oracle),
    ...oracle.everyLiving().flatMap(exhaust),
    ...pins
      .filter(({ conversation }) => living.has(conversation))
      .flatMap(({ conversation, pin }) => again(conversation, pin)),
  ];
}

function exhaust(conversation: Conversation): readonly Question[] {
  const id = conversation.conversationId;
  const versions = Array.from({ length: conversation.version }, (_, at) => at + 1);
  const texts = Array.from({ length: 10 }, (_, digit) => String(digit));
  return [
    ...texts.map((text): Question => ({ ask: 'search', conversation: id, text })),
    ...['T1', 'T2', 'T3', 'T4', 'T5'].map((taskId): Question => ({ ask: 'task', conversation: id, taskId })),
    ...versions.flatMap((version) => exhaustVersion(conversation, version)),
    ...leavesOf(conversation).flatMap((leaf) => exhaustPath(conversation, leaf)),
  ];
}

function exhaustVersion(conversation: Conversation, version: number): readonly Question[] {
  const id = conversation.conversationId;
  const then = visibleTurns(conversation).filter(
    (turn) => turn.conversationId !== id || turn.moves[0].stamp.version <= version,
  );
  return [
    { ask: 'moment', conversation: id, version },
    { ask: 'graph', conversation: id, version },
    ...[null, ...then.map((turn) => turn.turnId)].flatMap((leaf): readonly Question[] => [
      { ask: 'path', conversation: id, leaf, version },
      { ask: 'context', conversation: id, leaf, version },
    ]),
  ];
}

function exhaustPath(conversation: Conversation, leaf: Leaf): readonly Question[] {
  const asked = { conversation: conversation.conversationId, leaf };
  const sequences = Array.from({ length: conversation.lastSequence }, (_, at) => at + 1);
  const cursors = messagesOn(pathTo(conversation, leaf)).flatMap(({ messageId }) =>
    sequences.map((lastSequence) => ({ before: { lastSequence, messageId } })),
  );
  return [1, 2, 3, 4, 5, 6, 7].flatMap((count): readonly Question[] => [
    { ask: 'pages', ...asked, limit: count },
    { ask: 'window', ...asked, count },
    ...cursors.slice(0, 200).map((before): Question => ({ ask: 'window', ...asked, count, ...before })),
  ]);
}

export function again(conversation: string, pin: Pin): readonly Question[] {
  return [{ ask: 'pinned', conversation, pin, limit: 2 }];
}

/** What must be so by itself, whoever is right: answers the first that is not. */
export function brokenInvariant(conversation: Conversation): string | undefined {
  const own = conversation.messages.map((message) => message.sequence);
  const start = conversation.lastSequence - own.length + 1;
  if (own.some((sequence, at) => sequence !== start + at))
    return `I3: own sequences ${own.join()} have a gap or a repeat`;
  if (conversation.moments.length !== conversation.version) return 'I3: versions have a gap';
  for (const turn of conversation.turns) {
    const parent = turn.under.turnId;
    if (parent !== null && !visibleTurns(conversation).some((one) => one.turnId === parent))
      return `I5: ${turn.turnId} has no parent`;
  }
  for (const leaf of leavesOf(conversation)) {
    const broken = brokenOnPath(conversation, leaf);
    if (broken) return `${broken} on the path to ${leaf} of ${conversation.conversationId}`;
  }
  return undefined;
}

function brokenOnPath(conversation: Conversation, leaf: Leaf): string | undefined {
  const path = pathTo(conversation, leaf);
  const messages = messagesOn(path);
  const inTime = messages.filter((message) => !message.late).map((message) => message.sequence);
  if (inTime.some((sequence, at) => sequence <= (inTime[at - 1] ?? 0)))
    return `sequences do not rise (${inTime.join()})`;
  if (new Set(messages.map((message) => message.sequence)).size !== messages.length) return 'a sequence repeats';
  if (lastSequenceOn(path) > conversation.lastSequence) return 'a sequence is above the last';
  const open = ['created', 'running', 'awaiting_approval'];
  const notes = new Map(path.flatMap((step) => step.entries).map(({ note }) => [keyOf(note), note]));
  const active = [...notes.values()].filter((note) => note.kind === 'task' && open.includes(note.status));
  return active.length > 1 ? `${active.length} tasks are active` : undefined;
}
