import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** Real English and code, of this repository's pages and sources, in pieces of so many characters, again from the start. */
export function* pieces(characters: number): Generator<string, never, undefined> {
  const text = ['docs', 'packages/turnkeep/src'].flatMap(textsIn).join('\n');
  for (let at = 0; ; at = (at + characters) % (text.length - characters)) yield text.slice(at, at + characters);
}

function textsIn(folder: string): readonly string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile() && /\.(md|ts)$/.test(entry.name))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .toSorted();
}
