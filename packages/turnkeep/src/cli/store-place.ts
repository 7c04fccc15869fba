import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { TurnkeepError } from '../core/errors.ts';
import type { Environment } from './output.ts';

const SQLITE = 'sqlite:';
const IN_FILES = [SQLITE, 'journal:'];
const PRIVATE_FOLDER = 0o700;

/** Where a store is, and whether the user named it. */
export interface StorePlace {
  readonly url: string;
  readonly isDefault: boolean;
  /** What named it, as a person wrote it. */
  readonly namedBy: '--store' | '$TURNKEEP_STORE';
}

/** The store to use: `--store`, else `TURNKEEP_STORE`, else a file in the user's data folder. */
export function storePlace(option: string | undefined, env: Environment): StorePlace {
  const namedBy = option === undefined ? '$TURNKEEP_STORE' : '--store';
  const named = option ?? (env['TURNKEEP_STORE'] || undefined);
  return named === undefined
    ? { url: SQLITE + join(dataFolder(env), 'turnkeep', 'turnkeep.db'), isDefault: true, namedBy }
    : { url: named, isDefault: false, namedBy };
}

/** `$XDG_DATA_HOME`, or `~/.local/share`; a relative one is ignored, as the XDG specification asks. */
function dataFolder(env: Environment): string {
  const configured = env['XDG_DATA_HOME'];
  return configured?.startsWith('/') ? configured : join(env['HOME'] || homedir(), '.local', 'share');
}

/** Makes the folder of the default store, for its user alone. A folder that the user names must be there. */
export function prepareFolder(place: StorePlace): void {
  if (!place.isDefault) return;
  const folder = dirname(place.url.slice(SQLITE.length));
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  } catch (error) {
    throw new TurnkeepError('store_unavailable', { place: folder, reason: (error as Error).message }, { cause: error });
  }
}

/** Refuses a store that is not there: a command that only reads must not make an empty one of a slip of the pen. */
export function assertStoreExists(place: StorePlace): void {
  const scheme = IN_FILES.find((known) => place.url.startsWith(known));
  const file = place.url.slice(scheme?.length ?? place.url.length);
  if (file === '') return;
  try {
    statSync(file);
  } catch (error) {
    throw new TurnkeepError('store_unavailable', {
      place: file,
      reason: whyMissing(place, error as NodeJS.ErrnoException),
    });
  }
}

function whyMissing({ isDefault }: StorePlace, { code, message }: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return message;
  return isDefault ? 'there is no store yet; turnkeep import makes one' : 'there is no such store';
}
