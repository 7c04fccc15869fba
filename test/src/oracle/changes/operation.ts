import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Operation } from '../model.ts';
import { ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { hasStarted, isTerminal, stateOf } from '../turn-states.ts';
import { move } from './turn.ts';

/** Ends an operation, once, and moves its turn with it. A later writer is told so and changes nothing. */
export function resolve(draft: Draft, change: ChangeOf<'operation.resolve'>): Mark {
  const { kind, operationId, outcome } = change;
  const operation = draft.conversation.operations.get(operationId);
  if (!operation) return refuse('no_operation', { operationId });
  if (operation.status !== 'open') return refuse('operation_resolved', { operationId, status: operation.status });
  const { turnId } = operation;
  const turn = ownTurn(draft.conversation, turnId);
  const { status } = outcome;
  if (turn) draft.requireFence(turn);
  if (turn && status === 'failed' && !isTerminal(stateOf(turn))) move(draft, turn, 'failed');
  if (turn && status === 'succeeded' && !hasStarted(stateOf(turn))) move(draft, turn, 'running');
  close(
    draft,
    operation,
    status,
    outcome.status === 'failed' ? { code: outcome.code, message: outcome.message } : null,
  );
  return { kind, operationId, status, turnId };
}

function close(draft: Draft, operation: Operation, status: Operation['status'], failure: Operation['failure']): void {
  const { operations, openOperation } = draft.conversation;
  draft.become({
    operations: withMember(operations, operation.operationId, { ...operation, status, failure }),
    openOperation: openOperation === operation.operationId ? null : openOperation,
  });
}

/** After each commit: an operation whose turn runs has succeeded; one whose turn ended without running has failed. */
export function settle(draft: Draft): void {
  const { openOperation, operations } = draft.conversation;
  const operation = openOperation === null ? undefined : operations.get(openOperation);
  const turn = operation && ownTurn(draft.conversation, operation.turnId);
  if (!turn || !hasStarted(stateOf(turn))) return;
  const failed = stateOf(turn) === 'failed' || stateOf(turn) === 'cancelled';
  close(draft, operation, failed ? 'failed' : 'succeeded', null);
}
