import type { Store } from './store.ts';

/**
 * What the suite checks: S1 to S9 are the clauses of the storage seam (`core/backend.ts`), R1 to R11 what readers are
 * promised on top of it, by `ledger`.
 */
export const CLAUSES = {
  S1: 'atomicity',
  S2: 'order',
  S3: 'durability and visibility',
  S4: 'idempotency',
  S5: 'fencing and preconditions',
  S6: 'isolation',
  S7: 'limits and values',
  S8: 'errors',
  S9: 'neighbours',
  R1: 'windows',
  R2: 'pages and paths',
  R3: 'lists',
  R4: 'search',
  R5: 'feeds',
  R6: 'erasure',
  R7: 'redaction',
  R8: 'forks',
  R9: 'turns of agents',
  R10: 'tiers',
  R11: 'attachments',
} as const;
export type Clause = keyof typeof CLAUSES;

/** Opens the case's store. */
export type Open = () => Promise<Store>;

export interface ConformanceCase {
  readonly clause: Clause;
  /** What holds, as a sentence; unique within its clause. */
  readonly name: string;
  /** Throws where the clause does not hold. */
  readonly run: (open: Open) => Promise<void>;
  /** What the target must be able to do, beyond being a backend. */
  readonly needs?: 'durable' | 'processes' | 'writing_processes' | undefined;
  /** True where the case needs a store that nobody else writes to. */
  readonly alone?: boolean | undefined;
}

/** A case whose store is opened before it runs. */
export function given(
  clause: Clause,
  name: string,
  run: (store: Store) => Promise<void>,
  more: Pick<ConformanceCase, 'needs' | 'alone'> = {},
): ConformanceCase {
  return { clause, name, run: async (open) => run(await open()), ...more };
}
