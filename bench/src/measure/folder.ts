import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The bytes of all files of a folder, with those of the folders in it, but for files of such names. */
export function bytesIn(folder: string, leftOut?: RegExp): number {
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile() && leftOut?.test(entry.name) !== true)
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** A folder of the run's own on the disk that is measured; everything in it goes with it. */
export class Scratch {
  readonly path: string = mkdtempSync(join(process.env['TURNKEEP_BENCH_FOLDER'] ?? tmpdir(), 'turnkeep-bench-'));
  #folders = 0;

  /** A new folder in it. */
  folder(): string {
    const folder = join(this.path, String((this.#folders += 1)));
    mkdirSync(folder);
    return folder;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
