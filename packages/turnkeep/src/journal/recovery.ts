import { othersTurn } from '../platform/timers.ts';
import { readMark } from './log/durable-mark.ts';
import type { DurableMark } from './log/durable-mark.ts';
import { readMeta } from './log/commit-line.ts';
import { readLine } from './log/frame.ts';
import type { JournalFile } from './files/file-system.ts';
import { readWhole } from './files/files.ts';
import { LAYOUT, segmentName, segmentNumbers } from './files/layout.ts';
import { isBefore, LOG_START } from './log/position.ts';
import type { Position } from './log/position.ts';
import { replay } from './log/replay.ts';
import type { Replayed } from './log/replay.ts';
import { placeName } from './log/segments.ts';
import { isArchived, numbersOfSegments, sweepArchives } from './log/segment-files.ts';
import { IndexDamage } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';
import type { Unfinished } from './log/tail.ts';

const COPY_BYTES = 1_048_576;

/**
 * Brings a writer's store in order: the index is the fold and what the log has beyond it. Damage is reported and left as
 * it is; only what no sync reached is cut off, after it was set aside. Answers the end of the log: the next line has the
 * number after its `n`.
 */
export async function recover(parts: StoreParts, refreshes: boolean): Promise<Position> {
  const { folds, index } = parts;
  await sweepArchives(parts);
  const mark = await soundMark(parts);
  try {
    folds.load(mark?.fold);
    assertFits(parts, folds.position);
  } catch (error) {
    if (!(error instanceof IndexDamage)) throw error;
    await dropIndex(parts, error);
  }
  if (refreshes) await refresh(parts, folds.position);
  const replayed = await onSoundIndex(parts, () => {
    return replay(parts, { from: folds.position, mark, onChunk: () => foldIfDue(parts) });
  });
  if (replayed.unfinished) await cutOff(parts, replayed.unfinished);
  const end = await endOf(parts, replayed, mark);
  folds.sweep();
  index.recent.position = end;
  return end;
}

/**
 * Where the fold ends a line must end, and the right one: else bytes were put into the segment or taken out of it, and no
 * place in the index is right any more.
 */
export function assertFits({ segments }: StoreParts, position: Position): void {
  const { segment, byte, n } = position;
  const file = byte > 0 ? segments.file(segment) : undefined;
  if (!file || file.sizeBytes() < byte) return;
  const start = lineStart(file, byte - 1);
  const bytes = Buffer.allocUnsafe(byte - start);
  file.read(bytes, start);
  const last = readLine(bytes, 0, bytes.length - 1).at(-1);
  const isEnd = bytes.at(-1) === LINE_FEED && (!last || 'reason' in last || readMeta(last.meta)?.n === n);
  if (isEnd) return;
  const place = placeName({ segment, byte });
  throw new IndexDamage(place, 'the index was made of another segment than this');
}

const LINE_FEED = 0x0a;

/** Where the line begins that ends before `end`. */
function lineStart(file: JournalFile, end: number): number {
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - COPY_BYTES);
    const bytes = Buffer.allocUnsafe(to - from);
    file.read(bytes, from);
    const found = bytes.lastIndexOf(LINE_FEED);
    if (found >= 0) return from + found + 1;
    to = from;
  }
  return 0;
}

/** The mark; one that is damaged is set aside, since the next one is written in its place. */
async function soundMark(parts: StoreParts): Promise<DurableMark | undefined> {
  const mark = readMark(parts.fs, parts.directory, parts.store);
  const isNew = numbersOfSegments(parts).length === 0;
  if (mark || isNew) return mark;
  const bytes = readWhole(parts.fs, `${parts.directory}/${LAYOUT.durable}`) ?? Buffer.alloc(0);
  await parts.damaged.setAside(
    LAYOUT.durable,
    bytes,
    LAYOUT.durable,
    'it was damaged, missing, or another store’s, and is written anew',
  );
  return undefined;
}

/** Runs `work`; where the index turns out to be damaged, once more with no index but the log. */
async function onSoundIndex<Result>(parts: StoreParts, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IndexDamage)) throw error;
    await dropIndex(parts, error);
    return work();
  }
}

/** Forgets an index that is damaged, and leaves word of it. */
async function dropIndex(parts: StoreParts, error: IndexDamage): Promise<void> {
  await noteDamage(parts, error);
  parts.folds.reset();
}

