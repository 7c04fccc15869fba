import type { CheckpointPart } from '../change.ts';
import { contentAddress } from '../digest.ts';
import { encode } from '../encoding.ts';
import { TurnkeepError } from '../errors.ts';
import type { CheckpointId } from '../ids.ts';
import { setOwn } from '../json.ts';
import type { Json, JsonObject } from '../json.ts';
import { afterSeparator, KEYS, numbersIn, prefixEnd } from '../keys.ts';
import type { RowValue } from '../backend.ts';
import type { Tree } from '../tree/path.ts';
import { scanPrefix } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** One revision of a checkpoint, whole. */
export interface Checkpoint {
  readonly checkpointId: CheckpointId;
  readonly revision: number;
  readonly type: string;
  readonly schemaVersion: number | null;
  readonly scope: string | null;
  readonly phase?: string | undefined;
  readonly parent?: { readonly checkpointId: CheckpointId; readonly revision: number } | undefined;
  readonly payload: { readonly [part: string]: CheckpointPart };
  readonly metadata?: Json | undefined;
  readonly committedAt: string;
}

/** A pending write beside a revision. */
export interface PendingWrite {
  readonly taskPath: string;
  readonly task: string;
  readonly index: number;
  readonly channel: string;
  readonly value: CheckpointPart;
}

/** A revision of a checkpoint: the newest where none is named. */
export function readCheckpoint(
  tree: Tree,
  bodies: Bodies,
  checkpointId: CheckpointId,
  revision?: number,
): Checkpoint | undefined {
  const found = revisionRow(tree, checkpointId, revision);
  if (!found) return undefined;
  const [version, index, type, schemaVersion, scope] = found.value as readonly [
    number,
    number,
    string,
    number | null,
    string | null,
  ];
  const owner = tree.head.conversationId;
  const body = bodies.body({ owner, version, index }) ?? {};
  const { parts, ...rest } = body;
  const payload = readParts(tree, bodies, (parts ?? {}) as JsonObject);
  const about = rest as unknown as Pick<Checkpoint, 'phase' | 'parent' | 'metadata'>;
  return {
    ...about,
    checkpointId,
    revision: found.revision,
    type,
    schemaVersion,
    scope,
    payload,
    committedAt: bodies.committedAt(owner, version),
  };
}

function revisionRow(
  tree: Tree,
  checkpointId: CheckpointId,
  revision: number | undefined,
): { revision: number; value: RowValue } | undefined {
  const owner = tree.head.conversationId;
  if (revision !== undefined) {
    const value = tree.rows.get(owner, KEYS.checkpoint(checkpointId, revision));
    return value && { revision, value };
  }
  const prefix = KEYS.checkpointsOf(checkpointId);
  const row = tree.rows.scan(owner, { from: prefix, to: prefixEnd(prefix), reverse: true, limit: 1 })[0];
  return row && { revision: numbersIn(afterSeparator(row.key), 0)[0] as number, value: row.value };
}

function readParts(tree: Tree, bodies: Bodies, stored: JsonObject): { readonly [part: string]: CheckpointPart } {
  const payload: Record<string, Json> = {};
  for (const [name, part] of Object.entries(stored)) {
    const { content } = part as { readonly content?: string };
    setOwn(payload, name, content === undefined ? (part as Json) : readContent(tree, bodies, content));
  }
  return payload as unknown as { readonly [part: string]: CheckpointPart };
}

/** A part by its address, checked against it. */
function readContent(tree: Tree, bodies: Bodies, address: string): Json {
  const owner = tree.head.conversationId;
  const place = `conversation ${owner}, content ${address}`;
  const row = tree.rows.get(owner, KEYS.content(address)) as readonly [number, number] | undefined;
  if (!row) throw new TurnkeepError('corrupt', { place, reason: 'the content is missing' });
  const body = bodies.body({ owner, version: row[0], index: row[1] });
  if (!body || contentAddress(bodies.sha256, encode(body)) !== address) {
    throw new TurnkeepError('corrupt', { place, reason: 'the content is not that of its address' });
  }
  return body;
}

/** The pending writes beside a revision, by task path, task and index. */
export function readPendingWrites(
  tree: Tree,
  bodies: Bodies,
  checkpointId: CheckpointId,
  revision: number,
): readonly PendingWrite[] {
  const owner = tree.head.conversationId;
  return scanPrefix(tree.rows, owner, KEYS.pendingWritesOf(checkpointId, revision)).map((row) => {
    const [version, index, taskPath, task, place] = row.value as readonly [number, number, string, string, number];
    const body = bodies.body({ owner, version, index }) ?? {};
    const { channel, value } = body as unknown as Pick<PendingWrite, 'channel' | 'value'>;
    return { taskPath, task, index: place, channel, value };
  });
}
