import { cutsPair } from './fold.ts';

/** UTF-16 units of a snippet, at most. */
export const SNIPPET_UNITS: number = 160;

/** How far an edge may move to fall between two characters as a reader sees them, in units. */
const EDGE_UNITS = 16;
const JOINER = '\u200d';
const CONTINUES = /^[\p{Mark}\p{Emoji_Modifier}\u200d]/u;

/** A piece of a text around a match. */
export interface Snippet {
  readonly text: string;
  /** Where the piece starts in the whole text, in UTF-16 units. */
  readonly start: number;
}

/**
 * The piece of a text that shows a match of `length` units at `at`, with as much on both sides as the limit allows; for a
 * match beyond the limit, its beginning. Never longer than `SNIPPET_UNITS`. Its edges never cut a surrogate pair, and
 * never separate a mark, skin tone or joined emoji from its letter, unless more of them pile up than anybody reads.
 */
export function snippet(text: string, at: number, length: number): Snippet {
  const around = Math.max(0, SNIPPET_UNITS - length);
  const earliest = Math.max(0, Math.min(at - (around >> 1), text.length - SNIPPET_UNITS));
  const start = edgeAfter(text, Math.min(earliest, at), at);
  const end = edgeBefore(text, Math.min(text.length, start + SNIPPET_UNITS), at + length);
  return { text: text.slice(start, end), start };
}

/** The next edge at or after a position; if none is near or before the match, the next one that cuts no pair. */
function edgeAfter(text: string, from: number, match: number): number {
  for (let at = from; at <= Math.min(match, from + EDGE_UNITS); at++) if (isEdge(text, at)) return at;
  return cutsPair(text, from) ? from + 1 : from;
}

/** The last edge at or before a position; if none is near or after the match, the last one that cuts no pair. */
function edgeBefore(text: string, from: number, matchEnd: number): number {
  const lowest = from >= matchEnd ? Math.max(matchEnd, from - EDGE_UNITS) : from - EDGE_UNITS;
  for (let at = from; at >= lowest; at--) if (isEdge(text, at)) return at;
  return cutsPair(text, from) ? from - 1 : from;
}

/** Whether nothing at a position belongs to the character before it. */
function isEdge(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  if (cutsPair(text, at) || text[at - 1] === JOINER) return false;
  return !CONTINUES.test(String.fromCodePoint(text.codePointAt(at) ?? 0));
}
