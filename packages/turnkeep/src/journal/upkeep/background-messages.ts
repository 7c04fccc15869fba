import { errorFromData, isTurnkeepError } from '../../core/errors.ts';
import type { ErrorData } from '../../core/errors.ts';
import type { NewRun, Removed, RunSlice } from './background.ts';
import type { FilledStretch } from '../filters/filter-file.ts';
import { errorCode } from '../files/file-system.ts';
import type { Gap } from '../filters/filters.ts';
import { IndexDamage } from '../store-error.ts';

/** What the background thread is started with. */
export interface BackgroundStart {
  readonly directory: string;
  readonly store: string;
  readonly filterBytes: number;
  /** The name of the writer's lock: nothing is put under its name once that is gone. */
  readonly lock?: string | undefined;
}

export type BackgroundCall =
  /** The slices of the run come after it, and then their end, whatever becomes of them. */
  | { readonly kind: 'write'; readonly run: NewRun }
  | { readonly kind: 'merge'; readonly run: NewRun; readonly inputs: readonly string[]; readonly removed: Removed }
  | { readonly kind: 'fill'; readonly gap: Gap; readonly most: number };

/** `id` numbers the calls of a thread. */
export type ToBackground =
  | { readonly kind: 'call'; readonly id: number; readonly call: BackgroundCall }
  | { readonly kind: 'slice'; readonly id: number; readonly slice: RunSlice }
  /** `thrown` where no more slices can be had: then there is no run. */
  | { readonly kind: 'end'; readonly id: number; readonly thrown?: Thrown | undefined };

export type FromBackground =
  | { readonly kind: 'done'; readonly id: number; readonly filled: readonly FilledStretch[] }
  | { readonly kind: 'failed'; readonly id: number; readonly thrown: Thrown };

/** An error on its way: what crosses between threads by itself loses its class and its code. */
export type Thrown =
  | { readonly kind: 'error'; readonly error: ErrorData }
  | { readonly kind: 'damage'; readonly place: string; readonly reason: string }
  | { readonly kind: 'other'; readonly message: string; readonly code?: string | undefined };

export function thrownOf(error: unknown): Thrown {
  if (isTurnkeepError(error)) return { kind: 'error', error: error.toData() };
  if (error instanceof IndexDamage) return { kind: 'damage', place: error.place, reason: error.reason };
  return { kind: 'other', message: error instanceof Error ? error.message : String(error), code: errorCode(error) };
}

export function errorOf(thrown: Thrown): Error {
  if (thrown.kind === 'error') return errorFromData(thrown.error);
  if (thrown.kind === 'damage') return new IndexDamage(thrown.place, thrown.reason);
  const error = new Error(thrown.message);
  return thrown.code === undefined ? error : Object.assign(error, { code: thrown.code });
}
