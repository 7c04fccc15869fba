// Deletes compiled files whose source is gone, so that a renamed test cannot go on running from `dist`.
// With --all, deletes every `dist` (the compiler then builds from nothing).

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
const compiled = /(\.d)?\.[cm]?[jt]s(\.map)?$/;

for (const folder of [...packages, join(root, 'test'), join(root, 'bench')]) {
  const dist = join(folder, 'dist');
  if (!existsSync(dist)) continue;
  if (process.argv.includes('--all')) {
    rmSync(dist, { recursive: true });
    continue;
  }
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !compiled.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const source = join(folder, 'src', relative(dist, file).replace(compiled, '.ts'));
    if (!existsSync(source)) rmSync(file);
  }
}
