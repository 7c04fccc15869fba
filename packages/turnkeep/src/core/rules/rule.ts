import type { z } from 'zod';
import type { ChangeKind, ChangeOf } from '../change.ts';
import type { Draft } from '../draft.ts';
import type { ChangeEvent } from '../event.ts';
import type { RecordRef } from '../head.ts';
import type { JsonObject } from '../json.ts';
import type { Tree } from '../tree/path.ts';
import type { LeftRows } from './left-rows.ts';

/** Makes an id from the commit's id and a position, so that a call that is sent again makes the same id. */
export type Mint = (prefix: string) => string;

/** A kind of change: its shape, the ids that it mints, and what it does. */
export interface Rule<Kind extends ChangeKind = ChangeKind> {
  readonly shape: z.ZodType<ChangeOf<Kind>>;
  /** The change with the ids that the caller left out; absent if a kind mints none. */
  readonly complete?: ((change: ChangeOf<Kind>, mint: Mint) => ChangeOf<Kind>) | undefined;
  /** The most records that the change can make, besides that of its `words`. */
  readonly records: (change: ChangeOf<Kind>) => number;
  /** The words of its record, if the change alone determines them: they are sealed before anything is decided. */
  readonly words?: ((change: ChangeOf<Kind>) => JsonObject) | undefined;
  /**
   * Checks the change against the draft, writes its effect there, and returns its event. A refusal is thrown. `path`
   * names the change in the caller's commit.
   */
  readonly apply: (draft: Draft, change: ChangeOf<Kind>, path: string) => ChangeEvent;
  /**
   * Looks for the rows that the change left, by its event and its index in the commit, so that `verify` can say which one
   * is lost; `untold` if the event leads to none.
   */
  readonly leaves: (left: LeftRows, event: ChangeEvent<Kind>, index: number) => void;
  /**
   * For a kind that may repeat words that are already stored, so that its event has no record: finds their record.
   * The commit's fingerprint is salted with it (`Draft.saltWith`).
   */
  readonly saidBefore?: ((tree: Tree, event: ChangeEvent<Kind>) => RecordRef | undefined) | undefined;
}

export function one(): number {
  return 1;
}

export function none(): number {
  return 0;
}

/** The `leaves` of a kind whose event leads to no rows: the head's sum of rows alone tells that one of them is lost. */
export function untold(): void {}
