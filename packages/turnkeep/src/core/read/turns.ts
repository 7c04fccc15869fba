import type { TurnState, SiblingReason } from '../change.ts';
import { TurnkeepError } from '../errors.ts';
import type { OperationId, TurnId } from '../ids.ts';
import type { Json } from '../json.ts';
import { afterSeparator, KEYS } from '../keys.ts';
import { unpackOperation } from '../rows.ts';
import type { OperationRow } from '../rows.ts';
import { findInherited, ownTurn, scanPrefix, turnAt, turnPlace } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** The journal row of a client's mutation. */
export interface Operation {
  readonly operationId: OperationId;
  readonly turnId: TurnId;
  readonly status: OperationRow['status'];
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  /** Why it failed, if somebody said so. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

export function readOperation(tree: Tree, bodies: Bodies, operationId: OperationId): Operation | undefined {
  const owner = tree.head.conversationId;
  const value = tree.rows.get(owner, KEYS.operation(operationId));
  if (!value) return undefined;
  const row = unpackOperation(value);
  const resolved = row.resolvedAt;
  const failure =
    resolved === null || row.failure === null
      ? undefined
      : bodies.body({ owner, version: resolved, index: row.failure });
  return {
    operationId,
    turnId: row.turnId,
    status: row.status,
    openedAt: bodies.committedAt(owner, row.openedAt),
    resolvedAt: resolved === null ? null : bodies.committedAt(owner, resolved),
    ...(failure ? { failure: failure as unknown as NonNullable<Operation['failure']> } : {}),
  };
}

/** Where a turn lives in a provider's own history. */
export interface Binding {
  readonly turnId: TurnId;
  readonly history: string;
  readonly cursor: Json;
  readonly capture: 'live' | 'replay';
}

/** The bindings of a turn, one for each history. */
export function readBindings(tree: Tree, bodies: Bodies, turnId: TurnId): readonly Binding[] {
  const owner = tree.head.conversationId;
  return scanPrefix(tree.rows, owner, KEYS.bindingsOf(turnId)).map((row) => {
    const [capture, version, index] = row.value as readonly [Binding['capture'], number, number];
    const body = bodies.body({ owner, version, index }) ?? {};
    return { turnId, history: afterSeparator(row.key), cursor: body['cursor'] ?? null, capture };
  });
}

/** A turn under the same parent. */
export interface Sibling {
  readonly turnId: TurnId;
  readonly ordinal: number;
  readonly why: SiblingReason;
  readonly state: TurnState;
}

/** The own turns under a turn's parent, itself included, by ordinal. */
export function readSiblings(tree: Tree, turnId: TurnId): readonly Sibling[] {
  const owner = tree.head.conversationId;
  const inherited = findInherited(tree, turnId)?.turn;
  const parent = (ownTurn(tree, turnId)?.row ?? inherited)?.parentTurnId;
  if (parent === undefined) return [];
  const own = scanPrefix(tree.rows, owner, KEYS.children(parent)).flatMap((row) => {
    const place = turnPlace(tree.rows, owner, row.value[0] as TurnId);
    const turn = place && turnAt(tree.rows, owner, place[0], place[1]);
    return turn ? [turn] : [];
  });
  const all = inherited ? [inherited, ...own] : own;
  return all.map(({ turnId: id, ordinal, why, state }) => ({ turnId: id, ordinal, why, state }));
}

/** A conversation's head as it was after a version; `invalid_value` if it has no such version. */
export function headAtVersion(
  tree: Tree,
  bodies: Bodies,
  version: number,
  path: string,
): { readonly leaf: TurnId | null; readonly graphRevision: number } {
  assertVersion(tree, version, path);
  const { leaf, graphRevision } = bodies.header(tree.head.conversationId, version);
  return { leaf, graphRevision };
}

/** Throws `invalid_value` unless the conversation has a version of that number. `path` names it in the caller's input. */
export function assertVersion(tree: Tree, version: number, path: string): void {
  const last = tree.head.version;
  if (Number.isInteger(version) && version >= 1 && version <= last) return;
  throw new TurnkeepError('invalid_value', { path, reason: `a whole number from 1 to ${last}` });
}
