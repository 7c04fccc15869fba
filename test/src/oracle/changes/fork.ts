import type { MessageId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { isBefore } from '../model.ts';
import type { Conversation, Message, Step } from '../model.ts';
import {
  cutTurn,
  findMessage,
  inheritedWhole,
  lastSequenceOn,
  ownTurn,
  pathWithMessage,
  stepInherited,
  withLast,
} from '../path.ts';
import { refuse } from '../refusal.ts';
import { isTerminal, stateOf } from '../turn-states.ts';
import { assertFirst, setFields } from './conversation.ts';

/**
 * A fork is a copy of the path of its source that ends with one message. Its own sequences go on from the highest that
 * it inherits, and its active leaf is the turn that it was cut at.
 */
export function fork(draft: Draft, change: ChangeOf<'conversation.fork'>): Mark {
  assertFirst(draft);
  const { kind, source: sourceId, at, ...fields } = change;
  const source = draft.oracle.living(sourceId);
  const inherited = copyOfPath(source, at);
  draft.become({ source: sourceId, inherited, lastSequence: lastSequenceOn(inherited) });
  draft.become({ leaf: cutTurn(draft.conversation) });
  setFields(draft, fields);
  const startSequence = draft.conversation.lastSequence + 1;
  return { kind, source: sourceId, at, sourceVersion: source.version, startSequence };
}

function copyOfPath(source: Conversation, at: MessageId): readonly Step[] {
  const message = findMessage(source, at);
  if (!message) return refuse('no_message', { messageId: at });
  assertEnded(source, message);
  const path = pathWithMessage(source, at);
  const last = path.at(-1);
  const next = last?.messages.find((other) => other.sequence > message.sequence);
  if (next) return cutBefore(path, next);
  return stepInherited(source, at) < 0 ? path : withTails(source, path);
}

/** A path is cut only where its turns have ended; a turn has children only when it has ended. */
function assertEnded(source: Conversation, message: Message): void {
  const turn = message.turnId === null ? undefined : ownTurn(source, message.turnId);
  if (turn && !isTerminal(stateOf(turn))) refuse('turn_open', { turnId: turn.turnId, state: stateOf(turn) });
}

/** A cut inside a turn sees the entries stamped before the first message left out. */
function cutBefore(path: readonly Step[], next: Message): readonly Step[] {
  return withLast(path, (last) => ({
    ...last,
    messages: last.messages.filter((message) => message.sequence < next.sequence),
    entries: last.entries.filter((entry) => isBefore(entry.stamp, next.stamp)),
  }));
}

/**
 * At the last message of an inherited turn, what the source (and the forks between) wrote after it before their first
 * turns comes along, so that the fork starts with its source's context; unless messages stand there, which are not part
 * of the cut.
 */
function withTails(source: Conversation, path: readonly Step[]): readonly Step[] {
  const whole = inheritedWhole(source, path.length - 1);
  const tails = whole.slice(path.length);
  return tails.some((step) => step.messages.length > 0) ? path : whole;
}