/** Leaves word of an index that is damaged: once, however often it is tried to build it anew. */
export async function noteDamage({ damaged }: StoreParts, { message, place }: IndexDamage): Promise<void> {
  const reason = `${message}; the index is built anew from the segments`;
  if (damaged.list().some((known) => known.place === place && known.reason === reason)) return;
  await damaged.setAside('index.txt', Buffer.from(`${message}\n`), place, reason);
}

export async function foldIfDue({ folds }: StoreParts): Promise<void> {
  if (folds.isDue()) await folds.fold();
  await othersTurn();
}

/**
 * Writes the end of the log anew, byte for byte, and syncs it: after a sync that failed the system may hold pages for
 * clean that never reached the disk.
 */
async function refresh(parts: StoreParts, from: Position): Promise<void> {
  const { fs, segmentsDirectory } = parts;
  for (const segment of segmentNumbers(fs.list(segmentsDirectory) ?? [])) {
    if (segment < from.segment) continue;
    const file = fs.open(`${segmentsDirectory}/${segmentName(segment)}`, 'update');
    try {
      copyOnto(file, segment === from.segment ? from.byte : 0);
      await file.sync();
    } finally {
      file.close();
    }
  }
  await fs.syncDirectory(segmentsDirectory);
  await fs.syncDirectory(parts.directory);
}

function copyOnto(file: JournalFile, from: number): void {
  const bytes = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = from; ;) {
    const filled = file.read(bytes, at);
    if (filled === 0) return;
    file.write(bytes.subarray(0, filled), at);
    at += filled;
  }
}

/** Sets aside what no sync reached, and cuts it off. */
async function cutOff(parts: StoreParts, { segment, byte }: Unfinished): Promise<void> {
  if (isArchived(parts, segment)) return;
  const path = `${parts.segmentsDirectory}/${segmentName(segment)}`;
  const file = parts.fs.open(path, 'update');
  try {
    const bytes = Buffer.allocUnsafe(Math.max(0, file.sizeBytes() - byte));
    file.read(bytes, byte);
    const reason = 'a group of lines that was never acknowledged is not whole';
    await parts.damaged.setAside(`${segmentName(segment)}.${byte}`, bytes, placeName({ segment, byte }), reason);
    file.truncate(byte);
    await file.sync();
  } finally {
    file.close();
  }
  parts.segments.forget();
}

/**
 * Where the next line goes: behind the last one, on a line of its own; into a new segment where bytes of the last one are
 * missing or stand beyond its last line.
 */
async function endOf(parts: StoreParts, { position }: Replayed, mark: DurableMark | undefined): Promise<Position> {
  const { folds } = parts;
  const last = numbersOfSegments(parts).at(-1) ?? 0;
  const known = Math.max(folds.position.segment, mark?.segment ?? 0);
  // The number of a line that is lost is never given again.
  const n = Math.max(position.n, mark?.n ?? 0, ...folds.state.doubts.map(({ to }) => to));
  if (last === 0 && known <= 1 && n === 0) return LOG_START;
  const size = parts.segments.file(last)?.sizeBytes() ?? 0;
  const isLast = last === position.segment && size === position.byte && position.n === n;
  const isWhole = isLast && !(mark && isBefore(position, mark));
  if (last === known && size < durableBytes(last, folds.position, mark))
    await noteCut(parts, { segment: last, byte: size });
  // Nothing is added to an archive: the next segment may have begun, without a line in it.
  if (isWhole && isArchived(parts, last)) return { segment: last + 1, byte: 0, n };
  if (!isWhole) return { segment: Math.max(last, known) + 1, byte: 0, n };
  if (size === 0 || (await endsWithLineFeed(parts, last, size))) return position;
  return { ...position, byte: size + 1 };
}

/** How long a segment was when the log was last known to be durable. */
function durableBytes(segment: number, ...positions: readonly (Position | undefined)[]): number {
  return Math.max(0, ...positions.map((known) => (known?.segment === segment ? known.byte : 0)));
}

async function noteCut({ damaged }: StoreParts, end: Unfinished): Promise<void> {
  await damaged.setAside('cut', Buffer.alloc(0), placeName(end), 'the segment ends here, but was durable beyond');
}

/** Where only the line feed of a whole line is missing, it is added. */
async function endsWithLineFeed(parts: StoreParts, segment: number, size: number): Promise<boolean> {
  const file = parts.fs.open(`${parts.segmentsDirectory}/${segmentName(segment)}`, 'update');
  try {
    const last = Buffer.alloc(1);
    file.read(last, size - 1);
    if (last[0] === 0x0a) return true;
    file.write(Buffer.from('\n'), size);
    await file.sync();
    return false;
  } finally {
    file.close();
  }
}
