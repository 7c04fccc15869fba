import { existsSync } from 'node:fs';

/** True where a file or a directory of that path is there. */
export function isThere(path: string): boolean {
  return existsSync(path);
}
