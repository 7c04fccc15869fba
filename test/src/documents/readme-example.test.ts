import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

test('the example of the README runs as it stands, and a second run changes nothing', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1];
  expect(example, 'the README has an example').toBeDefined();
  const directory = mkdtempSync(join(tmpdir(), 'turnkeep-readme-'));
  try {
    // The library is found by its own name, as a user's program would find it.
    const library = JSON.stringify(new URL('../../../packages/turnkeep/dist/index.js', import.meta.url).href);
    writeFileSync(join(directory, 'example.mjs'), (example ?? '').replace("'turnkeep'", library));
    const run = () => execFileSync(process.execPath, ['example.mjs'], { cwd: directory, encoding: 'utf8' });
    expect(run()).toContain("[ '1 user', '2 assistant' ]");
    expect(run()).toContain("[ '1 user', '2 assistant' ]");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
