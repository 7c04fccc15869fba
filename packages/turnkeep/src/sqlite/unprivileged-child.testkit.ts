import { chownSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from './driver/open-database.ts';
import { openStoreFile } from './store/store-file.ts';

// Opens a store as a user whom the modes of files bind: `node unprivileged-child.testkit.js PATH`. It says the error, or null.

const NOBODY = 65_534;

const [path = ''] = process.argv.slice(2);
openDatabase(':memory:').close(); // the driver is loaded while its files may be read
if (process.getuid?.() === 0) {
  const folder = dirname(path);
  for (const one of ['.', ...readdirSync(folder)]) {
    if (lstatSync(join(folder, one)).isFile() || one === '.') chownSync(join(folder, one), NOBODY, NOBODY);
  }
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
try {
  openStoreFile({ path, journal: 'auto', busyTimeoutMs: 300 }).close();
  process.stdout.write('null');
} catch (error) {
  process.stdout.write(JSON.stringify({ ...(error as object) })); // what was thrown
}
