import type { Backend } from '../core/backend.ts';

/**
 * A backend as the suite drives it. Third parties write one of these, hand it to `runConformance`, and let the tests of
 * their own framework fail where a result failed.
 */
export interface ConformanceTarget {
  readonly name: string;
  /** True where a store outlives its handles: it is then closed and opened again in every case. */
  readonly durable: boolean;
  /** Makes room for a store that does not exist yet; answers where it is. */
  create(): Promise<string>;
  /**
   * Opens the store of a location, and makes it at the first time. A durable one may be opened several times at once. One
   * that is not durable is opened once, and other ledgers share that backend.
   */
  open(location: string): Promise<Backend>;
  /** Removes the store; every handle was closed before. */
  destroy(location: string): Promise<void>;
  /**
   * True where only one process may write at a time: another one is refused while a handle that writes is open, and cases
   * in which two of them write do not apply.
   */
  readonly oneWriter?: boolean | undefined;
  /** How another process opens the same store; absent where it cannot. */
  readonly spawn?: SpawnedTarget | undefined;
}

/** A module and its export that is the same target: a child process imports it and opens the location there. */
export interface SpawnedTarget {
  /** The module's URL. */
  readonly module: string;
  readonly exportName: string;
}
