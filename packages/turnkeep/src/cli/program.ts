import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { usageError } from './failure.ts';
import { withCommonOptions } from './options.ts';
import type { Shell } from './shell.ts';

/** The package's manifest, seen from dist/cli. */
const MANIFEST = join(import.meta.dirname, '../../package.json');

const AFTER_HELP = `
Exit codes:
  0 done   1 the store or a file failed   2 wrong command line   3 not found
  4 damage found   5 refused by a conflict   6 busy, try later   130 interrupted

Example:
  turnkeep import ~/.claude/projects && turnkeep ls`;

/** Runs one command line; answers its exit code. Errors are thrown, a wrong command line as `invalid_value`. */
export async function runProgram(shell: Shell, args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  let help = '';
  const program = new Command('turnkeep')
    .description('Keeps the conversations of AI agents: durable, branching, verifiable.')
    .version((JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version) // our own file
    .exitOverride()
    .configureOutput({ writeOut: (text) => (help += text), writeErr: (text) => (help += text), outputError: () => {} })
    .addHelpText('after', AFTER_HELP);
  addCommands(withCommonOptions(program), shell, (code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for ends with 0; help because no command was named does not.
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw wrongCommandLine(error);
    exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  await shell.out.write(help);
  return exitCode;
}

function wrongCommandLine({ message }: CommanderError): Error {
  const reason = message.replace(/^error: /, '').replaceAll('\n', ' ');
  return usageError('command line', `${reason}; --help shows what there is`);
}
