import type { RecordEdit } from '../../core/backend.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LogRecord, Redaction } from '../../core/log.ts';

/** What is gone of a commit. */
export type Words = Pick<Edit, 'header' | 'nonce' | 'gone' | 'redactions'>;

/** Which words of an earlier commit are gone, and why. The newest edit of a commit says it all. */
export interface Edit {
  readonly conversation: ConversationId;
  readonly version: number;
  /** True when the header is gone. */
  readonly header: boolean;
  /** True when the commit's own nonce is gone. */
  readonly nonce: boolean;
  /** Indexes of the records whose words are gone. */
  readonly gone: readonly number[];
  readonly redactions?: { readonly [index: string]: Redaction } | undefined;
}

export function editOf({ conversation, version, log }: RecordEdit): Edit {
  const gone = [...log.records.entries()].filter(([, { body }]) => body === null).map(([index]) => index);
  const redacted = gone.flatMap((index) => {
    const redaction = log.records[index]?.redaction;
    return redaction ? [[index, redaction] as const] : [];
  });
  const edit = { conversation, version, header: log.header === null, nonce: log.nonce === null, gone };
  return redacted.length > 0 ? { ...edit, redactions: Object.fromEntries(redacted) } : edit;
}

/** The log record without the words that an edit took. */
export function applyEdit(log: LogRecord, edit: Words): LogRecord {
  const gone = new Set(edit.gone);
  const records = log.records.map((record, index) => {
    if (!gone.has(index)) return record;
    const redaction = edit.redactions?.[index];
    const bare = { digest: record.digest, nonce: null, body: null };
    return redaction ? { ...bare, redaction } : bare;
  });
  return { ...log, header: edit.header ? null : log.header, nonce: edit.nonce ? null : log.nonce, records };
}
