import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import { othersTurn } from '../../platform/timers.ts';
import { archiveName, archiveNumbers, segmentName, segmentNumbers } from '../files/layout.ts';
import { openIfThere } from '../files/files.ts';
import { INDEX, NO_CONVERSATION, NO_NAMESPACE } from '../index/index-keys.ts';
import type { StoreParts } from '../store-parts.ts';

const LINES = 4_096;

/** What was found out about a namespace: of its lines up to number `n`, whatever may cool with so many hot messages has. */
export interface CoolMemory {
  readonly hotMessages: number;
  readonly n: number;
  /** What {@link strangersIn} answered then. */
  readonly strangers: readonly string[];
}

/**
 * The memory of a namespace, where it still says something about cooling with so many hot messages: with more of them less may
 * cool. Files that have changed since may hold lines that were cool and are no more; then there is none.
 */
export function coolMemory(
  { index, folds }: StoreParts,
  namespace: NamespaceId,
  hotMessages: number,
  strangers: readonly string[],
): CoolMemory | undefined {
  const row = index.get(namespace, NO_CONVERSATION, INDEX.cooled);
  if (!row || folds.state.doubts.length > 0) return undefined;
  const [hot, n, ...others] = row as readonly [number, number, ...string[]];
  const isSame = others.length === strangers.length && others.every((one, at) => one === strangers[at]);
  return isSame && hot <= hotMessages ? { hotMessages: hot, n, strangers } : undefined;
}

/** Answers whether that is news. It is durable with the next fold; one that a crash takes is found out again. */
export function rememberCool(
  { index, folds }: StoreParts,
  namespace: NamespaceId,
  { hotMessages, n, strangers }: CoolMemory,
): boolean {
  if (folds.state.doubts.length > 0) return false;
  const row = [hotMessages, n, ...strangers];
  const before = index.get(namespace, NO_CONVERSATION, INDEX.cooled);
  if (before?.length === row.length && row.every((value, at) => before[at] === value)) return false;
  index.put(namespace, NO_CONVERSATION, INDEX.cooled, row);
  return true;
}

/** The conversations that have commits with numbers above `n`. */
export async function touchedSince(
  { index }: StoreParts,
  namespace: NamespaceId,
  n: number,
): Promise<ReadonlySet<ConversationId>> {
  const touched = new Set<ConversationId>();
  for (let from = INDEX.feed(n + 1); ;) {
    const rows = index.scan(namespace, NO_CONVERSATION, { from, to: INDEX.feedEnd, limit: LINES });
    for (const { value } of rows) touched.add(value[0] as ConversationId); // as `feed` says
    const last = rows.at(-1);
    if (!last || rows.length < LINES) return touched;
    from = `${last.key}\u0000`;
    await othersTurn();
  }
}

/** Keeps in mind which file the archive of a segment is that was just put in its place. */
export function noteArchive(parts: StoreParts, segment: number): void {
  const identity = identityOf(parts, `${parts.archivesDirectory}/${archiveName(segment)}`);
  parts.index.put(NO_NAMESPACE, NO_CONVERSATION, INDEX.archive(segment), [identity]);
}

/**
 * Archives that this store's writers did not put in their places, as far as is kept in mind, and segments where an archive was:
 * each by what tells it from another file.
 */
export function strangersIn(parts: StoreParts): readonly string[] {
  const { fs, archivesDirectory, segmentsDirectory, index } = parts;
  const noted = (segment: number) => index.get(NO_NAMESPACE, NO_CONVERSATION, INDEX.archive(segment))?.[0];
  const archived = archiveNumbers(fs.list(archivesDirectory) ?? []);
  const strange = archived.flatMap((segment) => {
    const identity = identityOf(parts, `${archivesDirectory}/${archiveName(segment)}`);
    return identity === noted(segment) ? [] : [`a${segment}:${identity}`];
  });
  const putBack = segmentNumbers(fs.list(segmentsDirectory) ?? [])
    .filter((segment) => archived.includes(segment) || noted(segment))
    .map((segment) => `s${segment}:${identityOf(parts, `${segmentsDirectory}/${segmentName(segment)}`)}`);
  return [...strange, ...putBack];
}

/** What tells a file from another one that took its place. */
function identityOf({ fs }: StoreParts, path: string): string {
  const file = openIfThere(fs, path);
  if (!file) return 'none';
  try {
    return `${file.identity()}:${file.sizeBytes()}`;
  } finally {
    file.close();
  }
}
