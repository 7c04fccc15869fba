import type { RowValue } from '../backend.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { WHOLE } from '../rows.ts';
import type { TurnRow } from '../rows.ts';
import { entriesOn, entryOn } from '../tree/entries.ts';
import type { Entry } from '../tree/entries.ts';
import { ownTurn, segmentsFrom } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import { hasStarted, isTerminal } from './turn-states.ts';

/**
 * Where a change's entries go, and the path that they hold for. Only the active leaf, or a turn that has not ended, makes
 * entries, and only once it has started; what a fork writes before its first turn goes to the tail of its root.
 */
export class EntryPlace {
  readonly #draft: Draft;
  readonly #branch: number;
  readonly #position: number;

  constructor(draft: Draft, turnId: TurnId | undefined) {
    const turn = turnId === undefined ? leafTurn(draft) : namedTurn(draft, turnId);
    if (turn) assertMakesEntries(draft, turn.row);
    this.#draft = draft;
    this.#branch = turn?.branch ?? 0;
    this.#position = turn?.position ?? 0;
  }

  /** The entry that holds on the path. */
  holding(name: string): Entry | undefined {
    return entryOn(this.#draft.tree, this.#path(), name);
  }

  /** Every entry that holds on the path and whose name starts so. */
  allHolding(start: string): ReadonlyMap<string, Entry> {
    return entriesOn(this.#draft.tree, this.#path(), start);
  }

  write(name: string, value: RowValue): void {
    const { version, index } = this.#draft.stamp;
    if (this.#position === 0) this.#draft.head.rootEntries += 1;
    this.#draft.put(KEYS.entry(this.#branch, name, this.#position, version, index), value);
  }

  path(): ReturnType<typeof segmentsFrom> {
    return this.#path();
  }

  #path(): ReturnType<typeof segmentsFrom> {
    return segmentsFrom(this.#draft.tree, { branch: this.#branch, position: this.#position, sequence: WHOLE });
  }
}

function namedTurn(draft: Draft, turnId: TurnId): OwnTurn {
  const turn = ownTurn(draft.tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  return turn;
}

function leafTurn(draft: Draft): OwnTurn | undefined {
  const { leaf } = draft.head;
  return leaf === null ? undefined : ownTurn(draft.tree, leaf);
}

/** A turn that has not started still sees what its ancestors write; entries that it made before would stand below those. */
function assertMakesEntries(draft: Draft, { turnId, state }: TurnRow): void {
  const over = isTerminal(state) && turnId !== draft.head.leaf;
  if (!hasStarted(state) || over) throw new TurnkeepError('turn_not_running', { turnId, state });
}
