import type { Change, Expect } from '../core/change.ts';
import type { ErrorCode, ErrorDetails } from '../core/errors.ts';
import type { Fence } from '../core/message.ts';
import type { Scene } from './scenes.ts';

/** A commit that a rule refuses, and what exactly the refusal says. */
export type Rejection = { readonly [Code in ErrorCode]: RejectionOf<Code> }[ErrorCode];

export interface RejectionOf<Code extends ErrorCode> {
  readonly code: Code;
  readonly when: string;
  readonly scene: Scene;
  /** Commits between the scene and the refused one. */
  readonly before?:
    | readonly { readonly changes: readonly Change[]; readonly fence?: Fence; readonly expect?: Expect }[]
    | undefined;
  readonly changes: readonly unknown[];
  readonly expect?: unknown;
  readonly fence?: Fence | undefined;
  /** All details; of `invalid_value` the path alone counts, its reason is for people. */
  readonly details: Code extends 'invalid_value' ? { readonly path: string } : ErrorDetails[Code];
}
