import { setOwn } from './json.ts';
import type { Json, JsonObject } from './json.ts';

/** Steps into a value: keys and indexes. */
export type JsonPath = readonly (string | number)[];

/** A number whose JavaScript value differs from its text. */
export interface InexactNumber {
  readonly path: JsonPath;
  readonly text: string;
}

/** A parsed text, and what its value lost of the text. */
export interface ExactJson {
  readonly value: Json;
  readonly inexact: readonly InexactNumber[];
  /** True if an object has a key twice: the value holds the last one. */
  readonly hasRepeatedKeys: boolean;
  /** The depth of nesting. */
  readonly depth: number;
}

/**
 * Parses JSON and reports what did not survive: whole numbers past 2^53, long decimals, numbers beyond the range
 * (they become infinite), and duplicate keys. Throws what `JSON.parse` throws. `19.90` and `-0` count as exact.
 */
export function parseExact(text: string): ExactJson {
  const value = JSON.parse(text) as Json;
  const survey = surveyOf(text);
  const inexact = survey.isDoubtful ? inexactNumbers(text) : [];
  return { value, inexact, hasRepeatedKeys: survey.members !== memberCount(value), depth: survey.depth };
}

/** The depth of nesting of a text. */
export function depthOf(text: string): number {
  return surveyOf(text).depth;
}

interface Survey {
  readonly members: number;
  readonly depth: number;
  readonly isDoubtful: boolean;
}

/** One pass over what is not inside strings. */
function surveyOf(text: string): Survey {
  let members = 0;
  let open = 0;
  let depth = 0;
  let isDoubtful = false;
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (unit === COLON) members += 1;
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth = Math.max(depth, ++open);
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) open -= 1;
    else if (isNumberStart(unit)) {
      const end = endOfNumber(text, at);
      isDoubtful ||= !isExact(text.slice(at, end));
      at = end;
      continue;
    }
    at += 1;
  }
  return { members, depth, isDoubtful };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function isNumberStart(unit: number): boolean {
  return unit === 0x2d || (unit >= 0x30 && unit <= 0x39);
}

const NUMBER = /-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?/y;

function endOfNumber(text: string, at: number): number {
  NUMBER.lastIndex = at;
  NUMBER.test(text);
  return Math.max(NUMBER.lastIndex, at + 1);
}

/** The place after the string that opens at `open`; the end of the text where it does not close. */
export function endOfString(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close >= 0 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close < 0 ? text.length : close + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - 1 - before) % 2 === 1;
}

function memberCount(value: Json): number {
  let count = 0;
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === null || typeof next !== 'object') continue;
    const values = Object.values(next) as Json[];
    if (!Array.isArray(next)) count += values.length;
    for (const member of values) if (member !== null && typeof member === 'object') waiting.push(member);
  }
  return count;
}

/** True if JavaScript reads the text as exactly the number that it says. */
export function isExact(text: string): boolean {
  // Fifteen significant digits always survive.
  if (text.length <= 15 && !/[eE]/.test(text)) return true;
  const value = Number(text);
  return Number.isFinite(value) && decimal(text) === decimal(String(value));
}

/** A number's text as sign, digits and exponent, without leading or trailing zeros. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

function inexactNumbers(text: string): readonly InexactNumber[] {
  const found: InexactNumber[] = [];
  walkJson(text, (path, start, end) => {
    if (!isNumberStart(text.charCodeAt(start))) return;
    const number = text.slice(start, end);
    if (!isExact(number)) found.push({ path: [...path], text: number });
  });
  return found;
}

/** The text of the value at a path, of the last one if a key is duplicated; `undefined` if there is none. */
export function textAt(text: string, wanted: JsonPath): string | undefined {
  let found: string | undefined;
  walkJson(text, (path, start, end) => {
    if (path.length === wanted.length && path.every((step, at) => step === wanted[at])) found = text.slice(start, end);
  });
  return found;
}

/** A copy with another text at a path. */
export function withText(value: Json, path: JsonPath, text: string): Json {
  const [step, ...deeper] = path;
  if (step === undefined) return text;
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === step ? withText(item, deeper, text) : item));
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value as JsonObject)) {
    if (member !== undefined) setOwn(copy, key, key === step ? withText(member, deeper, text) : member);
  }
  return copy;
}

/** Calls `visit` for each value of a text that parses, inner values before outer ones. The path is reused between calls. */
function walkJson(text: string, visit: (path: JsonPath, start: number, end: number) => void): void {
  const path: (string | number)[] = [];
  const starts: number[] = [];
  let awaitsKey = false;
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      starts.push(at);
      path.push(unit === OPEN_BRACE ? '' : 0);
      awaitsKey = unit === OPEN_BRACE;
      at += 1;
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      path.pop();
      at += 1;
      visit(path, starts.pop() ?? 0, at);
      awaitsKey = false;
    } else if (unit === COMMA) {
      const last = path.at(-1);
      awaitsKey = typeof last === 'string';
      if (typeof last === 'number') path[path.length - 1] = last + 1;
      at += 1;
    } else if (unit === COLON || unit <= 0x20) {
      at += 1;
    } else {
      const end =
        unit === QUOTE ? endOfString(text, at) : isNumberStart(unit) ? endOfNumber(text, at) : endOfWord(text, at);
      if (awaitsKey) path[path.length - 1] = JSON.parse(text.slice(at, end)) as string;
      else visit(path, at, end);
      awaitsKey = false;
      at = end;
    }
  }
}

function endOfWord(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && /[a-z]/.test(text[end] ?? '')) end += 1;
  return end;
}
