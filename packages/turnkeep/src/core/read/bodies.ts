import type { RowReader } from '../backend.ts';
import { headerAt } from '../decide.ts';
import type { Sha256 } from '../digest.ts';
import { assert } from '../errors.ts';
import { parseBody, readRecord } from '../draft.ts';
import type { RecordRef } from '../head.ts';
import type { JsonObject } from '../json.ts';
import type { LogHeader, StoredRecord } from '../log.ts';

/** Reads records and headers of one snapshot: every digest checked, every header parsed once. */
export class Bodies {
  readonly rows: RowReader;
  readonly sha256: Sha256;
  readonly #headers = new Map<string, LogHeader>();

  constructor(rows: RowReader, sha256: Sha256) {
    this.rows = rows;
    this.sha256 = sha256;
  }

  /** The parsed body; `undefined` where the words were redacted; throws `corrupt`. */
  body(ref: RecordRef): JsonObject | undefined {
    return parseBody(this.sha256, this.record(ref), ref);
  }

  record(ref: RecordRef): StoredRecord {
    return readRecord(this.rows, ref);
  }

  /** When a commit was made, as ISO text. */
  committedAt(owner: string, version: number): string {
    const log = this.rows.log(owner, version);
    assert(log, 'a message has its commit');
    return new Date(log.at).toISOString();
  }

  header(owner: string, version: number): LogHeader {
    const key = `${version} ${owner}`;
    let header = this.#headers.get(key);
    if (!header) this.#headers.set(key, (header = headerAt(this.rows, owner, version)));
    return header;
  }
}
