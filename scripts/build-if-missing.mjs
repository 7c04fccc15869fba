// Builds once before `npm start`, and does nothing when the command line is already compiled.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
if (!existsSync(join(root, 'packages/turnkeep/dist/cli/main.js'))) {
  const build = spawnSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: 'inherit', shell: true });
  process.exit(build.status ?? 1);
}
