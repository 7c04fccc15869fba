import type { ChangeEvent } from 'turnkeep/core';
import type { Conversation } from './model.ts';
import { findMessage, inheritsTurns, ownTurn, stepInherited } from './path.ts';
import type { Oracle } from './oracle.ts';
import type { Played } from './world.ts';

/** How often each hard case came up, and each refusal. */
export type Coverage = Map<string, number>;

export function count(coverage: Coverage, what: string, times: number = 1): void {
  coverage.set(what, (coverage.get(what) ?? 0) + times);
}

/** Counts what a commit was an example of. */
export function countPlayed(coverage: Coverage, oracle: Oracle, { commit, outcome }: Played): void {
  if (outcome.refused !== undefined) {
    count(coverage, `refused: ${outcome.refused}`);
    if (commit.changes.length > 1) count(coverage, 'a change refused, and its whole commit with it');
    return;
  }
  if (outcome.replayed === true) return countReplay(coverage, oracle, commit);
  if (commit.changes.length > 1) count(coverage, 'several changes in one commit');
  const conversation = oracle.find(commit.conversationId);
  const { events } = outcome as unknown as { readonly events: readonly ChangeEvent[] };
  for (const event of events) {
    count(coverage, `done: ${event.kind}`);
    if (conversation && !('erasedAt' in conversation))
      for (const what of casesOf(conversation, event, oracle)) count(coverage, what);
  }
}

function countReplay(coverage: Coverage, oracle: Oracle, commit: Played['commit']): void {
  count(coverage, 'replay');
  const [first] = commit.changes;
  const known = oracle.find(commit.conversationId);
  if (first?.kind === 'turn.submit' && known && !('erasedAt' in known) && !known.versions.has(commit.commitId))
    count(coverage, 'replay of an operation');
  const source = first?.kind === 'conversation.fork' ? oracle.find(first.source) : undefined;
  if (source && 'erasedAt' in source) count(coverage, 'replay of a fork whose source was erased');
}

/** Counts an erasure by the relatives that it leaves; to be called before it. */
export function countErasure(coverage: Coverage, oracle: Oracle, erased: Conversation): void {
  const forks = oracle.everyLiving().filter((one) => one.source === erased.conversationId);
  if (erased.source !== null && forks.length > 0) count(coverage, 'erasure between a source and a fork');
  else if (forks.length > 0) count(coverage, 'erasure of a source');
  else count(coverage, 'erasure of a leaf of the family');
}

function casesOf(conversation: Conversation, event: ChangeEvent, oracle: Oracle): readonly string[] {
  switch (event.kind) {
    case 'message.append':
      return casesOfMessage(conversation, event);
    case 'turn.submit':
    case 'turn.record':
      return casesOfTurn(conversation, event);
    case 'conversation.fork':
      return casesOfFork(conversation, event, oracle);
    case 'message.redact':
      return stepInherited(conversation, event.messageId) >= 0 ? ['redaction of an inherited message'] : [];
    case 'leaf.select':
      return conversation.leaf !== null && !ownTurn(conversation, conversation.leaf)
        ? ['the leaf back at the cut']
        : [];
    case 'state.update':
    case 'task.create':
    case 'task.transition':
    case 'commitment.add':
    case 'summary.commit':
      return conversation.source !== null && conversation.entries.at(-1)?.turnId === null
        ? ['entry in the tail of a fork']
        : [];
    default:
      return [];
  }
}

function casesOfMessage(conversation: Conversation, event: ChangeEvent<'message.append'>): readonly string[] {
  if ('noop' in event) return ['the same message again'];
  const message = findMessage(conversation, event.messageId);
  if (!message || message.answers.length === 0) return [];
  if (message.late) return ['late result'];
  const together = conversation.messages.filter((one) => one.turnId === message.turnId).flatMap((one) => one.calls);
  return together.includes(message.answers[0] ?? '') ? ['result in place'] : ['result of an inherited or cut-off call'];
}

function casesOfTurn(conversation: Conversation, event: ChangeEvent<'turn.submit' | 'turn.record'>): readonly string[] {
  const turn = ownTurn(conversation, event.turnId);
  if (!turn) return [];
  const { turnId, cut } = turn.under;
  const cases = turn.why === 'regenerate' ? ['regeneration'] : [];
  if (cut && stepInherited(conversation, cut.messageId) >= 0) cases.push('rewind into an inherited turn');
  else if (cut) cases.push(cut.firstLeftOut ? 'rewind mid-turn' : 'rewind to the last message of a turn');
  else if (turnId === null && inheritsTurns(conversation)) cases.push('a new root in a fork');
  else if (turnId !== null && !ownTurn(conversation, turnId)) cases.push('turn under an inherited turn');
  return cases;
}

function casesOfFork(fork: Conversation, event: ChangeEvent<'conversation.fork'>, oracle: Oracle): readonly string[] {
  const source = oracle.find(fork.source ?? '');
  if (!source || 'erasedAt' in source) return [];
  const inherited = stepInherited(source, event.at) >= 0;
  const last = fork.inherited.at(-1);
  const tail = fork.inherited.length > 1 && last?.turn === null && last.entries.length > 0;
  return [
    source.source === null
      ? 'fork of an original'
      : inherited
        ? 'fork at an inherited message'
        : 'fork of a fork at its own message',
    ...(tail ? ['fork that brings a tail along'] : []),
  ];
}

export function tableOf(coverage: Coverage): string {
  const lines = [...coverage].sort(([left], [right]) => (left < right ? -1 : 1));
  return lines.map(([what, times]) => `${String(times).padStart(9)}  ${what}`).join('\n');
}
