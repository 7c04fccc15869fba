import { isTurnkeepError } from '../../core/errors.ts';
import { fold } from '../../core/fold.ts';
import type { Place } from './place.ts';
import type { Segments } from './segments.ts';

/** What stands in a line's JSON otherwise than in a text: quotes, backslashes, and what is escaped. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}]/u;

/**
 * Looks for a query in lines as they stand, before anybody reads their records: a text that holds it stands in its line as it
 * is, unless some of it is escaped there.
 */
export class LineCheck {
  readonly #segments: Segments;
  /** Folded; absent where a line can say it in another way. */
  readonly #query: string | undefined;

  constructor(segments: Segments, query: string) {
    this.#segments = segments;
    this.#query = ESCAPED.test(query) ? undefined : fold(query);
  }

  /** False where the line was read, its digests checked, has this number, and holds no such text. */
  mayHold(place: Place, n: number): boolean {
    if (this.#query === undefined) return true;
    try {
      const { meta, words } = this.#segments.frame(place);
      // A line that stands in another's place says nothing of what that said.
      if (!this.#segments.hasNumber(meta, n)) return true;
      return fold(words.toString('utf8', 0, words.length)).includes(this.#query);
    } catch (error) {
      // Whoever reads the line is told.
      if (isTurnkeepError(error)) return true;
      throw error;
    }
  }
}
