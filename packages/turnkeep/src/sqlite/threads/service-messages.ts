import type { SearchCandidates, SearchQuery, StoreFault } from '../../core/backend.ts';
import type { ErrorData } from '../../core/errors.ts';
import type { FileIdentities } from '../store/own-files.ts';
import type { StoreFile } from '../store/store-file.ts';

/** What the service thread is started with. */
export interface ServiceStart {
  readonly file: StoreFile;
  readonly storeId: string;
  readonly files: FileIdentities;
  /** Newest messages of a conversation that stay hot. */
  readonly hotMessages: number;
}

/** What takes long, each kind with what it is asked and what it answers. */
export interface Services {
  readonly search: {
    readonly ask: { readonly namespace: string; readonly query: SearchQuery };
    readonly answer: SearchCandidates;
  };
  readonly verify: { readonly ask: undefined; readonly answer: readonly StoreFault[] };
  /** Brings the search index up to the log. */
  readonly catch_up: { readonly ask: undefined; readonly answer: undefined };
  /** Drops the search index and builds it from the log. */
  readonly rebuild: { readonly ask: undefined; readonly answer: undefined };
  /** Cools what may cool of a namespace; answers how many commits moved, and says so meanwhile. */
  readonly cool: {
    readonly ask: { readonly namespace: string; readonly hotMessages?: number | undefined };
    readonly answer: number;
  };
  /** Removes words that went from the search index, and from its files. */
  readonly scrub: { readonly ask: undefined; readonly answer: undefined };
}

export type ServiceKind = keyof Services;

export type ServiceCall = {
  readonly [Kind in ServiceKind]: { readonly kind: Kind; readonly ask: Services[Kind]['ask'] };
}[ServiceKind];

export type ToService =
  | { readonly kind: 'call'; readonly id: number; readonly call: ServiceCall }
  | { readonly kind: 'cancel'; readonly id: number }
  /** About so many pages were written to the WAL. */
  | { readonly kind: 'wrote'; readonly pages: number }
  | { readonly kind: 'close' };

export type FromService =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly error: { readonly error: ErrorData } | { readonly fault: string };
    }
  /** How far a call has come. */
  | { readonly kind: 'progress'; readonly id: number; readonly done: number }
  /** The WAL is long, and nearly all of it is in the file: the writer can begin it anew. */
  | { readonly kind: 'wal_long' };
