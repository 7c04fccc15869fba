// What JSON need not escape, but a terminal may obey: DEL, C1 controls, bidirectional controls, line separators.
const UNSAFE = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029\u206a-\u206f\ufeff\ufff9-\ufffb]/gu;

/** A value as one line of JSON that is safe on a terminal too. Only strings can hold what is escaped: it parses equal. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
