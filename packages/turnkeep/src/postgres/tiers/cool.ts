import { packBlock, packBlockAside } from '../../archive/block.ts';
import { abortedBy } from '../../core/abort.ts';
import type { CoolOptions } from '../../core/backend.ts';
import { nextToCool } from '../../core/cool.ts';
import type { CoolingPolicy } from '../../core/cool.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LogRecord } from '../../core/log.ts';
import type { Ask } from '../commit/ask.ts';
import { damagedLog, ownerOf, readBlock } from './blocks.ts';
import type { Session, SqlRow } from '../driver/driver.ts';
import { Loader, storedHead } from '../commit/loader.ts';
import { unpackLog } from '../log-codec.ts';
import { packAllRows } from './pack.ts';
import { attempt } from '../reading.ts';
import { inSession } from '../driver/session.ts';
import { Snapshot } from '../commit/snapshot.ts';
import {
  addBlock,
  dirtyBlock,
  editedLogs,
  emptyLogs,
  lastCooled,
  longerThan,
  nextDirty,
  putBlock,
} from '../sql/blocks.ts';
import type { BlockPlace } from '../sql/blocks.ts';
import { lockHeads } from '../sql/lock-heads.ts';
import { begin, beginSnapshot, commit, enterBounded, enterNamespace, rollback } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

/**
 * UTF-16 units of words in a block, at most: whoever reads one message fetches all of it. Twice as much saves 4% of the
 * bytes and costs such a reading a third of its time.
 */
const BLOCK_LENGTH = 65_536;
const LOCK_MS = 5_000;
const IDLE_MS = 60_000;
/** Log records that are loaded together. */
const LOGS = 64;
/** Conversation numbers and versions are positive. */
const BEFORE_ALL: BlockPlace = { c: '0', first: 0 };

/** Cools all that may cool of a namespace, a block at a time; answers how many commits moved. */
export async function coolNamespace(
  store: Store,
  namespace: string,
  hotMessages: number,
  { signal, onProgress }: CoolOptions,
): Promise<number> {
  let moved = 0;
  for (let after = ''; ;) {
    const ids = await conversationsAfter(store, namespace, after, hotMessages);
    for (const id of ids) {
      after = id;
      for (let outcome = await cool(); outcome !== 0; outcome = await cool()) {
        if (outcome === 'raced') continue;
        moved += outcome;
        onProgress?.(moved);
      }
      await coolOrAsItIs(() => packAllRows(store, namespace, id, signal));
      async function cool() {
        if (signal?.aborted) throw abortedBy(signal);
        return coolOrAsItIs(() => coolBlock(store, namespace, id, { hotMessages, rest: 'cools' }));
      }
    }
    if (ids.length === 0) return moved;
  }
}

/** What is damaged stays where it is, for verify to tell. */
async function coolOrAsItIs<Outcome>(cool: () => Promise<Outcome>): Promise<Outcome | 0> {
  try {
    return await cool();
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return 0;
    throw error;
  }
}

async function conversationsAfter(store: Store, namespace: string, after: string, hotMessages: number) {
  return inSession(store, async (session) => {
    const read = longerThan(store.schema, namespace, after, hotMessages);
    const results = await session.run([beginSnapshot(), enterNamespace(namespace), read, commit()]);
    return (results[2] ?? []).map(([id]) => id as ConversationId); // a text column
  });
}

/**
 * Cools one block of a conversation; answers how many commits moved, and `raced` where they had changed meanwhile. They are
 * read and compressed while nothing is locked; under the head's lock they are only read again, compared and swapped.
 */
export async function coolBlock(
  store: Store,
  namespace: string,
  id: ConversationId,
  policy: CoolingPolicy,
): Promise<number | 'raced'> {
  const logs = await inSession(store, (session) => readNext(store, session, namespace, id, policy));
  const { c } = logs;
  if (c === undefined || logs.next.length === 0) return 0;
  const bytes = await packBlockAside(ownerOf(namespace, c), logs.next);
  const isSwapped = await inSession(store, (session) =>
    swap(store, session, { namespace, id, logs: logs.next, bytes }),
  );
  return isSwapped ? logs.next.length : 'raced';
}

interface Next {
  readonly c?: string | undefined;
  readonly next: readonly LogRecord[];
}

async function readNext(
  { schema }: Store,
  session: Session,
  namespace: string,
  id: ConversationId,
  policy: CoolingPolicy,
): Promise<Next> {
  const start = [beginSnapshot(), enterNamespace(namespace), lastCooled(schema, namespace, id)];
  const results = await session.run(start);
  const cooled = Number(results[2]?.[0]?.[0] ?? 0);
  const snapshot = new Snapshot();
  const loader = new Loader(schema, namespace, snapshot);
  for (;;) {
    const tried = attempt(snapshot, (rows) => nextToCool(rows, id, cooled, { ...policy, sliceLength: BLOCK_LENGTH }));
    if ('result' in tried) {
      await session.run([commit()]);
      return { c: snapshot.stored(id)?.c, next: tried.result };
    }
    await loader.loadMissing(session, [tried.ask, ...logsAfter(tried.ask)]);
  }
}

