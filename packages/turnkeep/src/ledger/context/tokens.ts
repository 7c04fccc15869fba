import { TurnkeepError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { assertFits, count } from '../given.ts';

/** Counts the tokens of a text as a model would, a whole number from 0 on. It must answer the same for the same text each time. */
export interface TokenCounter {
  readonly count: (text: string) => number;
}

/** Runs of one kind of character longer than this are counted in slices: a tokenizer's time grows with a run's square. */
const LONGEST_RUN = 256;
const LONG_RUNS = /\S{257,}|\s{257,}/g;

let loading: Promise<TokenCounter> | undefined;

/**
 * The tokenizer of OpenAI's present models (`o200k_base`), loaded when it is first asked for. Other providers do not publish
 * theirs: leave room in the budget, or bring a counter.
 */
export async function defaultCounter(): Promise<TokenCounter> {
  loading ??= load();
  return loading;
}

async function load(): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base').catch((cause: unknown) => {
    // The package is optional: it holds tables of 30 MB that nobody with a counter of their own needs.
    const what = 'count tokens without the package gpt-tokenizer: install it, or give a counter';
    throw new TurnkeepError('unsupported', { what }, { cause });
  });
  // What looks like a special token counts as text, as it does for the model.
  const options = { disallowedSpecial: new Set<string>() };
  return inSlices((text) => countTokens(text, options));
}

/** A counter whose time grows with the text's length alone; a long run counts a little more than it has. */
function inSlices(count: (text: string) => number): TokenCounter {
  return {
    count(text) {
      let tokens = 0;
      let at = 0;
      for (const run of text.matchAll(LONG_RUNS)) {
        tokens += count(text.slice(at, run.index));
        at = run.index + run[0].length;
        for (let from = run.index; from < at; from += LONGEST_RUN) {
          tokens += count(text.slice(from, Math.min(at, from + LONGEST_RUN)));
        }
      }
      return tokens + count(text.slice(at));
    },
  };
}

/** The same counter, but counting each text once; `invalid_value` if it does not return a count. For one request: it keeps the texts. */
export function counterOnce(counter: TokenCounter): TokenCounter {
  const known = new Map<string, number>();
  return {
    count(text) {
      const before = known.get(text);
      if (before !== undefined) return before;
      const tokens = counter.count(text);
      assertFits(tokens, count, 'policy.counter');
      known.set(text, tokens);
      return tokens;
    },
  };
}

/** The tokens of a value: of every text, number and key in it. What JSON puts between them is not counted. */
export function tokensOf(value: Json | undefined, counter: TokenCounter): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return counter.count(value);
  if (typeof value !== 'object' || value === null) return counter.count(String(value));
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + tokensOf(item, counter), 0);
  let sum = 0;
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) sum += counter.count(key) + tokensOf(member, counter);
  }
  return sum;
}
