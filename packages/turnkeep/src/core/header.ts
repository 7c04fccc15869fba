import type { RowReader } from './backend.ts';
import type { Sha256 } from './digest.ts';
import { decode } from './encoding.ts';
import { TurnkeepError } from './errors.ts';
import type { ConversationId } from './ids.ts';
import type { LogHeader, LogRecord } from './log.ts';

/** The header of a commit, its digest checked; `corrupt` if it is missing or not as it was written. */
export function headerAt(rows: RowReader, sha256: Sha256, conversationId: ConversationId, version: number): LogHeader {
  const log = rows.log(conversationId, version);
  return headerOf(log, sha256, `conversation ${conversationId}, version ${version}`);
}

/** A header as the log keeps it, its digest not checked; throws a `SyntaxError` if it is not JSON. */
export function decodeHeader(header: string): LogHeader {
  return decode(header) as unknown as LogHeader; // as core wrote it: `Json` has no interface's shape
}

/** {@link headerAt} of a log record at hand; `place` names it for a person. */
export function headerOf(log: LogRecord | undefined, sha256: Sha256, place: string): LogHeader {
  const header = log?.header ?? null;
  if (!log || header === null) throw new TurnkeepError('corrupt', { place, reason: 'the log record is missing' });
  if (sha256(header) !== log.headerDigest) {
    throw new TurnkeepError('corrupt', { place, reason: 'its header does not match its digest' });
  }
  return decodeHeader(header);
}
