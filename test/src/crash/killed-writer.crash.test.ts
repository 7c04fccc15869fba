import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { inFolder } from './harness.ts';
import { linesUntilKilled } from './killed-writer.ts';

async function saidBy(script: string, lines: number): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const program = join(folder, 'program.mjs');
    writeFileSync(program, script);
    const said: string[] = [];
    for await (const line of linesUntilKilled(pathToFileURL(program), ['word'], lines)) said.push(line);
    return said;
  });
}

test('a program is killed at its line, and what it had said by then counts', async () => {
  const said = await saidBy('for (let at = 0; ; at++) console.log(process.argv[2], at);', 3);
  expect(said.slice(0, 3)).toEqual(['word 0', 'word 1', 'word 2']);
});

test('a program that ends by itself is none that was killed', async () => {
  await expect(saidBy('console.log("once"); process.exitCode = 3;', 2)).rejects.toThrow('with code 3');
});
