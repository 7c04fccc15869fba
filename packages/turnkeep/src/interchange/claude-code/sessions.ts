import { basename, dirname, join, normalize, resolve } from 'node:path';
import type { JsonlOptions } from '../jsonl.ts';
import { JsonlReader } from '../jsonl.ts';
import { filesIn, listFiles, openFile } from '../../platform/byte-source.ts';
import type { ByteSource, FoundFiles } from '../../platform/byte-source.ts';
import type { LeftFile } from '../report.ts';
import { isObject, textOf } from './row.ts';

/** A file to import: a session's, or one of its sub-agents'. */
export interface SessionPath {
  readonly path: string;
  /** The file's name without its ending. */
  readonly stem: string;
  /** The agent's id, where the file is a sub-agent's. */
  readonly agent: string | undefined;
}

export interface FoundSessions {
  /** Each session is followed by its sub-agents. */
  readonly sessions: readonly SessionPath[];
  /** What is no session file. */
  readonly ignored: readonly LeftFile[];
  /** Files and folders that could not be read. */
  readonly unread: readonly LeftFile[];
}

const AGENT = /^agent-(.+)$/;

const LINK = 'a link, which is not followed';
const ODD = 'neither a file nor a folder: what a pipe gives is imported as a stream';

/**
 * Finds session files at paths, in folders at any depth, and with each session its sub-agents' files: those in its
 * `subagents` folder, and those beside it (an older layout) that name it in their first row.
 */
export async function findSessions(paths: readonly string[]): Promise<FoundSessions> {
  // By the whole path: what is named twice, or lies in a folder that is named too, is one file.
  const found = new Map<string, SessionPath>();
  const add = (file: string) => found.set(resolve(file), found.get(resolve(file)) ?? sessionPath(file));
  const ignored: LeftFile[] = [];
  const unread: LeftFile[] = [];
  const agents = new AgentFiles();
  for (const path of paths) {
    const { isFolder, files, odd, unread: closed } = await listed(path);
    for (const { path: file, isLink } of odd) {
      ignored.push({ file, reason: isLink ? LINK : ODD });
    }
    for (const { path: file, error } of closed) unread.push({ file, reason: reasonOf(error) });
    for (const file of files) {
      if (isFolder && !file.endsWith('.jsonl')) ignored.push({ file, reason: 'not a session file (.jsonl)' });
      else add(file);
    }
    if (!isFolder && files.length > 0) for (const file of await agents.of(path)) add(file);
  }
  return { sessions: await inOrder([...found.values()]), ignored, unread };
}

async function listed(path: string): Promise<FoundFiles> {
  try {
    return await listFiles(path);
  } catch (error) {
    return { isFolder: false, files: [], odd: [], unread: [{ path, error }] };
  }
}

/** Why a file could not be read, for a person. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be read';
  if (!('code' in error)) return error.message;
  return error.code === 'ENOENT' ? 'no such file or folder' : `it cannot be read (${String(error.code)})`;
}

function sessionPath(path: string): SessionPath {
  const stem = basename(path).replace(/\.jsonl$/, '');
  return { path, stem, agent: AGENT.exec(stem)?.[1] };
}

/** The sub-agents' files of session files. Where many of a folder are named, it is listed once. */
class AgentFiles {
  /** Of each folder, those that lie beside its sessions, by the session that they name. */
  readonly #beside = new Map<string, Promise<ReadonlyMap<string | undefined, readonly string[]>>>();

  async of(path: string): Promise<readonly string[]> {
    const { stem, agent } = sessionPath(path);
    if (agent !== undefined) return [];
    const folder = dirname(path);
    const nested = await jsonlFilesIn(join(folder, stem, 'subagents'));
    const beside = this.#beside.get(folder) ?? besideIn(folder);
    this.#beside.set(folder, beside);
    return [...nested.filter(isAgent), ...((await beside).get(stem) ?? [])];
  }
}

