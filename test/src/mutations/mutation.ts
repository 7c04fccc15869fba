/** One rule of the compiled core or ledger, broken once. */
export interface Mutation {
  /** The compiled file, below the library's `dist`: `core/rules/turn.js`. */
  readonly file: string;
  /** What is wrong then. */
  readonly breaks: string;
  /** The code that is replaced; white space does not count. */
  readonly find: string;
  readonly replace: string;
  /** Where the code occurs more than once: the first occurrence after this text is meant. */
  readonly after?: string | undefined;
  /** Test files of the same layer (`rules/turn`) that must turn red; the one beside the file when absent. */
  readonly tests?: readonly string[] | undefined;
}

/** The text with the mutation made; `undefined` where its code is not there, or more than once. */
export function mutated(text: string, mutation: Mutation): string | undefined {
  const { compact, places } = withoutSpace(text);
  const anchor = mutation.after === undefined ? 0 : compact.indexOf(withoutSpace(mutation.after).compact);
  const wanted = withoutSpace(mutation.find).compact;
  const at = anchor < 0 ? -1 : compact.indexOf(wanted, anchor);
  if (at < 0 || (mutation.after === undefined && compact.includes(wanted, at + 1))) return undefined;
  const start = places[at] ?? 0;
  const end = (places[at + wanted.length - 1] ?? 0) + 1;
  return text.slice(0, start) + mutation.replace + text.slice(end);
}

/** The text without white space, and where each of its units stood. */
function withoutSpace(text: string): { readonly compact: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let compact = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] ?? '';
    if (/\s/.test(unit)) continue;
    compact += unit;
    places.push(at);
  }
  return { compact, places };
}
