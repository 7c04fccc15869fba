import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** The folder of the repository. This file runs from test/dist/tidy. */
export const ROOT: string = join(import.meta.dirname, '../../..');

const IGNORED = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** The repository's files, as paths from its root with forward slashes, in order. */
export function repositoryFiles(folder: string = ROOT): string[] {
  const files: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (IGNORED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...repositoryFiles(path));
    else if (entry.isFile()) files.push(relative(ROOT, path).replaceAll(sep, '/'));
  }
  return files.sort();
}

/** The text of a repository file, or the empty text where there is none yet. */
export function textOf(path: string): string {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** The number of lines of a text. */
export function lineCount(text: string): number {
  return text.split('\n').length - 1;
}
