import { resolve } from 'node:path';
import { HOT_MESSAGES } from '../core/cool.ts';
import type { Sha256 } from '../core/digest.ts';
import { TurnkeepError } from '../core/errors.ts';
import { sha256 } from '../platform/hash.ts';
import { nonce } from '../platform/random.ts';
import { MarkWriter } from './log/durable-mark.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { JournalBackend } from './journal-backend.ts';
import { LAYOUT } from './files/layout.ts';
import { Lock } from './lock.ts';
import { LogWriter } from './log/log-writer.ts';
import { FORMAT, findManifest, writeManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { realProcesses } from '../platform/processes.ts';
import type { Processes } from '../platform/processes.ts';
import { Reader } from './reader.ts';
import { recover } from './recovery.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import type { JournalSettings } from './settings.ts';
import { storeError } from './store-error.ts';
import { storeParts } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';

export interface JournalOptions {
  /** Digests of records and chains; the system's SHA-256 when absent. */
  readonly sha256?: Sha256 | undefined;
  /** Reads beside a writer, without its lock, and changes nothing. */
  readonly readOnly?: boolean | undefined;
  readonly settings?: Partial<JournalSettings> | undefined;
  /** Newest messages of a conversation that stay hot; 512 by default. Older ones cool by and by. */
  readonly hotMessages?: number | undefined;
  /** For tests: a file system that fails, and processes that die. */
  readonly fileSystem?: FileSystem | undefined;
  readonly processes?: Processes | undefined;
}

interface Surroundings {
  readonly fs: FileSystem;
  readonly directory: string;
  readonly processes: Processes;
  readonly settings: JournalSettings;
  readonly hotMessages: number;
}

/**
 * Opens the journal in a directory, which is made where there is none. Another program's directory is refused
 * (`store_foreign`), a newer format too (`store_newer`), both untouched; so is a second writer (`store_locked`).
 */
export async function openJournal(directory: string, options: JournalOptions = {}): Promise<JournalBackend> {
  const surroundings = {
    fs: options.fileSystem ?? realFileSystem,
    directory: resolve(directory),
    processes: options.processes ?? realProcesses,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    hotMessages: options.hotMessages ?? HOT_MESSAGES,
  };
  const digest = options.sha256 ?? sha256;
  try {
    return options.readOnly === true ? await openToRead(surroundings, digest) : await openToWrite(surroundings, digest);
  } catch (error) {
    throw storeError(error, surroundings.directory);
  }
}

async function openToRead(
  { fs, directory, processes, settings }: Surroundings,
  digest: Sha256,
): Promise<JournalBackend> {
  const found = findManifest(fs, directory);
  if (!found) throw new TurnkeepError('store_unavailable', { place: directory, reason: 'there is no journal' });
  const parts = storeParts({ fs, directory, store: found.manifest.store, settings, sha256: digest });
  const reader = new Reader(parts, processes.self().boot);
  try {
    await reader.refresh();
  } catch (error) {
    closeFiles(parts);
    throw error;
  }
  return new JournalBackend(parts, digest, processes, reader);
}

async function openToWrite(surroundings: Surroundings, digest: Sha256): Promise<JournalBackend> {
  const { fs, directory, processes } = surroundings;
  findManifest(fs, directory);
  if (!fs.list(directory)) fs.makeDirectory(directory);
  const lock = Lock.take(fs, directory, processes, nonce());
  try {
    return await openLocked(surroundings, lock, digest);
  } catch (error) {
    // What a sync that failed has left is not to be trusted by the next writer either.
    lock.releaseUnclean();
    throw error;
  }
}

async function openLocked(surroundings: Surroundings, lock: Lock, digest: Sha256): Promise<JournalBackend> {
  const { fs, directory, settings } = surroundings;
  const manifest = await manifestOf(fs, directory);
  const parts = storeParts({ fs, directory, store: manifest.store, settings, sha256: digest, lock });
  try {
    return await openParts(parts, surroundings, lock, digest);
  } catch (error) {
    await parts.folds.pause();
    await parts.background.close();
    closeFiles(parts);
    throw error;
  }
}

async function openParts(
  parts: StoreParts,
  { directory, processes, hotMessages }: Surroundings,
  lock: Lock,
  digest: Sha256,
): Promise<JournalBackend> {
  await makeDirectories(parts);
  const end = await recover(parts, lock.foundUnclean);
  const { fs, store } = parts;
  const mark = new MarkWriter(fs, directory, store, processes.self().boot);
  try {
    mark.write(end, parts.folds.state.generation);
    await mark.sync();
    await fs.syncDirectory(directory);
    lock.settle();
  } catch (error) {
    mark.close();
    throw error;
  }
  const writing = { lock, mark, log: new LogWriter(parts, mark, end), hotMessages };
  const backend = new JournalBackend(parts, digest, processes, writing);
  parts.folds.maintain();
  return backend;
}

/** Of a store whose opening failed. */
function closeFiles({ index, segments }: StoreParts): void {
  index.close();
  segments.forget();
}

async function manifestOf(fs: FileSystem, directory: string): Promise<Manifest> {
  const found = findManifest(fs, directory);
  if (!found) return create(fs, directory);
  const segments = fs.list(`${directory}/${LAYOUT.segments}`) ?? [];
  // A start that a crash cut short is finished; later a copy that is missing is damage, and reported.
  if (found.damaged.length > 0 && segments.length === 0) await writeManifest(fs, directory, found.manifest);
  return found.manifest;
}

async function create(fs: FileSystem, directory: string): Promise<Manifest> {
  const manifest = { format: FORMAT, store: nonce() };
  await fs.syncDirectory(resolve(directory, '..'));
  await writeManifest(fs, directory, manifest);
  return manifest;
}

async function makeDirectories({ fs, directory }: StoreParts): Promise<void> {
  for (const name of [LAYOUT.segments, LAYOUT.runs]) {
    const path = `${directory}/${name}`;
    if (!fs.list(path)) fs.makeDirectory(path);
  }
  await fs.syncDirectory(directory);
}
