// A header repeats its commit's id and the same few phrases: written out it takes a quarter of a turn's bytes, like this
// a tenth. JSON holds no control character, so each of them can stand for a phrase. The table is part of the format.

const ID = '\u0001';
const END_OF_ID = '\u001f';

/** The phrase of `\u0002`, of `\u0003` and so on. Where one begins like another, the longer one comes first. */
const PHRASES = [
  `{"version":`,
  `,"commitId":"${ID}","at":`,
  `,"leaf":"turn_${ID}.`,
  `,"leaf":"`,
  `","graphRevision":`,
  `,"fingerprint":"`,
  `","events":[`,
  `{"kind":"message.append","messageId":"msg_${ID}.`,
  `","turnId":"turn_${ID}.`,
  `","turnId":"`,
  `","sequence":`,
  `,"record":`,
  `{"kind":"turn.record","turnId":"turn_${ID}.`,
  `{"kind":"turn.submit","turnId":"turn_${ID}.`,
  `{"kind":"turn.advance","turnId":"`,
  `","ordinal":`,
  `,"why":"start`,
  `","origin":"`,
  `{"kind":"checkpoint.advance","checkpointId":"`,
  `","revision":`,
  `{"kind":"task.transition","taskId":"`,
  `{"kind":"task.create","taskId":"`,
  `{"kind":"commitment.`,
  `,"commitmentId":"`,
  `{"kind":"`,
] as const;

const FIRST = 2;
const TO_MARK = new Map<string, string>(PHRASES.map((phrase, at) => [phrase, String.fromCharCode(FIRST + at)]));
const PHRASE = new RegExp(PHRASES.map((phrase) => phrase.replace(/[.[{]/g, '\\$&')).join('|'), 'g');
// oxlint-disable-next-line no-control-regex -- marks are control characters
const MARK = /[\u0002-\u001e]/g;
const COMMIT_ID = /"commitId":"((?:[^"\\]|\\.)+)"/;

/** A header in fewer bytes. */
export function shortenHeader(header: string): string {
  return shorten(header, commitIdIn(header)).replace(PHRASE, (phrase) => TO_MARK.get(phrase) ?? phrase);
}

/** The header that was shortened, to the byte. */
export function lengthenHeader(short: string): string {
  return lengthen(short.replace(MARK, (mark) => PHRASES[mark.charCodeAt(0) - FIRST] ?? mark));
}

/** The commit id of a header, as it is written in JSON; empty where it has none. */
export function commitIdIn(header: string): string {
  return COMMIT_ID.exec(header)?.[1] ?? '';
}

/** JSON in which an id is written once. */
export function shorten(json: string, id: string): string {
  return id + END_OF_ID + (id === '' ? json : json.replaceAll(id, ID));
}

export function lengthen(short: string): string {
  const end = short.indexOf(END_OF_ID);
  const id = short.slice(0, end);
  return short.slice(end + 1).replaceAll(ID, () => id);
}
