import type { ConversationId, NamespaceId } from '../../core/ids.ts';

// Keys of the on-disk index are bytes of UTF-8, held as text of one byte a unit: `<` is then the order of the bytes.
// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;
const SEPARATOR = '\u0000';

const LONE_SURROGATE = /([\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/;
const LONE_BYTES = /(\u00ed[\u00a0-\u00bf][\u0080-\u00bf])/;

/** UTF-8, a lone surrogate as the three bytes that it would have: no two keys become one. */
export function toByteKey(key: string): string {
  if (ASCII.test(key)) return key;
  if (key.isWellFormed()) return Buffer.from(key, 'utf8').toString('latin1');
  return key
    .split(LONE_SURROGATE)
    .map((part, at) => (at % 2 === 0 ? Buffer.from(part, 'utf8').toString('latin1') : loneBytes(part.charCodeAt(0))))
    .join('');
}

function loneBytes(unit: number): string {
  return String.fromCharCode(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
}

export function fromByteKey(bytes: string): string {
  if (ASCII.test(bytes)) return bytes;
  return bytes
    .split(LONE_BYTES)
    .map((part, at) => (at % 2 === 0 ? Buffer.from(part, 'latin1').toString('utf8') : loneUnit(part)))
    .join('');
}

function loneUnit(bytes: string): string {
  const [first, second, third] = [bytes.charCodeAt(0), bytes.charCodeAt(1), bytes.charCodeAt(2)];
  return String.fromCharCode(((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f));
}

/** What all keys of a conversation start with. Neither a namespace nor an id holds the separator. */
export function conversationPrefix(namespace: NamespaceId, conversation: ConversationId): string {
  return `${namespace}${SEPARATOR}${toByteKey(conversation)}${SEPARATOR}`;
}

/** The bytes of a key up to its conversation's end. */
export function prefixOf(key: string): string {
  return key.slice(0, key.indexOf(SEPARATOR, key.indexOf(SEPARATOR) + 1) + 1);
}
