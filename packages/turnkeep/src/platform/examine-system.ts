import { lstat, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../core/finding.ts';
import { monotonicNow } from './clock.ts';
import { nonce } from './random.ts';

/** The oldest Node that is tested. */
const NODE = [20, 19] as const;
const SPACE_PROBLEM_BYTES = 64 * 1_048_576;
const SPACE_WARNING_BYTES = 1_024 * 1_048_576;
const SLOW_SYNC_MS = 100;
const OTHERS = 0o077;
const LISTED = 3;

/** File systems over a network, or in user space, by the numbers that `statfs` gives them. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
]);

/** Where a store's files are: a folder, and the names in it that belong to the store. */
export interface StoreFolder {
  readonly folder: string;
  /** Absent: all that the folder holds, however deep. */
  readonly prefix?: string | undefined;
}

export function examineNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < NODE[0] || (major === NODE[0] && minor < NODE[1]);
  if (!isOld) return { check: 'node', status: 'ok', says: `Node ${version}` };
  const advice = `use Node ${NODE.join('.')} or later`;
  return { check: 'node', status: 'problem', says: `Node ${version} is older than what is tested`, advice };
}

/** Looks at a folder as a store needs it: there, writable, synced, with room, of a local file system, and private. */
export async function examineFolder(place: StoreFolder): Promise<readonly Finding[]> {
  const { folder } = place;
  try {
    if (!(await isFolder(folder)))
      return [
        { check: 'folder', status: 'problem', says: `${folder} is not there`, advice: 'make it, or name another' },
      ];
    return [await examineWriting(folder), await examineSpace(folder), await examineModes(place)].flat();
  } catch (error) {
    const says = `${folder} cannot be looked at: ${messageOf(error)}`;
    return [{ check: 'folder', status: 'problem', says, advice: 'give this user the folder' }];
  }
}

/** Throws where that cannot be told, as in a folder that nobody else may enter. */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Writes a block to a file of its own, syncs it, and takes it away again. */
async function examineWriting(folder: string): Promise<Finding> {
  const path = join(folder, `.turnkeep-doctor-${nonce()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.write(Buffer.alloc(4_096));
      const start = monotonicNow();
      await file.datasync();
      const tookMs = monotonicNow() - start;
      const says = `writes and syncs: 4 KiB in ${tookMs.toFixed(1)} ms`;
      if (tookMs < SLOW_SYNC_MS) return { check: 'writing', status: 'ok', says };
      return {
        check: 'writing',
        status: 'warning',
        says,
        advice: 'each group of commits waits for a sync of this length',
      };
    } finally {
      await file.close();
    }
  } catch (error) {
    const says = `${folder} cannot be written: ${messageOf(error)}`;
    return { check: 'writing', status: 'problem', says, advice: 'give this user the folder, or mount it for writing' };
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function examineSpace(folder: string): Promise<readonly Finding[]> {
  const { bavail, bsize, type } = await statfs(folder);
  const free = bavail * bsize;
  const status = free < SPACE_PROBLEM_BYTES ? 'problem' : free < SPACE_WARNING_BYTES ? 'warning' : 'ok';
  const advice =
    status === 'ok' ? undefined : 'a full disk refuses commits (store_full); nothing that was acknowledged is lost';
  const space: Finding = { check: 'space', status, says: `${sizeText(free)} free`, advice };
  const remote = REMOTE.get(type);
  if (remote === undefined) return [space];
  const says = `${folder} is on ${remote}: locks and syncs may not hold there`;
  return [space, { check: 'file_system', status: 'warning', says, advice: 'keep the store on a local disk' }];
}

async function examineModes({ folder, prefix }: StoreFolder): Promise<Finding> {
  const names = prefix === undefined ? ['', ...(await readdir(folder, { recursive: true }))] : await readdir(folder);
  const own = names.filter((name) => prefix === undefined || name.startsWith(prefix));
  const open: string[] = [];
  for (const name of own) {
    const found = await lstat(join(folder, name)).catch(() => undefined);
    if (found && (found.mode & OTHERS) !== 0) open.push(join(folder, name));
  }
  if (open.length === 0) return { check: 'modes', status: 'ok', says: 'files are their owner’s alone' };
  const more = open.length > LISTED ? ` and ${open.length - LISTED} more` : '';
  const says = `others may reach ${open.slice(0, LISTED).join(', ')}${more}`;
  return { check: 'modes', status: 'warning', says, advice: 'chmod -R go= the store’s files' };
}

function sizeText(bytes: number): string {
  const gib = bytes / 1_073_741_824;
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.floor(bytes / 1_048_576)} MiB`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
