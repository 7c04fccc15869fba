import type { SearchCandidates, StoreFault } from '../../core/backend.ts';
import { isTurnkeepError, TurnkeepError } from '../../core/errors.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { WINDOW_MS, WriteRate } from '../../platform/write-rate.ts';
import { othersTurn, pause } from '../../platform/timers.ts';
import { Cooler } from '../store/cooler.ts';
import type { Database } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { IndexFeeder } from '../store/index-feeder.ts';
import { checksOfIndex } from '../store/index-verify.ts';
import { OwnFiles, realPath } from '../store/own-files.ts';
import { assertInTime, blockingly, patiently } from '../store/patience.ts';
import { openSearchIndex } from '../search/search-index.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { FromService, ServiceCall, Services, ServiceStart } from './service-messages.ts';
import { isWal, openBeside, openForReading } from '../store/store-file.ts';
import type { StoreFile } from '../store/store-file.ts';
import { storeError } from '../store/store-fault.ts';
import { StoreReader } from '../store/store-reader.ts';
import { StoreSearch } from '../store/store-search.ts';
import { checksOfStore } from '../store/store-verify.ts';
import type { Checks } from '../store/store-verify.ts';
import { WalKeeper } from './wal-keeper.ts';
import { failed } from './writer-messages.ts';

/** Of its time, the share that upkeep takes while the store is written to: an index may lag, commits may not. */
const BUSY_SHARE = 0.1;
/** Commits that the index may lack before upkeep takes what time it needs: a search reads them in 0.3 s. */
const LAG_TO_HURRY = 20_000;
/** Commits that the index may lack before it takes any time of a burst: a search reads them in 0.1 s. */
const LAG_IN_BURST = 8_000;
/** Pages of a window that make it a burst. */
const BURST_PAGES = 80;
/** Where another process feeds the index, this one looks again after so long. */
const RACED_MS = 500;
const SCRUB_STEP_MS = 5;
const COOL_STEP_MS = 1;
/** About what the swap of a block writes: a block, its commits without their words, and what is zeroed. */
const SWAP_PAGES = 60;
/** What others write to the index keeps a call waiting so long before the thread looks at its messages again. */
const INDEX_WAIT_MS = 5_000;
/** And what others commit, without a WAL. */
const WAIT_MS = 100;
const REST_STEP_MS = 20;
/** How long the thread waits for others when it begins, whatever callers say of their calls: it does not begin twice. */
const BEGIN_MS = 30_000;

/** What the service thread does; each call in steps, upkeep between them. */
export class StoreService {
  readonly #start: ServiceStart;
  readonly #send: (message: FromService) => void;
  readonly #database: Database;
  readonly #beside: Database;
  readonly #reader: StoreReader;
  readonly #search: StoreSearch;
  readonly #feeder: IndexFeeder;
  readonly #cooler: Cooler;
  readonly #files: OwnFiles;
  readonly #wal: WalKeeper | undefined;
  readonly #cancelled = new Set<number>();
  #index: SearchIndex | undefined;
  #isOfThisLog = false;
  #upkeep: Promise<void> | undefined;
  readonly #rate = new WriteRate({ now: monotonicNow, burst: BURST_PAGES });
  #isClosing = false;

  constructor(start: ServiceStart, send: (message: FromService) => void) {
    this.#start = start;
    this.#send = send;
    const { file } = start;
    this.#database = blockingly(BEGIN_MS, () => openForReading(file, WAIT_MS));
    this.#beside = blockingly(BEGIN_MS, () => openBeside(file));
    this.#reader = new StoreReader(this.#database);
    this.#search = new StoreSearch(this.#database, this.#reader, () => this.#openIndex());
    this.#feeder = new IndexFeeder(this.#database, this.#beside, this.#reader);
    this.#cooler = new Cooler(this.#database, this.#beside, this.#reader, start.hotMessages);
    this.#files = new OwnFiles(file.path, start.files);
    this.#wal = isWal(this.#beside) ? new WalKeeper(this.#beside, this.#files) : undefined;
    this.#keepUp();
  }

