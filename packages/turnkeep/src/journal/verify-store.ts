import { abortedBy } from '../core/abort.ts';
import type { StoreFault } from '../core/backend.ts';
import { othersTurn } from '../platform/timers.ts';
import { ArchiveFile } from './log/archive-file.ts';
import { INDEX } from './index/index-keys.ts';
import { findManifest } from './manifest.ts';
import { readMark } from './log/durable-mark.ts';
import { readFold } from './index/fold-state.ts';
import { archiveName, archiveNumbers, LAYOUT, segmentNumbers } from './files/layout.ts';
import { unpackPlace } from './log/place.ts';
import { LOG_START } from './log/position.ts';
import type { Position } from './log/position.ts';
import { walkLog } from './log/walk-log.ts';
import { placeName } from './log/segments.ts';
import { openArchive, saysTheSame } from './log/segment-files.ts';
import { IndexDamage } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';
import { Tail } from './log/tail.ts';
import type { Damage } from './log/tail.ts';
import type { FoundLine } from './log/walk.ts';

/** Checks every file and reports each fault with its place; `end` is what is durable. It yields between slices. */
export async function verifyFiles(
  parts: StoreParts,
  end: Position | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly StoreFault[]> {
  return [
    ...smallFileFaults(parts),
    ...(await segmentFaults(parts, end, signal)),
    ...(await archiveFaults(parts, signal)),
    ...(await runFaults(parts, signal)),
    ...(await filterFaults(parts, signal)),
    ...parts.folds.state.doubts.map(({ place, reason }) => fault('lost', place, reason)),
    ...parts.damaged
      .list()
      .map(({ file, place, reason }) => fault('set_aside', place, `${reason}; see ${LAYOUT.damaged}/${file}`)),
  ];
}

function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

function fault(kind: string, place: string, reason: string): StoreFault {
  return { kind, place, reason };
}

function smallFileFaults({ fs, directory, store }: StoreParts): readonly StoreFault[] {
  const faults: StoreFault[] = [];
  const found = findManifest(fs, directory);
  for (const name of found?.damaged ?? [LAYOUT.manifest])
    faults.push(fault('manifest', name, 'the copy is damaged or missing'));
  if (readFold(fs, directory, store) === 'damaged')
    faults.push(fault('index', LAYOUT.fold, 'it does not match its digest'));
  if (!readMark(fs, directory, store))
    faults.push(fault('mark', LAYOUT.durable, 'it is damaged, missing, or another store’s'));
  return faults;
}

async function segmentFaults(
  parts: StoreParts,
  end: Position | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  const tail = new Tail(LOG_START, (line) => {
    const problem = indexProblem(parts, line);
    if (problem !== undefined) faults.push(fault('index', placeName(line), problem));
  });
  for (const found of walkLog(parts, LOG_START, end)) {
    for (const one of found) tail.push(one);
    await othersTurn();
    assertWanted(signal);
  }
  tail.finish(end && { ...end, fold: 0, boot: '' });
  return [...tail.damages.map(damageFault), ...faults];
}

function damageFault({ segment, byte, length, reason, lost, isLine }: Damage): StoreFault {
  const kind = length === 0 ? 'lost' : lost || isLine ? 'damaged' : 'foreign_bytes';
  return fault(kind, placeName({ segment, byte }), length === 0 ? reason : `${length} bytes: ${reason}`);
}

/** The index must lead to each line. */
function indexProblem(parts: StoreParts, { segment, byte, length, meta }: FoundLine): string | undefined {
  const { ns, conversation, version } = meta;
  if (conversation === undefined || version === undefined) return undefined;
  try {
    const row = parts.index.get(ns, conversation, INDEX.place(version));
    const place = row && unpackPlace(row);
    if (place?.segment === segment && place.byte === byte && place.length === length) return undefined;
    return `the index does not lead to version ${version} of conversation ${conversation}`;
  } catch (error) {
    // A damaged block is reported as itself.
    if (error instanceof IndexDamage) return undefined;
    throw error;
  }
}

async function archiveFaults(parts: StoreParts, signal: AbortSignal | undefined): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for (const segment of archiveNumbers(parts.fs.list(parts.archivesDirectory) ?? [])) {
    const place = `${LAYOUT.archives}/${archiveName(segment)}`;
    const archive = openArchive(parts, segment);
    if (typeof archive === 'string') faults.push(fault('archive', place, archive));
    if (!(archive instanceof ArchiveFile)) continue;
    const isBeside = segmentNumbers(parts.fs.list(parts.segmentsDirectory) ?? []).includes(segment);
    if (isBeside && !saysTheSame(parts, segment))
      faults.push(fault('archive', place, 'the segment stands beside it, and they do not say the same'));
    try {
      for (const problem of archive.check()) {
        if (problem) faults.push(fault('archive', place, problem.reason));
        await othersTurn();
        assertWanted(signal);
      }
    } finally {
      archive.close();
    }
  }
  return faults;
}

async function runFaults({ index }: StoreParts, signal: AbortSignal | undefined): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for (const run of index.runs) {
    for (const problem of run.check()) {
      if (problem !== undefined) faults.push(fault('index', problem.place, problem.message));
      await othersTurn();
      assertWanted(signal);
    }
  }
  return faults;
}

async function filterFaults({ filters }: StoreParts, signal: AbortSignal | undefined): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for (const problem of filters.check()) {
    if (problem) faults.push(fault('index', `${LAYOUT.search}/${problem.name}`, problem.reason));
    await othersTurn();
    assertWanted(signal);
  }
  return faults;
}
