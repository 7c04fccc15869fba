/**
 * Stored text on a terminal. Whatever a conversation holds, no byte of it reaches the terminal that the terminal would
 * obey (control characters, escape sequences), and nothing that turns the order of what is read (bidirectional
 * controls): each is shown as a visible sign instead.
 */

// Controls, lone surrogates, bidirectional controls, line separators, deprecated format characters and annotations.
const UNSAFE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0001}]/gu;
const CONTROL_PICTURES = 0x2400;
const DELETE_PICTURE = '\u2421';

/** Text of several lines, safe to print: line feeds and tabs stay, everything unsafe is shown as a sign. */
export function safeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : visible(char)));
}

/** Text as one safe line: white space of any kind is one space. */
export function safeLine(text: string): string {
  return safeText(text.replace(/[\s\p{Zl}\p{Zp}]+/gu, ' ').trim());
}

/** `␛` for a control character, `<U+202E>` for anything else that cannot be shown as it is. */
function visible(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
  if (code === 0x7f) return DELETE_PICTURE;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

// East Asian wide and full-width blocks; emoji come by their property.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}/u;
const INVISIBLE = /^[\p{Mark}\p{Cf}]*$/u;
/** UTF-16 units of one character that are printed: no emoji has more; letters under heaps of marks do. */
const CHARACTER_UNITS = 32;

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Columns that a safe line takes on a terminal, as far as terminals agree. */
export function columnsOf(line: string): number {
  let columns = 0;
  for (const { segment } of characters.segment(line)) columns += columnsOfCharacter(segment);
  return columns;
}

function columnsOfCharacter(character: string): number {
  if (character.length === 1 && character < '\u0300') return 1;
  if (WIDE.test(character)) return 2;
  return INVISIBLE.test(character) ? 0 : 1;
}

/** The line, or as much of it as fits with an ellipsis. It is read no further than it is shown. */
export function clip(line: string, columns: number): string {
  if (line.length <= columns && /^[\u0020-\u02ff]*$/.test(line)) return line;
  let shown = '';
  let used = 0;
  let fits = '';
  for (const { segment } of characters.segment(line)) {
    const character = boundedCharacter(segment);
    used += columnsOfCharacter(character);
    if (used > columns) return `${fits}…`;
    shown += character;
    if (used < columns) fits = shown;
  }
  return shown;
}

function boundedCharacter(character: string): string {
  if (character.length <= CHARACTER_UNITS) return character;
  return character.slice(0, CHARACTER_UNITS).toWellFormed();
}

/** Filled up with spaces to so many columns. */
export function padEnd(line: string, columns: number): string {
  return line + ' '.repeat(Math.max(0, columns - columnsOf(line)));
}

export function padStart(line: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - columnsOf(line))) + line;
}

/** `1 turn`, `2 turns`, `12,345 turns`. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `2026-01-05 14:03` of a time in ISO 8601, in UTC as it is stored. */
export function minuteOf(time: string): string {
  return safeLine(time).slice(0, 16).replace('T', ' ');
}
