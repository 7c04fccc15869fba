import type { ErrorData } from '../core/errors.ts';
import type { Receipt } from '../core/receipt.ts';
import type { SpawnedTarget } from './target.ts';

/** A line that the suite writes to a child process: one question, answered by one line. */
export type ToChild =
  | { readonly id: number; readonly ask: 'open'; readonly target: SpawnedTarget; readonly location: string }
  | { readonly id: number; readonly ask: 'commit'; readonly commit: unknown }
  /** Answers how many feed entries came, once there are as many as asked for. */
  | { readonly id: number; readonly ask: 'watch'; readonly namespace: string; readonly count: number }
  | { readonly id: number; readonly ask: 'close' };

/** What one line of a child says. */
export interface FromChild {
  readonly id: number;
  readonly receipt?: Receipt | undefined;
  readonly versions?: readonly number[] | undefined;
  readonly error?: ErrorData | undefined;
  /** An error that is not ours: the text of it. */
  readonly fault?: string | undefined;
}