  async call(id: number, call: ServiceCall): Promise<void> {
    try {
      const answer = await this.#answer(id, call);
      this.#send({ kind: 'answer', id, answer });
    } catch (error) {
      const outcome = failed(0, storeError(error, this.#start.file.path));
      if ('error' in outcome) this.#send({ kind: 'failed', id, error: { error: outcome.error } });
      else if ('fault' in outcome) this.#send({ kind: 'failed', id, error: { fault: outcome.fault } });
    } finally {
      this.#cancelled.delete(id);
    }
  }

  cancel(id: number): void {
    this.#cancelled.add(id);
  }

  /** Somebody wrote: there may be something to index, and a WAL to move. */
  wrote(pages: number): void {
    this.#rate.wrote(pages);
    this.#wal?.wrote(pages);
    if (this.#attempt(() => this.#wal?.keep())) this.#send({ kind: 'wal_long' });
    this.#keepUp();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#upkeep;
    this.#index?.close();
    this.#beside.close();
    this.#database.close();
  }

  #answer(id: number, call: ServiceCall): Promise<unknown> {
    if (call.kind === 'search') return this.#find(id, call.ask);
    if (call.kind === 'verify') return this.#verify(id);
    this.#files.assertInPlace();
    if (call.kind === 'cool') return this.#cool(id, call.ask.namespace, call.ask.hotMessages);
    if (call.kind === 'catch_up') return this.#feedAll(id);
    return call.kind === 'rebuild' ? this.#rebuild(id) : this.#scrub(id);
  }

  #isOver(id: number): boolean {
    return this.#cancelled.has(id) || this.#isClosing;
  }

  /** Answers a search, or nothing where it was cancelled. One that others have interrupted is begun anew. */
  #find(id: number, { namespace, query }: Services['search']['ask']): Promise<SearchCandidates | undefined> {
    return this.#patiently(async () => {
      for (const steps = this.#search.search(namespace, query); ;) {
        this.#reader.renew();
        const step = steps.next();
        if (step.done === true) return step.value;
        if (this.#isOver(id)) return undefined;
        await othersTurn();
      }
    });
  }

  /** A cooling by hand: as fast as it goes, but for others that are in the way. */
  async #cool(id: number, namespace: string, hotMessages: number | undefined): Promise<number | undefined> {
    let moved = 0;
    let waits = monotonicNow();
    for (const cooling = this.#cooler.run(namespace, hotMessages); ;) {
      this.#reader.renew();
      const { value, done } = cooling.next();
      if (done === true) return moved;
      if (value === 'raced') assertInTime(waits, this.#start.file.busyTimeoutMs);
      else waits = monotonicNow();
      if (typeof value === 'number' && value > 0) {
        moved += value;
        this.#swapped();
        this.#send({ kind: 'progress', id, done: moved });
      }
      if (this.#isOver(id)) return undefined;
      await (value === 'raced' ? pause(COOL_STEP_MS) : othersTurn());
    }
  }

  /** A block was swapped in: so many pages are in the WAL. */
  #swapped(): void {
    this.#wal?.wrote(SWAP_PAGES);
    if (this.#attempt(() => this.#wal?.keep())) this.#send({ kind: 'wal_long' });
  }

  async #verify(id: number): Promise<readonly StoreFault[]> {
    const faults = await this.#check(id, checksOfStore(this.#database));
    try {
      const checks = await this.#patiently(() => checksOfIndex(this.#database, this.#neededIndex(), this.#feeder));
      return [...faults, ...(await this.#check(id, checks))];
    } catch (error) {
      if (isTurnkeepError(error, 'store_busy')) throw error;
      const place = searchPath(this.#start.file);
      // What was found of the store is told whatever its index is like, which is built anew where there is room.
      if (isTurnkeepError(error, 'store_full'))
        return [...faults, { kind: 'search_index', place, reason: 'no space is left to open the search index' }];
      this.#dropIndex();
      const reason = isTurnkeepError(error, 'store_unavailable') ? error.details.reason : driverFault(error).message;
      return [...faults, { kind: 'search_index', place, reason }];
    }
  }

  async #check(id: number, checks: Checks): Promise<readonly StoreFault[]> {
    const faults: StoreFault[] = [];
    for (const check of checks) {
      this.#reader.renew();
      faults.push(...(await this.#patiently(check)));
      if (this.#isOver(id)) break;
      await othersTurn();
    }
    return faults;
  }

  async #rebuild(id: number): Promise<undefined> {
    await this.#patiently(() => this.#neededIndex().clear());
    return this.#feedAll(id);
  }

  async #feedAll(id: number): Promise<undefined> {
    for (;;) {
      const fed = await this.#patiently(() => this.#feeder.step(this.#neededIndex()));
      if (fed === 'ended' || this.#isOver(id)) return undefined;
      await othersTurn();
    }
  }

  /** What a step answers that somebody waits for. */
  #patiently<Result>(step: () => Result | Promise<Result>): Promise<Result> {
    return patiently(this.#start.file.busyTimeoutMs, step);
  }

  async #scrub(id: number): Promise<undefined> {
    for (;;) {
      if (this.#isOver(id)) return undefined;
      if (!(await this.#patiently(() => this.#scrubStep()))) return undefined;
      await pause(SCRUB_STEP_MS);
    }
  }

  /** Answers whether there is more to do. */
  #scrubStep(): boolean {
    try {
      const index = this.#neededIndex();
      return this.#feeder.removeStale(index) || index.scrub();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#dropIndex();
      return true;
    }
  }

  #keepUp(): void {
    this.#upkeep ??= this.#runUpkeep().finally(() => {
      this.#upkeep = undefined;
    });
  }

  /** As long as there is something to do; slowly while commits need the machine, and after a burst of them. */
  async #runUpkeep(): Promise<void> {
    for (let more = true; more && !this.#isClosing;) {
      if (this.#index && this.#rate.isBurst() && this.#lag() < LAG_IN_BURST) {
        await this.#rest(WINDOW_MS);
        continue;
      }
      const start = monotonicNow();
      const did = this.#attempt(() => this.#upkeepStep()) ?? 'raced';
      more = did !== 'ended';
      await this.#rest(did === 'raced' ? RACED_MS : this.#pauseAfter(monotonicNow() - start));
    }
  }

  /** The index first: what it lacks is scanned by searches. */
  #upkeepStep(): 'added' | 'raced' | 'ended' {
    if (this.#files.problem() !== undefined) return 'ended';
    const fed = this.#feedStep();
    if (fed !== 'ended') return fed;
    this.#reader.renew();
    const cooled = this.#cooler.step();
    if (cooled === 'cooled') this.#swapped();
    return cooled === 'raced' || cooled === 'ended' ? cooled : 'added';
  }

  #feedStep(): 'added' | 'raced' | 'ended' {
    const index = this.#openIndex();
    if (!index) return 'ended';
    const removed = this.#feeder.removeStale(index);
    const fed = this.#feeder.step(index);
    return fed === 'ended' && removed ? 'added' : fed;
  }

  /** Waits, but not when the store is being closed. */
  async #rest(durationMs: number): Promise<void> {
    for (let left = durationMs; left >= 0 && !this.#isClosing; left -= REST_STEP_MS)
      await pause(Math.min(left, REST_STEP_MS));
  }

  #pauseAfter(tookMs: number): number {
    if (this.#rate.isQuiet() || this.#lag() > LAG_TO_HURRY) return 0;
    return Math.max(2, tookMs / BUSY_SHARE - tookMs);
  }

  /** Commits that the index lacks, as far as it can be told. */
  #lag(): number {
    const index = this.#index;
    return (index && this.#attempt(() => this.#feeder.lag(index))) ?? 0;
  }

  /**
   * What a step of upkeep answers; nothing where others were in its way, where the system had no room or failed (a later
   * step tries again), where the index has to be made anew, or where the store is not in its place any more.
   */
  #attempt<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      if (isDamage(error)) this.#dropIndex();
      else if (!isTurnkeepError(error) && driverFault(error).kind === 'other') throw error;
      return undefined;
    }
  }

  /** The index is derived: where it cannot be had, the log is scanned. */
  #openIndex(): SearchIndex | undefined {
    try {
      return this.#openedIndex();
    } catch {
      return undefined;
    }
  }

  #openedIndex(): SearchIndex {
    const { file, storeId } = this.#start;
    const busyTimeoutMs = Math.min(INDEX_WAIT_MS, file.busyTimeoutMs);
    const wal = this.#wal !== undefined;
    const assertMayOpen = () => this.#files.assertInPlace();
    const options = { storeId, driver: file.driver, busyTimeoutMs, wal, assertMayOpen };
    this.#index ??= openSearchIndex(searchPath(file), options);
    try {
      this.#index.position();
      if (!this.#isOfThisLog && !this.#feeder.isOfThisLog(this.#index)) this.#index.clear();
      this.#isOfThisLog = true;
      return this.#index;
    } catch (error) {
      this.#index.close();
      this.#index = undefined;
      throw error;
    }
  }

  #neededIndex(): SearchIndex {
    try {
      return this.#openedIndex();
    } catch (error) {
      const { kind, message } = driverFault(error);
      if (kind === 'busy' || isTurnkeepError(error)) throw error;
      const place = searchPath(this.#start.file);
      if (kind === 'full') throw new TurnkeepError('store_full', { place }, { cause: error });
      const reason = `the search index cannot be opened: ${message}`;
      throw new TurnkeepError('store_unavailable', { place, reason }, { cause: error });
    }
  }

  /** Where no new one can be made now, that is tried again when it is needed. */
  #dropIndex(): void {
    try {
      this.#index?.clear();
    } catch {
      this.#index?.close();
    } finally {
      this.#index = undefined;
    }
  }
}

function isDamage(error: unknown): boolean {
  const { kind } = driverFault(error);
  return kind === 'corrupt' || kind === 'not_a_database';
}

/** Beside the file itself, whatever links lead to it: of one store there is one index, or an erasure would miss the other. */
function searchPath({ path }: StoreFile): string {
  return `${realPath(path)}-search`;
}
