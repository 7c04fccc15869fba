import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callsFrom } from './story.ts';

test('the demonstration names calls that work where it was started: installed, or in the repository', () => {
  const installed = callsFrom(join('home', 'app', 'node_modules', 'turnkeep', 'dist', 'cli', 'demo'));
  expect(installed).toEqual({ demo: 'npx turnkeep demo', program: 'npx turnkeep' });
  expect(callsFrom(import.meta.dirname)).toEqual({
    demo: 'npm start --',
    program: 'node packages/turnkeep/dist/cli/main.js',
  });
});
