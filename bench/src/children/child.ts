import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs one of the programs of this folder; answers what it printed, as JSON of a shape that the caller knows. */
export async function inChild<Answer>(
  program: string,
  parameters: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<Answer> {
  const path = fileURLToPath(new URL(`./${program}.js`, import.meta.url));
  const env = { ...process.env, ...environment };
  const { stdout } = await run(process.execPath, [path, ...parameters], { env });
  return JSON.parse(stdout) as Answer; // our own program's
}
