// Puts the documents beside the package while it is packed, so that who installs it has them; --remove takes them away.

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

for (const name of ['README.md', 'CHANGELOG.md', 'docs']) {
  const copy = join(root, 'packages/turnkeep', name);
  rmSync(copy, { recursive: true, force: true });
  if (!process.argv.includes('--remove')) cpSync(join(root, name), copy, { recursive: true });
}
