import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Backend, Envelope, RowReader } from '../core/backend.ts';
import type { Change } from '../core/change.ts';
import { prepareCommit } from '../core/commit.ts';
import type { JournalFile } from './files/file-system.ts';
import type { JournalBackend } from './journal-backend.ts';
import { openJournal } from './open.ts';
import type { JournalOptions } from './open.ts';
import { systemSurroundings } from '../platform/surroundings.ts';

/** A directory that goes when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'turnkeep-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens a journal that is closed when the test ends. */
export async function opened(directory: string, options: JournalOptions = {}): Promise<JournalBackend> {
  const journal = await openJournal(directory, options);
  onTestFinished(() => journal.close());
  return journal;
}

export function commitOf(
  conversationId: string,
  commitId: string,
  changes: readonly Change[],
  namespace = 'ns',
): Envelope {
  return prepareCommit({ commitId, namespace, conversationId, changes }, systemSurroundings);
}

/** A whole turn: two messages, a checkpoint and a task. The k-th of its conversation. */
export function turnOf(conversationId: string, k: number, text = 'the quick brown fox'): Envelope {
  const payload = { state: { json: { step: k } } };
  return commitOf(conversationId, `${conversationId}-commit-${k}`, [
    { kind: 'turn.record', turnId: `${conversationId}-turn-${k}`, origin: 'background' },
    says(`${conversationId}-message-${k}-1`, 'user', `${text} ${k}?`),
    says(`${conversationId}-message-${k}-2`, 'assistant', `${text} ${k}.`),
    k === 0
      ? { kind: 'checkpoint.create', checkpointId: conversationId, type: 'agent', payload }
      : { kind: 'checkpoint.advance', checkpointId: conversationId, from: k - 1, payload },
    { kind: 'task.create', taskId: `${conversationId}-task-${k}`, title: 'answer' },
    { kind: 'task.transition', taskId: `${conversationId}-task-${k}`, to: 'failed' },
  ]);
}

export function says(messageId: string, role: 'user' | 'assistant', text: string): Change {
  return { kind: 'message.append', message: { messageId, role, parts: [{ type: 'text', text }] } };
}

/** Everything that a namespace holds, as text: two stores that hold the same answer the same. */
export async function contents(backend: Backend, namespace = 'ns'): Promise<string> {
  return backend.read(namespace, (rows) =>
    rows
      .heads({ order: 'created', limit: 10_000 })
      .map((head) => JSON.stringify([head, rowsOf(rows, head.conversationId), logsOf(rows, head)]))
      .join('\n'),
  );
}

function rowsOf(rows: RowReader, conversation: string) {
  return rows.scan(conversation, { from: '', to: '\u{10ffff}' });
}

function logsOf(rows: RowReader, head: { readonly conversationId: string; readonly version: number }) {
  return Array.from({ length: head.version }, (_, at) => rows.log(head.conversationId, at + 1));
}

/** A file of which some methods are others. */
export function withFile(file: JournalFile, changed: Partial<JournalFile>): JournalFile {
  return {
    read: (bytes, position) => file.read(bytes, position),
    write: (bytes, position) => file.write(bytes, position),
    sync: () => file.sync(),
    truncate: (sizeBytes) => file.truncate(sizeBytes),
    sizeBytes: () => file.sizeBytes(),
    identity: () => file.identity(),
    close: () => file.close(),
    ...changed,
  };
}
