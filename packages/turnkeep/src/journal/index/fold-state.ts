import type { Doubt } from '../log/doubts.ts';
import { readWhole, replaceFile } from '../files/files.ts';
import type { FileSystem } from '../files/file-system.ts';
import { LAYOUT } from '../files/layout.ts';
import { LOG_START } from '../log/position.ts';
import type { Position } from '../log/position.ts';
import { seal, unseal } from '../files/sealed.ts';

/** What the file `fold.json` says: which runs are the index, and up to which place of the log. */
export interface FoldState {
  readonly store: string;
  /** Counts the writings of this file. */
  readonly generation: number;
  readonly position: Position;
  /** Names of the runs, newest first. */
  readonly runs: readonly string[];
  /** Counts how often segments were rewritten: who holds one open opens it again. */
  readonly rewrites: number;
  readonly doubts: readonly Doubt[];
  /** Lines up to this number may be lost: a person accepted it. */
  readonly accepted: number;
}

export function emptyFold(store: string): FoldState {
  return { store, generation: 0, position: LOG_START, runs: [], rewrites: 0, doubts: [], accepted: 0 };
}

/** The fold on disk: `undefined` where there is none, `damaged` where it cannot be read or is another store's. */
export function readFold(fs: FileSystem, directory: string, store: string): FoldState | 'damaged' | undefined {
  const bytes = readWhole(fs, `${directory}/${LAYOUT.fold}`);
  if (!bytes) return undefined;
  const state = unseal(bytes) as Partial<FoldState> | undefined;
  // Another sealed file of the store may stand in its place.
  return state?.store === store && state.runs !== undefined ? (state as FoldState) : 'damaged';
}

export function writeFold(fs: FileSystem, directory: string, state: FoldState): Promise<void> {
  return replaceFile(fs, directory, LAYOUT.fold, Buffer.from(seal(state)));
}
