import type { Commit, Expect } from 'turnkeep/core';
import type { Shelving } from './attachments.ts';
import type { Conversation, Tombstone } from './model.ts';
import { lastSequenceOn, pathTo } from './path.ts';

/** One commit of a random history, with all that it takes to send it again. */
export interface Item {
  readonly commit: Commit;
  /** The clock's time; it may go back. */
  readonly now: number;
  /** True where the caller expects what is: a trace that lost other commits expects what is then. */
  readonly sawIt: boolean;
  /** Before it the store is cooled, but so many of each conversation's newest messages. */
  readonly cool?: number | undefined;
  /** Before it a file is put, or what nothing refers to is collected. */
  readonly shelving?: Shelving | undefined;
}

/** The item's commit, expecting what is where that is what it did. */
export function commitOf(item: Item, known: Conversation | Tombstone | undefined): Commit {
  const { commit } = item;
  if (!item.sawIt || !commit.expect || !known || 'erasedAt' in known) return commit;
  return { ...commit, expect: current(commit.expect, known) };
}

function current(expect: Expect, conversation: Conversation): Expect {
  const { version, graphRevision, leaf } = conversation;
  const fresh: { -readonly [Field in keyof Expect]: Expect[Field] } = {};
  if (expect.version !== undefined) fresh.version = version;
  if (expect.graphRevision !== undefined) fresh.graphRevision = graphRevision;
  if (expect.leaf !== undefined) fresh.leaf = leaf;
  if (expect.transcript) fresh.transcript = { turn: leaf, lastSequence: lastSequenceOn(pathTo(conversation, leaf)) };
  return fresh;
}

/** The commit as one line, without what goes without saying. */
export function lineOf({ commit, now, cool, shelving }: Item): string {
  const { namespace: _namespace, conversationId, commitId, expect, fence, changes } = commit;
  const rest = {
    ...(cool === undefined ? {} : { cool }),
    ...(shelving ? { shelving } : {}),
    ...(expect ? { expect } : {}),
    ...(fence ? { fence } : {}),
  };
  return JSON.stringify({ conversationId, commitId, now, ...rest, changes });
}
