import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { OperationId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { packOperation, unpackOperation } from '../rows.ts';
import { code, id, shortText } from '../shapes.ts';
import { ownTurn } from '../tree/path.ts';
import { requireFence } from './attempt.ts';
import type { LeftRows } from './left-rows.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { advance } from './turn.ts';
import { hasStarted, isTerminal } from './turn-states.ts';

/**
 * Ends an operation, once: `open → succeeded | failed`. Its turn moves with it: to `running` if it has not started, to
 * `failed` if it has not ended. A later writer is refused and changes nothing.
 */
export const operationResolve: Rule<'operation.resolve'> = {
  shape: z.strictObject({
    kind: z.literal('operation.resolve'),
    operationId: id,
    outcome: z.union([
      z.strictObject({ status: z.literal('succeeded') }),
      z.strictObject({ status: z.literal('failed'), code, message: shortText }),
    ]),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, operationId, outcome } = change;
    const value = draft.get(KEYS.operation(operationId));
    if (!value) throw new TurnkeepError('no_operation', { operationId });
    const row = unpackOperation(value);
    if (row.status !== 'open') throw new TurnkeepError('operation_resolved', { operationId, status: row.status });
    const turn = ownTurn(draft.tree, row.turnId);
    assert(turn, 'an operation has its turn');
    const failed = outcome.status === 'failed';
    requireFence(draft, turn.row, path);
    if (failed && !isTerminal(turn.row.state)) advance(draft, turn, 'failed');
    if (!failed && !hasStarted(turn.row.state)) advance(draft, turn, 'running');
    const record = failed
      ? draft.addRecord({ code: outcome.code, message: outcome.message }, `${path}.outcome`)
      : undefined;
    close(draft, operationId, outcome.status, record ?? null);
    const event = { kind, operationId, status: outcome.status, turnId: row.turnId };
    return record === undefined ? event : { ...event, record };
  },
  leaves: (left, { operationId, turnId }) => leavesOperation(left, operationId, turnId),
};

export function leavesOperation(left: LeftRows, operationId: OperationId, turnId: TurnId): void {
  left.here(KEYS.operation(operationId), `operation ${operationId}`, ([at]) => at === turnId);
}

function close(draft: Draft, operationId: string, status: 'succeeded' | 'failed', failure: number | null): void {
  const value = draft.get(KEYS.operation(operationId));
  assert(value, 'an open operation has a row');
  const row = { ...unpackOperation(value), status, resolvedAt: draft.version, failure };
  draft.put(KEYS.operation(operationId), packOperation(row));
  if (draft.head.openOperation === operationId) draft.head.openOperation = null;
}

/**
 * After a commit's changes, an operation whose turn runs has succeeded, and one whose turn ended without running has failed,
 * even if nobody said so. No operation outlives its question.
 */
export function settleOpenOperation(draft: Draft): void {
  const { openOperation } = draft.head;
  if (openOperation === null) return;
  const value = draft.get(KEYS.operation(openOperation));
  assert(value, 'an open operation has a row');
  const turn = ownTurn(draft.tree, unpackOperation(value).turnId);
  if (!turn || !hasStarted(turn.row.state)) return;
  const failed = turn.row.state === 'failed' || turn.row.state === 'cancelled';
  close(draft, openOperation, failed ? 'failed' : 'succeeded', null);
}
