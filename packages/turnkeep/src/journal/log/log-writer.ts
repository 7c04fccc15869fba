import type { WriteSet } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import { applyLine, changeOfWrites } from './apply.ts';
import { lineParts } from './commit-line.ts';
import type { MarkWriter } from './durable-mark.ts';
import { errorCode } from '../files/file-system.ts';
import type { JournalFile } from '../files/file-system.ts';
import { LAYOUT, segmentName } from '../files/layout.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Position } from './position.ts';
import { IndexDamage, storeError } from '../store-error.ts';
import type { StoreParts } from '../store-parts.ts';

/** What the system says where it has no descriptor left. */
const LACKS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** A write set that was decided, and whose it is. */
export interface Decided {
  readonly namespace: NamespaceId;
  readonly writes: WriteSet;
}

/** The handle may not say any more that something is durable: a sync failed, and the system may have dropped pages. */
export class SyncFailure extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'SyncFailure';
  }
}

/** Appends groups of lines to the log: one write and one sync a group. One group at a time. */
export class LogWriter {
  readonly #parts: StoreParts;
  readonly #mark: MarkWriter;
  readonly #lines = new LineBuffer();
  #end: Position;
  #file: JournalFile | undefined;
  #broken: SyncFailure | undefined;
  /** True where there was no room for the mark: it comes before the next group. */
  #isMarkDue = false;

  constructor(parts: StoreParts, mark: MarkWriter, end: Position) {
    this.#parts = parts;
    this.#mark = mark;
    this.#end = end;
  }

  /** Why nothing can be written any more. */
  get broken(): SyncFailure | undefined {
    return this.#broken;
  }

  /** The end of what is durable. */
  get end(): Position {
    return this.#end;
  }

  /**
   * Makes a group durable and then shows it to readers; answers its bytes. Throws a `TurnkeepError` when nothing of it was
   * written, `SyncFailure` when nobody can tell, and `IndexDamage` when it is durable and the index has to be built anew.
   */
  async append(group: readonly Decided[]): Promise<number> {
    if (group.length === 0) return 0;
    if (this.#isMarkDue) this.#writeMark();
    const file = await this.#segment();
    const start = this.#end;
    const lengths = this.#add(group, start);
    const bytes = this.#lines.take();
    await this.#write(file, bytes, start);
    this.#end = { segment: start.segment, byte: start.byte + bytes.length, n: start.n + group.length };
    try {
      this.#show(group, lengths, start);
      this.#parts.index.recent.position = this.#end;
    } catch (error) {
      // Half of a line may be in the index.
      if (error instanceof IndexDamage) this.#parts.index.unbuilt = error;
      throw error;
    } finally {
      this.#markEnd();
    }
    return bytes.length;
  }

  /**
   * Ends the segment: the next group begins another one. Throws `SyncFailure` where nobody can tell what stands at its end: the
   * next writer must still look there.
   */
  async roll(): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.#end.byte === 0) return;
    this.close();
    this.#end = { segment: this.#end.segment + 1, byte: 0, n: this.#end.n };
    this.#parts.index.recent.position = this.#end;
    this.#markEnd();
  }

  /** Puts the lines of a group into the buffer: all of them or none. */
  #add(group: readonly Decided[], start: Position): readonly number[] {
    try {
      return group.map(({ namespace, writes }, at) => {
        const number = { n: start.n + at + 1, group: start.n + 1 };
        return this.#lines.add(lineParts(this.#parts.store, number, namespace, writes));
      });
    } catch (error) {
      // What stands there of the group is nobody's: the next one begins anew.
      this.#lines.take();
      throw storeError(error, segmentName(start.segment));
    }
  }

  async #write(file: JournalFile, bytes: Buffer, start: Position): Promise<void> {
    try {
      file.write(bytes, start.byte);
    } catch (error) {
      await this.#takeBack(file, start, error);
    }
    try {
      await file.sync();
    } catch (error) {
      throw this.#break(error);
    }
  }

  /** A write that failed may have left bytes behind: they go, durably, before the failure is told. */
  async #takeBack(file: JournalFile, start: Position, error: unknown): Promise<never> {
    try {
      file.truncate(start.byte);
      await file.sync();
    } catch (failure) {
      throw this.#break(failure);
    }
    throw storeError(error, segmentName(start.segment));
  }

  #break(error: unknown): SyncFailure {
    this.#broken = new SyncFailure(error);
    return this.#broken;
  }

  #show(group: readonly Decided[], lengths: readonly number[], start: Position): void {
    const { index } = this.#parts;
    let { byte } = start;
    for (const [at, { namespace, writes }] of group.entries()) {
      const length = lengths[at] as number; // one for each of the group
      applyLine(index, changeOfWrites(start.n + at + 1, namespace, writes), { segment: start.segment, byte, length });
      byte += length + 1;
    }
    index.recent.commits += group.length;
    index.recent.bytes += byte - start.byte;
  }

  /**
   * The group is durable, whatever becomes of the mark; but without it other processes would not see what follows. Where files
   * are never written in their own place, a full disk may have no room for it: then nothing follows until it has.
   */
  #markEnd(): void {
    try {
      this.#writeMark();
    } catch (error) {
      if (isTurnkeepError(error, 'store_full')) this.#isMarkDue = true;
      else this.#broken = new SyncFailure(error);
    }
  }

  #writeMark(): void {
    try {
      this.#mark.write(this.#end, this.#parts.folds.state.generation);
      this.#isMarkDue = false;
    } catch (error) {
      throw storeError(error, LAYOUT.durable);
    }
  }

  /** The file to append to; a new one when the last is long enough. */
  async #segment(): Promise<JournalFile> {
    const { settings, fs, segmentsDirectory } = this.#parts;
    if (this.#end.byte >= settings.segmentBytes) {
      this.close();
      this.#end = { segment: this.#end.segment + 1, byte: 0, n: this.#end.n };
    }
    if (this.#file) return this.#file;
    const name = segmentName(this.#end.segment);
    try {
      this.#file = fs.open(`${segmentsDirectory}/${name}`, 'update');
    } catch (error) {
      throw storeError(error, name);
    }
    await this.#syncName(name);
    return this.#file;
  }

  /** A line is no more durable than the name of its file: that may be new, or of a file that was just replaced. */
  async #syncName(name: string): Promise<void> {
    try {
      await this.#parts.fs.syncDirectory(this.#parts.segmentsDirectory);
    } catch (error) {
      // Where there is no descriptor for the directory nothing was tried: the next group does.
      if (LACKS.has(errorCode(error) ?? '')) this.close();
      else this.#break(error);
      throw storeError(error, name);
    }
  }

  /** Closes the segment; the next group opens it again. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
