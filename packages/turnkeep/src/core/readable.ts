import { decode } from './encoding.ts';
import { decodeHeader } from './header.ts';
import type { JsonObject } from './json.ts';
import type { LogHeader, LogRecord, StoredRecord } from './log.ts';

/** The header of a log record, its digest not checked; `undefined` if it is gone or no longer JSON. */
export function readableHeader(log: LogRecord | undefined): LogHeader | undefined {
  const header = log?.header ?? null;
  return header === null ? undefined : readable(() => decodeHeader(header));
}

/** The words of a record, its digest not checked; `undefined` if they are gone or no longer JSON. */
export function readableBody(record: StoredRecord | undefined): JsonObject | undefined {
  const body = record?.body ?? null;
  return body === null ? undefined : readable(() => decode(body) as JsonObject);
}

function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
