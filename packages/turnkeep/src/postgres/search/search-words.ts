import { isTurnkeepError } from '../../core/errors.ts';
import { fold } from '../../core/fold.ts';
import type { LogRecord } from '../../core/log.ts';
import { searchTexts } from '../../core/search-text.ts';
import { sha256 } from '../../platform/hash.ts';

/** What of a commit is searched; `null` where some of it cannot be read. */
export function textsOf(log: LogRecord): readonly string[] | null {
  try {
    const texts = searchTexts(log, sha256).map(({ text }) => text);
    return texts.every((text) => text !== null) ? texts : null;
  } catch (error) {
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    return null;
  }
}

/** What the index holds of a commit that cannot be read: nobody knows what it says, so every search looks at it. */
const UNREADABLE = '';

/** What the index holds of a commit; `null` where it has no words to find. */
export function indexedWords(log: LogRecord | undefined): string | null {
  const texts = log ? textsOf(log) : null;
  if (!texts) return UNREADABLE;
  const words = storable(texts.map((text) => fold(text)).join('\n'));
  return words === '' ? null : words;
}

/** Text as Postgres takes it: NUL and lone surrogates become one mark, in what is looked for as in what is stored. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
