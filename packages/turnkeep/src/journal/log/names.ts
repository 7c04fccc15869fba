import { readHead } from './frame.ts';

const ID = /("(?:[^"\\]|\\.){1,2000}")/.source;
const STORE = /\{"store":"([^"]*)"/;
const OWN = new RegExp(`"ns":"[^"]*","conversation":${ID},"version":\\d+,"at":`);
const HEADS = new RegExp(`\\{"conversationId":${ID},"version":\\d+,"graphRevision":`, 'g');
const EDITS = new RegExp(`\\{"conversation":${ID},"version":\\d+,"header":`, 'g');
const WORDS = ',"header":{"version":';

/**
 * The conversations that a damaged line touched, by what is left of it; none where that is not certain. A line says its
 * conversation twice, at its own place and in the head that it leaves: where one of them is damaged the other is not, and
 * where both can be read and differ both are named. Words are not looked at: they may say anything.
 */
export function namesIn(bytes: Buffer, start: number, end: number, store: string): readonly string[] {
  const head = readHead(bytes, start, end);
  const words = bytes.indexOf(WORDS, start, 'latin1');
  const metaEnd = head ? Math.min(head.metaEnd, end) : words >= 0 && words < end ? words : start;
  const meta = bytes.toString('utf8', start, metaEnd);
  if (STORE.exec(meta)?.[1] !== store) return [];
  const own = OWN.exec(meta)?.[1];
  const heads = idsOf(meta, HEADS);
  // Without the length of the meta its end is a guess: then both must say the same.
  const isCertain = head ? own !== undefined || heads.length > 0 : own !== undefined && heads.includes(own);
  if (!isCertain) return [];
  const all = new Set([...(own === undefined ? [] : [own]), ...heads, ...idsOf(meta, EDITS)]);
  return [...all].flatMap(parseId);
}

function idsOf(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, id = '']) => id);
}

/** An id whose escapes are damaged is none. */
function parseId(text: string): readonly string[] {
  try {
    return [JSON.parse(text) as string]; // the pattern lets only a JSON string through
  } catch {
    return [];
  }
}
