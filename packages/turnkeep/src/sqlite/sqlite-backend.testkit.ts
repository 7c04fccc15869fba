import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Envelope } from '../core/backend.ts';
import { prepareCommit } from '../core/commit.ts';
import type { ConversationId } from '../core/ids.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { openSqlite } from './open.ts';
import type { SqliteOptions } from './open.ts';
import type { SqliteBackend } from './sqlite-backend.ts';

export const NAMESPACE = 'team';

/** Calls with the path of a store in a fresh folder, which is deleted afterwards. */
export async function withStoreFile(use: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-'));
  try {
    await use(join(folder, 'store.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Calls with an open store in a fresh folder. */
export function withStore(
  use: (store: SqliteBackend, path: string) => Promise<void>,
  options?: SqliteOptions,
): Promise<void> {
  return withStoreFile(async (path) => {
    const store = await openSqlite(path, options);
    try {
      await use(store, path);
    } finally {
      await store.close();
    }
  });
}

/** A commit, ready for a backend. */
export function envelope(conversationId: string, changes: readonly object[], more: object = {}): Envelope {
  return prepareCommit(
    { commitId: mintCommitId(systemSurroundings.now()), namespace: NAMESPACE, conversationId, changes, ...more },
    systemSurroundings,
  );
}

/** A commit of one message at the root. */
export function message(conversationId: string, text: string, more: object = {}): Envelope {
  const content = { role: 'user', parts: [{ type: 'text', text }] };
  return envelope(conversationId, [{ kind: 'message.append', message: content, turnId: null }], more);
}

export function versionOf(store: SqliteBackend, conversationId: string): Promise<number> {
  return store.read(NAMESPACE, (rows) => rows.head(conversationId as ConversationId)?.version ?? 0);
}
