import { z } from 'zod';
import { TurnkeepError } from '../errors.ts';
import { KEYS } from '../keys.ts';
import { id, json } from '../shapes.ts';
import { findInherited, ownTurn } from '../tree/path.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';

/** One binding for each turn and history; a `live` capture is never overwritten, a `replay` one may be. */
export const bindingSave: Rule<'binding.save'> = {
  shape: z.strictObject({
    kind: z.literal('binding.save'),
    turnId: id,
    history: id,
    cursor: json,
    capture: z.enum(['live', 'replay']),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, history, cursor, capture } = change;
    if (!ownTurn(draft.tree, turnId) && !findInherited(draft.tree, turnId))
      throw new TurnkeepError('no_turn', { turnId });
    const key = KEYS.binding(turnId, history);
    if (draft.get(key)?.[0] === 'live') throw new TurnkeepError('binding_live', { turnId, history });
    const record = draft.addRecord({ cursor }, `${path}.cursor`);
    draft.put(key, [capture, draft.version, record]);
    return { kind, turnId, history, capture, record };
  },
  leaves: (left, { turnId, history }) =>
    void left.here(KEYS.binding(turnId, history), `binding ${history} of turn ${turnId}`),
};
