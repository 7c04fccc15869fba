/** Syncs of a process for each turn, and what the store says of its settings after writing. */
export interface SyncCount {
  readonly alone: number;
  readonly together: number;
  readonly says: string;
}

/** Turns one after the other, then so many committers with so many turns each. */
export const COUNTED = { alone: 100, committers: 64, turns: 4 };
