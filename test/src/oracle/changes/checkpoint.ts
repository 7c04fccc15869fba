import type { CheckpointId, JsonObject } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Revision } from '../model.ts';
import { refuse } from '../refusal.ts';

/** Revision 0, only where there is none. Checkpoints belong to their conversation: a fork inherits none. */
export function create(draft: Draft, change: ChangeOf<'checkpoint.create'>): Mark {
  const { kind, type, phase, payload, metadata, parent } = change;
  const checkpointId = change.checkpointId as CheckpointId; // minted beforehand
  const known = revisions(draft, checkpointId);
  if (known.length > 0) refuse('checkpoint_exists', { checkpointId, revision: known.length - 1 });
  if (parent && !revisions(draft, parent.checkpointId)[parent.revision]) {
    refuse('no_checkpoint', { checkpointId: parent.checkpointId });
  }
  const words = { phase, payload, metadata, parent } as unknown as JsonObject;
  const { schemaVersion = null, scope = null } = change;
  set(draft, checkpointId, [{ type, schemaVersion, scope, words, writes: new Map() }]);
  return { kind, checkpointId, revision: 0 };
}

/** From exactly the revision that was read to the next one. */
export function advance(draft: Draft, change: ChangeOf<'checkpoint.advance'>): Mark {
  const { kind, checkpointId, from, phase, payload, metadata } = change;
  const known = revisions(draft, checkpointId);
  const last = known.at(-1);
  if (!last) return refuse('no_checkpoint', { checkpointId });
  const actualRevision = known.length - 1;
  if (actualRevision !== from) refuse('checkpoint_conflict', { checkpointId, expectedRevision: from, actualRevision });
  const words = { phase, payload, metadata } as unknown as JsonObject;
  set(draft, checkpointId, [...known, { ...last, words, writes: new Map() }]);
  return { kind, checkpointId, revision: from + 1 };
}

/** A pending write beside a revision; the same place twice replaces. */
export function write(draft: Draft, change: ChangeOf<'checkpoint.write'>): Mark {
  const { kind, checkpointId, revision, taskPath = '', task, index, channel, value } = change;
  const known = revisions(draft, checkpointId);
  const beside = known[revision];
  if (!beside) return refuse('no_checkpoint', { checkpointId });
  const words = { taskPath, task, index, channel, value } as unknown as JsonObject;
  const writes = withMember(beside.writes, JSON.stringify([taskPath, task, index]), words);
  set(
    draft,
    checkpointId,
    known.map((each, at) => (at === revision ? { ...beside, writes } : each)),
  );
  return { kind, checkpointId, revision, task, index };
}

function revisions(draft: Draft, checkpointId: CheckpointId): readonly Revision[] {
  return draft.conversation.checkpoints.get(checkpointId) ?? [];
}

function set(draft: Draft, checkpointId: CheckpointId, value: readonly Revision[]): void {
  draft.become({ checkpoints: withMember(draft.conversation.checkpoints, checkpointId, value) });
}