function logsAfter(ask: Ask): readonly Ask[] {
  if (ask.kind !== 'log') return [];
  return Array.from({ length: LOGS }, (_, at) => ({ ...ask, version: ask.version + 1 + at }));
}

interface Swap {
  readonly namespace: string;
  readonly id: ConversationId;
  readonly logs: readonly LogRecord[];
  readonly bytes: Uint8Array;
}

async function swap({ schema }: Store, session: Session, { namespace, id, logs, bytes }: Swap): Promise<boolean> {
  const locked = await session.run([
    begin(),
    enterBounded(namespace, LOCK_MS, IDLE_MS),
    lockHeads(schema, namespace, [id], true),
  ]);
  const head = locked[2]?.[0];
  const snapshot = new Snapshot();
  const asks = logs.map(({ version }): Ask => ({ kind: 'log', conversation: id, version }));
  if (head) await new Loader(schema, namespace, snapshot, new Map([[id, head]])).load(session, asks);
  const isStill = head !== undefined && logs.every((log) => isSame(log, snapshot.log(id, log.version)));
  if (!isStill) {
    await session.run([rollback()]);
    return false;
  }
  const [first, last] = [logs[0]?.version ?? 0, logs.at(-1)?.version ?? 0];
  const block = { c: storedHead(head).c, first, last, bytes };
  await session.run([addBlock(schema, namespace, block), emptyLogs(schema, namespace, block), commit()]);
  return true;
}

/** Both were made by the same code: the same text if they say the same. */
function isSame(log: LogRecord, found: LogRecord | undefined): boolean {
  return found !== undefined && JSON.stringify(log) === JSON.stringify(found);
}

/**
 * Takes words that went out of the blocks of a namespace: each is written anew, with its commits as they are now. One that
 * cannot be read stays as it is, for `examine` to tell.
 */
export async function cleanBlocks(store: Store, namespace: string, signal?: AbortSignal): Promise<void> {
  for (let after: BlockPlace | undefined = BEFORE_ALL; after;) {
    if (signal?.aborted) throw abortedBy(signal);
    const from: BlockPlace = after;
    after = await inSession(store, (session) => cleanBlock(store, session, namespace, from));
  }
}

/** Answers the place of the block that it came to, the next one after `after`; `undefined` where there is none. */
async function cleanBlock(
  { schema }: Store,
  session: Session,
  namespace: string,
  after: BlockPlace,
): Promise<BlockPlace | undefined> {
  const start = [begin(), enterBounded(namespace, LOCK_MS, IDLE_MS)];
  const found = await session.run([...start, nextDirty(schema, namespace, after)]);
  const [next] = found.at(-1) ?? [];
  if (!next) {
    await session.run([commit()]);
    return undefined;
  }
  const [id, place] = [next[0] as ConversationId, { c: String(next[1]), first: Number(next[2]) }]; // a text, two numbers
  await session.run([lockHeads(schema, namespace, [id], true)]);
  const [[row] = []] = await session.run([dirtyBlock(schema, namespace, place)]);
  if (row) {
    const last = Number(row[2]);
    const [edited = []] = await session.run([editedLogs(schema, namespace, place.c, place.first, last)]);
    const bytes = cleanedOrNot(namespace, place, row, edited);
    const block = bytes && { ...place, last, bytes };
    if (block) await session.run([putBlock(schema, namespace, block), emptyLogs(schema, namespace, block)]);
  }
  await session.run([commit()]);
  return place;
}

/** `undefined` where it cannot be read. */
function cleanedOrNot(
  namespace: string,
  place: BlockPlace,
  row: SqlRow,
  edited: readonly SqlRow[],
): Uint8Array | undefined {
  try {
    return cleaned(namespace, place, row, edited);
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return undefined;
    throw error;
  }
}

function cleaned(namespace: string, place: BlockPlace, row: SqlRow, edited: readonly SqlRow[]): Uint8Array {
  const byVersion = new Map<number, LogRecord>();
  for (const columns of edited) {
    const log = unpackLog(columns);
    // What the block holds of it is older, and words of it may have had to go.
    if (!log) throw damagedLog(place.c, Number(columns[0]));
    byVersion.set(log.version, log);
  }
  const logs = readBlock(namespace, place, row).logs();
  return packBlock(
    ownerOf(namespace, place.c),
    logs.map((log) => byVersion.get(log.version) ?? log),
  );
}
