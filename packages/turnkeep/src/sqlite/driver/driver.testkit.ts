import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DriverName } from './driver.ts';
import { openDatabase } from './open-database.ts';

/** The drivers that this runtime has, so that a test can run once on each. */
export const DRIVERS: readonly DriverName[] = (['node:sqlite', 'better-sqlite3'] as const).filter(isAvailable);

/** Calls with a path in a fresh folder, which is deleted afterwards. */
export function withFile(use: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-'));
  try {
    use(join(folder, 'store'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isAvailable(driver: DriverName): boolean {
  try {
    openDatabase(':memory:', { driver }).close();
    return true;
  } catch {
    return false;
  }
}
