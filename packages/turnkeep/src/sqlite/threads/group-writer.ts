import type { Envelope } from '../../core/backend.ts';
import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decide.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { Receipt } from '../../core/receipt.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { sha256 } from '../../platform/hash.ts';
import { sleep } from '../../platform/timers.ts';
import type { Database, Statement } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { identitiesOf, OwnFiles } from '../store/own-files.ts';
import { isWal } from '../store/store-file.ts';
import { storeError } from '../store/store-fault.ts';
import { StoreReader } from '../store/store-reader.ts';
import { StoreWriter } from '../store/store-writer.ts';

/** What became of a commit: its receipt, or why there is none. */
export type Answer = Receipt | Error;

const BUSY_STEP_MS = 0.3;

/**
 * Writes groups of commits, each as one transaction with one sync. Every commit is decided on what the ones before it
 * left, and only what was decided to be written reaches SQL: a refusal leaves nothing to take back.
 */
export class GroupWriter {
  readonly reader: StoreReader;
  readonly #database: Database;
  readonly #place: string;
  readonly #files: OwnFiles;
  readonly #busyTimeoutMs: number;
  readonly #writer: StoreWriter;
  readonly #begin: Statement;
  readonly #end: Statement;
  #dataVersion: number | undefined;
  /** True where, since the last group, another connection wrote. */
  othersWrote = false;

  /** `busyTimeoutMs`: how long it waits for others in the middle of a group. */
  constructor(database: Database, place: string, busyTimeoutMs: number) {
    this.#database = database;
    this.#place = place;
    this.#files = new OwnFiles(place, identitiesOf(place, isWal(database)));
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#end = database.prepare('COMMIT');
    this.reader = new StoreReader(database);
    this.#writer = new StoreWriter(database, this.reader);
  }

  /** Begins a transaction; `false` while another connection writes. Throws when the store is out of order. */
  begin(): boolean {
    try {
      this.#begin.run();
    } catch (error) {
      if (driverFault(error).kind === 'busy') return false;
      throw storeError(error, this.#place);
    }
    this.#assertInPlace();
    const dataVersion = this.#database.dataVersion();
    const isOther = dataVersion !== this.#dataVersion;
    this.othersWrote = isOther && this.#dataVersion !== undefined;
    this.#dataVersion = dataVersion;
    if (isOther) this.#renew();
    return true;
  }

  #assertInPlace(): void {
    try {
      this.#files.assertInPlace();
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Ends a transaction that is not needed, in which nothing was written: what is kept of the store stays right. */
  cancel(): void {
    if (this.#database.inTransaction()) this.#database.exec('ROLLBACK');
  }

  /**
   * Moves what the WAL holds into the file, in no transaction; with `TRUNCATE` none of it is left. Answers whether nobody was
   * in the way.
   */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.cancel();
    this.#files.assertInPlace();
    try {
      return !isWal(this.#database) || this.#database.pragma(`wal_checkpoint(${mode})`) === 0;
    } catch (error) {
      throw storeError(error, this.#place);
    }
  }

  /** Decides, writes and syncs a group within the transaction that `begin` began. Answers in the order of the group. */
  write(group: readonly Envelope[]): readonly Answer[] {
    try {
      const answers = group.map((envelope) => this.#decideAndApply(envelope));
      this.#writer.sweep();
      this.#commit();
      return answers;
    } catch (error) {
      this.#rollBack();
      if (group.length === 1) return [this.#failure(error, group[0] as Envelope)];
    }
    return group.map((envelope) => this.#alone(envelope));
  }

  /** Runs `work` as a transaction of its own, within the one that `begin` began. */
  maintain<Result>(work: (writer: StoreWriter) => Result): Result {
    try {
      const result = work(this.#writer);
      this.#commit();
      return result;
    } catch (error) {
      this.#rollBack();
      throw storeError(error instanceof CommitError ? error.cause : error, this.#place);
    }
  }

  #alone(envelope: Envelope): Answer {
    try {
      for (const start = monotonicNow(); !this.begin();) this.#waitFrom(start);
    } catch (error) {
      return asError(error);
    }
    return this.write([envelope])[0] as Answer; // one answer each
  }

  #decideAndApply(envelope: Envelope): Answer {
    const n = this.reader.namespace(envelope.commit.namespace);
    const decision = this.#decide(envelope, n);
    if (decision instanceof Error) return decision;
    if (decision.outcome === 'refuse') return decision.error;
    if (decision.outcome === 'write')
      this.#writer.apply(n ?? this.#writer.namespace(envelope.commit.namespace), decision.writes);
    return decision.receipt;
  }

  /** A mistake in the rules is the commit's own failure; one of the store's is the group's. */
  #decide(envelope: Envelope, n: number | undefined): Decision | Error {
    try {
      return decide(this.reader.rows(n), envelope, sha256);
    } catch (error) {
      if (driverFault(error).kind !== 'other') throw error;
      return asError(error);
    }
  }

  /** Without a WAL, a commit waits for the readers to leave. */
  #commit(): void {
    for (const start = monotonicNow(); ;) {
      try {
        this.#end.run();
        return;
      } catch (error) {
        if (driverFault(error).kind !== 'busy') throw new CommitError(error);
      }
      this.#waitFrom(start);
    }
  }

  /** Blocks for a moment; throws once that went on for too long. */
  #waitFrom(start: number): void {
    const waitedMs = Math.round(monotonicNow() - start);
    if (waitedMs >= this.#busyTimeoutMs) throw new TurnkeepError('store_busy', { waitedMs });
    sleep(BUSY_STEP_MS);
  }

  #rollBack(): void {
    try {
      if (this.#database.inTransaction()) this.#database.exec('ROLLBACK');
    } finally {
      this.reader.forget();
      this.#renew();
    }
  }

  #renew(): void {
    this.reader.renew();
    this.#writer.renew();
  }

  /** What a write that failed alone means. A sync that failed may or may not have reached the disk. */
  #failure(error: unknown, envelope: Envelope): Answer {
    this.#makeRoom(error instanceof CommitError ? error.cause : error);
    if (!(error instanceof CommitError)) return storeError(error, this.#place);
    const { kind, message } = driverFault(error.cause);
    if (kind === 'full') return storeError(error.cause, this.#place);
    const { commitId } = envelope.commit;
    return (
      this.#lookUp(envelope) ??
      new TurnkeepError('outcome_unknown', { commitId, reason: message }, { cause: error.cause })
    );
  }

  /** Where the WAL cannot grow any more it is moved into the file, so that the next commit finds it empty. */
  #makeRoom(error: unknown): void {
    const { kind, code } = driverFault(error);
    if (kind !== 'full' && code !== 'SQLITE_IOERR_WRITE') return;
    try {
      this.#database.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // The file cannot grow either.
    }
  }

  /** The receipt of a commit that is there. That it is not there yet says nothing: the WAL may still be recovered. */
  #lookUp(envelope: Envelope): Receipt | undefined {
    try {
      if (!this.begin()) return undefined;
      const decision = this.#decide(envelope, this.reader.namespace(envelope.commit.namespace));
      return decision instanceof Error || decision.outcome !== 'replay' ? undefined : decision.receipt;
    } catch {
      return undefined;
    } finally {
      this.#rollBack();
    }
  }
}

/** COMMIT itself failed. */
class CommitError extends Error {
  constructor(cause: unknown) {
    super('the transaction could not be committed', { cause });
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
