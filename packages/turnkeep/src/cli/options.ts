import type { Command } from 'commander';
import { usageError } from './failure.ts';

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option(
      '--store <url>',
      'the store: sqlite:FILE, journal:DIRECTORY, postgres://… or memory: (default: $TURNKEEP_STORE, or a file in the data folder)',
    )
    .option('--namespace <name>', 'the tenant to work in (default: "default")')
    .option('--json', 'print JSON for programs');
}

/** Parses a whole number of at least `least`; the name is that of the option. */
export function wholeNumber(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= least) return value;
    throw usageError(option, `expected a whole number from ${least} on, not ${JSON.stringify(text)}`);
  };
}

/** Parses one of a few words. */
export function oneOf<Word extends string>(option: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word !== undefined) return word;
    throw usageError(option, `expected one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
  };
}
