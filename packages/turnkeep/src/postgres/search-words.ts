import type { LogRecord } from '../core/log.ts';
import { searchTexts } from '../core/search-text.ts';

/** What of a commit is searched; nothing of a record that is damaged. */
export function textsOf(log: LogRecord): readonly string[] {
  try {
    return searchTexts(log).map(({ text }) => text);
  } catch {
    return [];
  }
}

/** Text as Postgres takes it: NUL and lone surrogates become one mark, in what is looked for as in what is stored. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
