import type { NamespaceId } from '../../core/ids.ts';
import { othersTurn } from '../../platform/timers.ts';
import { numbersIn } from '../../core/keys.ts';
import { markForScrub } from '../log/apply.ts';
import type { LineMeta } from '../log/commit-line.ts';
import { archiveSegment } from '../log/archive-writer.ts';
import { noteArchive } from './cool-memory.ts';
import type { CommitQueue } from '../commit-queue.ts';
import { discard } from '../files/files.ts';
import type { JournalFile } from '../files/file-system.ts';
import { INDEX, NO_CONVERSATION } from '../index/index-keys.ts';
import { archiveName, segmentName, TEMPORARY } from '../files/layout.ts';
import type { LogWriter } from '../log/log-writer.ts';
import { LOG_START } from '../log/position.ts';
import { walkLog } from '../log/walk-log.ts';
import { attachmentNamedBy, scrubbedLine } from './scrub-line.ts';
import type { SegmentFile } from '../log/archive-file.ts';
import { openSegment } from '../log/segment-files.ts';
import type { StoreParts } from '../store-parts.ts';

const COPY_BYTES = 1_048_576;

interface LinePlace {
  readonly byte: number;
  readonly length: number;
}

/**
 * Takes out of all files what lines say and may say no more. First the index is folded: it must not need the lines. Then
 * each segment is rewritten as one, in order, so that what a line takes away is never revived by an earlier one; the filters
 * of such lines go, and at last the runs are merged into one, without what was removed.
 */
export async function scrub(
  parts: StoreParts,
  log: LogWriter,
  queue: CommitQueue,
  namespace: NamespaceId,
): Promise<void> {
  const { folds, index } = parts;
  const gone = await markMentions(parts, log, namespace);
  const pending = readableLines(parts, pendingLines(parts, namespace));
  if (pending.size === 0) return;
  await queue.alone(() => folds.fold());
  for (const [segment, places] of pending) {
    await queue.alone(async () => {
      log.close();
      await rewrite(parts, segment, places);
    });
  }
  await parts.filters.forget(pending);
  for (const [segment, places] of pending) {
    for (const { byte } of places) index.put(namespace, NO_CONVERSATION, INDEX.scrub(segment, byte), null);
  }
  for (const key of gone) index.put(namespace, NO_CONVERSATION, key, null);
  await queue.alone(() => folds.fold());
  await folds.mergeAll(1);
  await parts.damaged.clear();
}

/**
 * Marks the lines whose rows name attachments that are gone; answers the keys that said so. All of them are scrubbed
 * together, in order: the line that took an attachment away may then forget that it did.
 */
async function markMentions(parts: StoreParts, log: LogWriter, namespace: NamespaceId): Promise<readonly string[]> {
  const { index } = parts;
  const range = { from: INDEX.goneStart, to: INDEX.goneEnd };
  const gone = index.scan(namespace, NO_CONVERSATION, range).map(({ key }) => key);
  const digests = new Set(gone.map((key) => key.slice(INDEX.goneStart.length)));
  if (digests.size === 0) return gone;
  for (const found of walkLog(parts, LOG_START, log.end)) {
    for (const line of found) {
      if (line.kind === 'line' && line.meta.ns === namespace && namesAny(line.meta, digests))
        markForScrub(index, namespace, line);
    }
    await othersTurn();
  }
  return gone;
}

function namesAny({ rows, conversation }: LineMeta, digests: ReadonlySet<string>): boolean {
  return rows.some(([key, , elsewhere]) => {
    const digest = attachmentNamedBy(elsewhere ?? conversation, key);
    return digest !== undefined && digests.has(digest);
  });
}

/** The lines to be scrubbed, by segment and in order. */
export function pendingLines(parts: StoreParts, namespace: NamespaceId): ReadonlyMap<number, readonly LinePlace[]> {
  const pending = new Map<number, LinePlace[]>();
  const range = { from: INDEX.scrubStart, to: INDEX.scrubEnd };
  for (const { key, value } of parts.index.scan(namespace, NO_CONVERSATION, range)) {
    const [segment, byte] = numbersIn(key, INDEX.scrubStart.length) as [number, number];
    const places = pending.get(segment) ?? [];
    places.push({ byte, length: value[0] as number });
    pending.set(segment, places);
  }
  return pending;
}

/** Lines in blocks that are damaged wait until somebody has put them right: nobody can take a word out of them. */
function readableLines(parts: StoreParts, pending: ReadonlyMap<number, readonly LinePlace[]>): typeof pending {
  const readable = new Map<number, readonly LinePlace[]>();
  for (const [segment, places] of pending) {
    const file = parts.segments.file(segment);
    const sound = places.filter(({ byte }) => file?.flawAt(byte) === undefined);
    if (sound.length > 0) readable.set(segment, sound);
  }
  return readable;
}

async function copyBytes(source: JournalFile, copy: JournalFile): Promise<void> {
  const chunk = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = 0; ;) {
    const filled = source.read(chunk, at);
    if (filled === 0) return;
    copy.write(chunk.subarray(0, filled), at);
    at += filled;
    await othersTurn();
  }
}

/** An archive beside a segment that is read is damaged: what is left of it holds the words that are gone. */
async function dropArchive({ fs, archivesDirectory, segmentsDirectory }: StoreParts, segment: number): Promise<void> {
  const name = archiveName(segment);
  if (fs.list(archivesDirectory)?.includes(name) !== true) return;
  await fs.syncDirectory(segmentsDirectory);
  fs.remove(`${archivesDirectory}/${name}`);
  await fs.syncDirectory(archivesDirectory);
}

/** Replaces a segment by a copy of it without the words that are gone. */
async function rewrite(parts: StoreParts, segment: number, places: readonly LinePlace[]): Promise<void> {
  const source = openSegment(parts, segment);
  if (!source) return;
  try {
    await rewriteFrom(source, parts, segment, places);
  } finally {
    source.close();
  }
  await parts.fs.syncDirectory(parts.segmentsDirectory);
  parts.segments.forget();
}

async function rewriteFrom(
  source: SegmentFile,
  parts: StoreParts,
  segment: number,
  places: readonly LinePlace[],
): Promise<void> {
  const { fs, segmentsDirectory, index } = parts;
  const path = `${segmentsDirectory}/${segmentName(segment)}`;
  const copy = fs.open(path + TEMPORARY, 'replace');
  try {
    await copyBytes(source, copy);
    for (const { byte, length } of places) {
      const line = Buffer.alloc(length);
      const filled = source.read(line, byte);
      copy.write(Buffer.from(scrubbedLine(index, line.subarray(0, filled))), byte);
    }
    const stretches = source.coolStretches();
    if (stretches.length > 0) {
      const cool = stretches.filter(([from]) => source.flawAt(from) === undefined);
      await archiveSegment(parts, segment, copy, cool, source.flawedBlocks());
      noteArchive(parts, segment);
      fs.remove(path + TEMPORARY);
    } else {
      await copy.sync();
      fs.rename(path + TEMPORARY, path);
      await dropArchive(parts, segment);
    }
  } catch (error) {
    discard(fs, path + TEMPORARY);
    throw error;
  } finally {
    copy.close();
  }
}
