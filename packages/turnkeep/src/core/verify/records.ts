import { attachmentsIn, partsOf } from '../attachments/mentions.ts';
import type { RowReader } from '../backend.ts';
import { checksum } from '../checksum.ts';
import { recordHolds } from '../digest.ts';
import type { Sha256 } from '../digest.ts';
import { placeOf } from '../draft.ts';
import type { Fault } from '../fault.ts';
import type { Head, RecordRef } from '../head.ts';
import { KEYS } from '../keys.ts';
import type { LogHeader, LogRecord, StoredRecord } from '../log.ts';
import { ROLES } from '../message.ts';
import { readableBody } from '../readable.ts';
import { unpackMessage } from '../rows.ts';

/** The records of a commit against their digests, and what is said of those whose words are gone. */
export function recordFaults(
  rows: RowReader,
  sha256: Sha256,
  head: Head,
  version: number,
  log: LogRecord,
): readonly Fault[] {
  const faults: Fault[] = [];
  const place = `conversation ${head.conversationId}, version ${version}`;
  const isErased = head.erasedAt !== null;
  for (const [index, record] of log.records.entries()) {
    const reason = isErased ? erasedProblem(sha256, record) : recordProblem(rows, sha256, record);
    const kind = record.body === null ? 'words_missing' : 'record_digest';
    const at = `${place}, record ${index}`;
    if (reason !== undefined) faults.push({ kind, place: at, reason, affects: 'the words of this record' });
    else if (!isErased) faults.push(...mentionFaults(rows, head, version, index, record, at));
  }
  if (!isErased && (log.nonce === null) !== log.records.some(({ body }) => body === null)) {
    const reason = `its nonce is ${log.nonce === null ? 'gone, and none of' : 'there, and not all of'} its words`;
    faults.push({ kind: 'words_missing', place, reason, affects: 'whether a replay is told from another commit' });
  }
  return faults;
}

function erasedProblem(sha256: Sha256, record: StoredRecord): string | undefined {
  return record.body === null || recordHolds(sha256, record) ? undefined : NOT_ITS_DIGEST;
}

const NOT_ITS_DIGEST = 'the record does not match its digest';

function recordProblem(rows: RowReader, sha256: Sha256, record: StoredRecord): string | undefined {
  const { body, nonce, redaction } = record;
  if (body !== null) {
    if (redaction) return 'the words are there, and are said to be redacted';
    return recordHolds(sha256, record) ? undefined : NOT_ITS_DIGEST;
  }
  if (!redaction) return 'the words are gone and nobody redacted them';
  if (nonce !== null) return 'the words are gone, and their nonce is there';
  const { replacement, reason, role, at } = redaction;
  if (typeof reason !== 'string' || !ROLES.includes(role) || !Number.isSafeInteger(at))
    return 'it is not said why, when and whose words were redacted';
  const isThere = !replacement || recordAt(rows, replacement);
  return isThere ? undefined : 'the words in place of those that were redacted are not there';
}

/** Replacements that the words which they replace do not lead to. */
export function replacementFaults(
  rows: RowReader,
  { conversationId: own, erasedAt }: Head,
  header: LogHeader,
): readonly Fault[] {
  if (erasedAt !== null) return [];
  return header.events.flatMap((event): readonly Fault[] => {
    if (event.kind !== 'message.redact' || event.record === undefined) return [];
    const ref = { owner: own, version: header.version, index: event.record };
    // Gone themselves, because the message was redacted again.
    if (recordAt(rows, ref)?.body === null) return [];
    const place = rows.get(own, KEYS.messageId(event.messageId));
    const row = place && rows.get(own, KEYS.message(...(place as readonly [number, number, number])));
    const replacement = row && recordAt(rows, unpackMessage(row, own).ref)?.redaction?.replacement;
    if (!row || (replacement && checksum(replacement) === checksum(ref))) return [];
    const reason = `message ${event.messageId} does not show the words that were put in its place`;
    return [{ kind: 'reference', place: placeOf(ref), reason, affects: `message ${event.messageId}` }];
  });
}

function recordAt(rows: RowReader, { owner, version, index }: RecordRef): StoredRecord | undefined {
  return rows.log(owner, version)?.records[index];
}

/** Attachments that words name but that would be collected, since no reference says so. */
function mentionFaults(
  rows: RowReader,
  { conversationId }: Head,
  version: number,
  index: number,
  record: StoredRecord,
  place: string,
): readonly Fault[] {
  // Most words name no attachment and need not be looked at.
  if (record.body?.includes('"attachment":') !== true) return [];
  return attachmentsIn(partsOf(readableBody(record) ?? {}), 'parts')
    .filter(({ digest }) => rows.get(conversationId, KEYS.reference(digest, version, index)) === undefined)
    .map(({ digest }) => {
      const reason = `it names attachment ${digest}, and no row says so`;
      return { kind: 'reference', place, reason, affects: 'an attachment, which nothing else may keep' };
    });
}
