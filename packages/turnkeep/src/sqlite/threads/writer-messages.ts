import type { Envelope } from '../../core/backend.ts';
import { errorFromData, isTurnkeepError } from '../../core/errors.ts';
import type { ErrorData } from '../../core/errors.ts';
import type { BlobCall, BlobStep } from '../store/blobs.ts';
import type { CollectStep } from '../store/collect.ts';
import type { StoreFile } from '../store/store-file.ts';

/** What the writer thread is started with. */
export interface WriterStart {
  readonly file: StoreFile;
  /** The memory of its bell. */
  readonly bell: SharedArrayBuffer;
}

/** A commit on its way; `job` is its number in this process. */
export interface CommitJob {
  readonly job: number;
  readonly envelope: Envelope;
}

// Commits and receipts cross as JSON, which they are: a structured clone takes twice the time of both threads.

export type ToWriter =
  /** Each a {@link CommitJob}. */
  | { readonly kind: 'commit'; readonly jobs: readonly string[] }
  /** Withdraws a commit that no group has taken yet. */
  | { readonly kind: 'abort'; readonly job: number }
  /** One step of collecting what erased conversations of a namespace, those after an id, still hold. */
  | { readonly kind: 'collect'; readonly job: number; readonly namespace: string; readonly after: string }
  | { readonly kind: 'blob'; readonly job: number; readonly call: BlobCall }
  /** Moves all that the WAL holds into the file, and leaves no byte in the WAL. */
  | { readonly kind: 'truncate'; readonly job: number }
  /** Moves what the WAL holds into the file. */
  | { readonly kind: 'checkpoint'; readonly job: number }
  | { readonly kind: 'close' };

/** What a job is answered: a receipt (JSON), what a step of maintenance did, or why it failed. */
export type Outcome =
  | { readonly job: number; readonly receipt: string; readonly replayed: boolean }
  | { readonly job: number; readonly step: CollectStep }
  | { readonly job: number; readonly blob: BlobStep }
  | { readonly job: number; readonly error: ErrorData }
  /** A mistake of our own crosses as text. */
  | { readonly job: number; readonly fault: string };

export type FromWriter =
  | { readonly kind: 'open'; readonly wal: boolean; readonly storeId: string }
  | { readonly kind: 'refused'; readonly error?: ErrorData | undefined; readonly fault?: string | undefined }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'closed' };

/** The outcome of work that failed. */
export function failed(job: number, error: unknown): Outcome {
  if (isTurnkeepError(error)) return { job, error: error.toData() };
  return { job, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** The error of an outcome, as it was thrown on the other side. */
export function errorOf(outcome: { readonly error: ErrorData } | { readonly fault: string }): Error {
  return 'error' in outcome ? errorFromData(outcome.error) : new Error(outcome.fault);
}
