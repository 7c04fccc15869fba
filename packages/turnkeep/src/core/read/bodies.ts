import type { RowReader } from '../backend.ts';
import type { Sha256 } from '../digest.ts';
import { assert } from '../errors.ts';
import { parseBody, recordOf } from '../draft.ts';
import type { RecordRef } from '../head.ts';
import { headerAt } from '../header.ts';
import type { JsonObject } from '../json.ts';
import type { LogHeader, LogRecord, StoredRecord, Tier } from '../log.ts';
import { fieldOf } from '../event.ts';
import type { ChangeEvent } from '../event.ts';

/** Reads records and headers of one snapshot: every digest checked, every header parsed once. */
export class Bodies {
  readonly rows: RowReader;
  readonly sha256: Sha256;
  readonly #logs = new Map<string, LogRecord>();
  readonly #headers = new Map<string, LogHeader>();
  readonly #events = new Map<string, ReadonlyMap<number, ChangeEvent>>();

  constructor(rows: RowReader, sha256: Sha256) {
    this.rows = rows;
    this.sha256 = sha256;
  }

  /** The parsed body; `undefined` where the words were redacted; throws `corrupt`. */
  body(ref: RecordRef): JsonObject | undefined {
    return parseBody(this.sha256, this.record(ref), ref);
  }

  record(ref: RecordRef): StoredRecord {
    return recordOf(this.log(ref.owner, ref.version), ref);
  }

  /** Where a record's words lie. */
  tier(ref: RecordRef): Tier {
    return this.log(ref.owner, ref.version)?.tier ?? 'hot';
  }

  /** When a commit was made, as ISO text. */
  committedAt(owner: string, version: number): string {
    const log = this.log(owner, version);
    assert(log, 'a message has its commit');
    return new Date(log.at).toISOString();
  }

  header(owner: string, version: number): LogHeader {
    const key = `${version} ${owner}`;
    let header = this.#headers.get(key);
    if (!header) this.#headers.set(key, (header = headerAt(this.rows, this.sha256, owner, version)));
    return header;
  }

  /** The event that a record belongs to; `undefined` where the header went with an erasure. */
  event(owner: string, version: number, record: number): ChangeEvent | undefined {
    const key = `${version} ${owner}`;
    let events = this.#events.get(key);
    if (!events) {
      const all = (this.log(owner, version)?.header ?? null) === null ? [] : this.header(owner, version).events;
      events = new Map(
        all.flatMap((event): [number, ChangeEvent][] => {
          const brought = fieldOf(event, 'record');
          return brought === undefined ? [] : [[brought, event]];
        }),
      );
      this.#events.set(key, events);
    }
    return events.get(record);
  }

  /** A commit's log record, fetched once. */
  log(owner: string, version: number): LogRecord | undefined {
    const key = `${version} ${owner}`;
    const known = this.#logs.get(key);
    if (known) return known;
    const log = this.rows.log(owner, version);
    if (log) this.#logs.set(key, log);
    return log;
  }
}
