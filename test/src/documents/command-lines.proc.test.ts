import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

/** The programs that the scripts of the root manifest run, by script; those that build take no options. */
function programs(): readonly (readonly [script: string, words: readonly string[]])[] {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    readonly scripts: { readonly [name: string]: string };
  }; // our own manifest
  return Object.entries(scripts).flatMap(([script, command]) => {
    const program = /(?:^|&& )node (\S+\.m?js[^&]*)$/.exec(command)?.[1];
    return program === undefined || /prune-dist|build-if-missing/.test(program) ? [] : [[script, program.split(' ')]];
  });
}

async function run(
  words: readonly string[],
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

test('there are programs to ask', () => {
  const scripts = programs().map(([script]) => script);
  expect(scripts).toEqual(
    expect.arrayContaining(['start', 'test:node', 'examples', 'conformance', 'crash', 'mutations']),
  );
  expect(scripts).toEqual(expect.arrayContaining(['oracle', 'bench', 'bench:docs', 'bench:guard']));
});

test.each(programs())('%s tells its usage, and what it does not take in one line', async (script, words) => {
  const [help, wrong] = await Promise.all([run([...words, '--help']), run([...words, '--nonsense'])]);
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toMatch(script === 'start' ? /^Usage: turnkeep demo/ : new RegExp(`^usage: npm run ${script}\\b`));
  expect(wrong).toMatchObject({ code: 2, out: '' });
  expect(wrong.err).toMatch(/^[^\n]*--nonsense[^\n]*--help[^\n]*\n$/);
});
