import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly system: string;
  readonly node: string;
  /** The file system that is measured, by its type's number where it has no name here. */
  readonly disk: string;
  /** Processes that wanted to run when the run started, other programs' among them. */
  readonly loadBefore: number;
  readonly commit: string;
  readonly versions: { readonly [name: string]: string };
}

const FILE_SYSTEMS: { readonly [magic: number]: string } = {
  0xef53: 'ext4',
  0x9123683e: 'btrfs',
  0x58465342: 'xfs',
  0x01021994: 'tmpfs',
  0x794c7630: 'overlay',
};

export function machineOf(folder: string): Machine {
  const kind = statfsSync(folder).type;
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    system: `${type()} ${release().replace(/-.*/, '')}`,
    node: process.version,
    disk: FILE_SYSTEMS[kind] ?? `type ${kind.toString(16)}`,
    loadBefore: Number(loadavg()[0]?.toFixed(2)),
    commit: commitOf(),
    versions: versionsOf(['turnkeep', 'better-sqlite3', 'pg', '@langchain/langgraph-checkpoint-sqlite']),
  };
}

function commitOf(): string {
  try {
    const answer = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] });
    return answer.toString().trim();
  } catch {
    return 'unknown';
  }
}

function versionsOf(names: readonly string[]): { readonly [name: string]: string } {
  const require = createRequire(import.meta.url);
  const folders = require.resolve.paths('turnkeep') ?? [];
  return Object.fromEntries(names.map((name) => [name, versionIn(folders, name)]));
}

function versionIn(folders: readonly string[], name: string): string {
  for (const folder of folders) {
    try {
      const manifest = readFileSync(join(folder, name, 'package.json'), 'utf8');
      return (JSON.parse(manifest) as { readonly version: string }).version; // every package has one
    } catch {
      // It may stand in a folder further up.
    }
  }
  return 'not installed';
}
