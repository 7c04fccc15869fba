import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What a program for developers takes: its usage, as a person reads it, its options, and names where it takes any. */
export interface Program<Own extends Options> {
  readonly usage: string;
  readonly options: Own;
  readonly allowPositionals?: boolean;
}

type Arguments<Own extends Options> = ReturnType<typeof parseArgs<{ options: Own; allowPositionals: true }>>;

/**
 * The arguments of this process. `--help` prints the usage and ends the process with 0; what the program does not take
 * ends it with 2 and one line that says so.
 */
export function argumentsOf<const Own extends Options>(program: Program<Own>): Arguments<Own> {
  const { values, positionals } = parsed(program);
  if (!Object.hasOwn(values, 'help')) return { values, positionals };
  process.stdout.write(`${program.usage}\n`);
  return process.exit(0);
}

function parsed<const Own extends Options>(program: Program<Own>): Arguments<Own> {
  const options = { ...program.options, help: { type: 'boolean' as const } };
  try {
    const given: unknown = parseArgs({ options, allowPositionals: program.allowPositionals ?? false });
    return given as Arguments<Own>; // what it took, and `help`
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return wrongArguments(reason.replace(/\. To specify a positional.*$/s, ''));
  }
}

/** A whole number from 0 on, given as text to an option. */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return wrongArguments(`--${option} takes a whole number, not '${text}'`);
}

/** Ends the process with 2 and one line. */
export function wrongArguments(reason: string): never {
  process.stderr.write(`${reason}; --help shows what there is\n`);
  process.exit(2);
}
