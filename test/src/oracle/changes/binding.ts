import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import { findTurn } from '../path.ts';
import { refuse } from '../refusal.ts';

/** One binding for each turn and history; a `live` capture is never overwritten. */
export function save(draft: Draft, change: ChangeOf<'binding.save'>): Mark {
  const { kind, turnId, history, cursor, capture } = change;
  if (!findTurn(draft.conversation, turnId)) refuse('no_turn', { turnId });
  const { bindings } = draft.conversation;
  const key = JSON.stringify([turnId, history]);
  if (bindings.get(key)?.capture === 'live') refuse('binding_live', { turnId, history });
  draft.become({ bindings: withMember(bindings, key, { capture, cursor }) });
  return { kind, turnId, history, capture };
}