async function besideIn(folder: string): Promise<ReadonlyMap<string | undefined, readonly string[]>> {
  const named = new Map<string | undefined, string[]>();
  for (const file of (await ownFilesIn(folder)).filter(isAgent)) addTo(named, await sessionNamedIn(file), file);
  return named;
}

function isAgent(path: string): boolean {
  return path.endsWith('.jsonl') && sessionPath(path).agent !== undefined;
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

async function ownFilesIn(folder: string): Promise<readonly string[]> {
  try {
    return await filesIn(folder);
  } catch {
    // One that may not be listed is not asked for.
    return [];
  }
}

async function jsonlFilesIn(folder: string): Promise<readonly string[]> {
  try {
    const { isFolder, files } = await listFiles(folder);
    return isFolder ? files.filter((file) => file.endsWith('.jsonl')) : [];
  } catch {
    // There is none.
    return [];
  }
}

/** The session that a file's first row with one names; only what precedes it is read. */
async function sessionNamedIn(path: string): Promise<string | undefined> {
  let source: ByteSource | undefined;
  try {
    source = await openFile(path);
    const options: JsonlOptions = { invalidUtf8: 'replace' };
    for await (const entry of new JsonlReader(source.stream(), options)) {
      const sessionId = entry.damage || !isObject(entry.value) ? undefined : textOf(entry.value, 'sessionId');
      if (sessionId !== undefined) return sessionId;
    }
    return undefined;
  } catch {
    // A file that cannot be read is reported where it is imported.
    return undefined;
  } finally {
    await source?.close();
  }
}

/**
 * Sessions by the time of their last row, the oldest first, so that a list by last activity has them in their own order; those of
 * one time by path. Each is followed by its agents; agents whose session is not here come last.
 */
async function inOrder(files: readonly SessionPath[]): Promise<readonly SessionPath[]> {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  const sessions = await byLastTime(sorted.filter((file) => file.agent === undefined));
  const byFolder = new Map(sessions.map((file) => [join(dirname(file.path), file.stem), file]));
  const agentsOfSession = new Map<SessionPath | undefined, SessionPath[]>();
  for (const file of sorted.filter(({ agent }) => agent !== undefined)) {
    const nested = foldersAbove(file.path).find((folder) => byFolder.has(folder));
    const beside = nested === undefined ? join(dirname(file.path), (await sessionNamedIn(file.path)) ?? '') : nested;
    addTo(agentsOfSession, byFolder.get(beside), file);
  }
  return [...sessions, undefined].flatMap((session) => [
    ...(session ? [session] : []),
    ...(agentsOfSession.get(session) ?? []),
  ]);
}

/** The folders that a file lies in, the innermost first. */
function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(normalize(path)); folder !== folders.at(-1); folder = dirname(folder)) folders.push(folder);
  return folders;
}

async function byLastTime(files: readonly SessionPath[]): Promise<readonly SessionPath[]> {
  const timed: { readonly file: SessionPath; readonly at: number }[] = [];
  for (const file of files) timed.push({ file, at: await lastTimeIn(file.path) });
  return timed.sort((left, right) => left.at - right.at).map(({ file }) => file);
}

/** As much of a file's end as is looked at for its last time. */
const TAIL_BYTES = 65_536;
const TIME = /"timestamp"\s*:\s*"([^"\\]{1,40})"/g;

/** The time of the last row that says one; of a file that says none, or cannot be read, the beginning of time. */
async function lastTimeIn(path: string): Promise<number> {
  let source: ByteSource | undefined;
  try {
    source = await openFile(path);
    const bytes = Math.min(TAIL_BYTES, source.sizeBytes);
    const tail = new TextDecoder().decode(await source.slice(source.sizeBytes - bytes, bytes));
    const times = [...tail.matchAll(TIME)].map(([, text]) => Date.parse(text ?? ''));
    return times.findLast((time) => !Number.isNaN(time)) ?? 0;
  } catch {
    // A file that cannot be read is reported where it is imported.
    return 0;
  } finally {
    await source?.close();
  }
}
