import type { RowReader, SoughtMessage } from '../../core/backend.ts';
import type { ConversationId } from '../../core/ids.ts';
import { KEYS } from '../../core/keys.ts';
import { BlockReader, isCoolPlace, logOrPlace } from '../tiers/blocks.ts';
import type { Connection, SqlRow } from '../driver/driver.ts';
import { parseValue, storedHead } from '../commit/loader.ts';
import { attempt } from '../reading.ts';
import type { Schema } from '../schema/schema-name.ts';
import { Snapshot } from '../commit/snapshot.ts';
import { loadSought } from '../sql/sought.ts';
import { beginSnapshot, commit, enterNamespace } from '../sql/transaction.ts';

/** Where the columns of `loadSought` begin. */
const ID = 6;
const MESSAGE = 7;
const TURN = 9;
const LOG = 11;
const BLOCK = 19;

/**
 * Runs a reading on what one statement loads: a message by its id, in one round trip. `undefined` where the reading asks for
 * more: it is then to run on a snapshot that can be asked.
 */
export async function readSought<Result>(
  connection: Connection,
  schema: Schema,
  namespace: string,
  sought: SoughtMessage,
  reading: (rows: RowReader) => Result,
): Promise<{ readonly result: Result } | undefined> {
  const statements = [beginSnapshot(), enterNamespace(namespace), loadSought(schema, namespace, sought), commit()];
  const [, , [row] = []] = await connection.run(statements);
  const snapshot = new Snapshot();
  if (row) putSought(snapshot, new BlockReader(schema, namespace), sought, row);
  else snapshot.putHead(sought.conversationId, null);
  const tried = attempt(snapshot, reading);
  return 'result' in tried ? tried : undefined;
}

function putSought(
  snapshot: Snapshot,
  blocks: BlockReader,
  { conversationId, messageId }: SoughtMessage,
  row: SqlRow,
): void {
  snapshot.putHead(conversationId, storedHead(row));
  putRow(snapshot, conversationId, KEYS.messageId(messageId), row[ID]);
  for (const at of [MESSAGE, TURN])
    if (typeof row[at] === 'string') putRow(snapshot, conversationId, row[at], row[at + 1]);
  if (row[LOG] === null) return;
  const log = logOrPlace(row.slice(LOG, BLOCK));
  if (isCoolPlace(log)) blocks.take(log, row[BLOCK] === null ? undefined : row.slice(BLOCK));
  snapshot.putLog(conversationId, Number(row[LOG]), isCoolPlace(log) ? blocks.log(log) : log);
}

function putRow(snapshot: Snapshot, conversation: ConversationId, key: string, text: unknown): void {
  snapshot.putRow(conversation, key, text === null ? undefined : parseValue(conversation, key, text));
}
