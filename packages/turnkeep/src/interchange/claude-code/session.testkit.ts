import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prepareCommit } from '../../core/commit.ts';
import { sha256 } from '../../platform/hash.ts';
import { Bodies } from '../../core/read/bodies.ts';
import { graphTurns } from '../../core/read/graph.ts';
import type { GraphTurn } from '../../core/read/graph.ts';
import { readMessage } from '../../core/read/message.ts';
import type { Message } from '../../core/read/message.ts';
import { placedPage } from '../../core/read/pages.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Head } from '../../core/head.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Tree } from '../../core/tree/path.ts';
import { entryOn } from '../../core/tree/entries.ts';
import { pathTo } from '../../core/tree/path.ts';
import { ENTRIES, unpackSummary } from '../../core/rows.ts';
import { MemoryBackend } from '../../memory/memory-backend.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import type { ImportTarget } from '../target.ts';
import { rowsOfMessages } from './message.ts';

export const SESSION = '5e551000-0000-4000-8000-00000000000a';
export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

type Extra = JsonObject;
type Parent = number | string | null;

/** Rows in the form of a session file. Numbers stand for uuids. */
export class SessionWriter {
  readonly #sessionId: string;

  constructor(sessionId: string = SESSION) {
    this.#sessionId = sessionId;
  }

  envelope(id: number, parent: Parent): JsonObject {
    const parentUuid = typeof parent === 'number' ? uuid(parent) : parent;
    const timestamp = new Date(Date.UTC(2026, 4, 4, 10) + id * 1_000).toISOString();
    const where = {
      userType: 'external',
      cwd: '/srv/kiln',
      sessionId: this.#sessionId,
      version: '2.1.144',
      gitBranch: 'main',
    };
    return { parentUuid, isSidechain: false, ...where, uuid: uuid(id), timestamp };
  }

  user(id: number, parent: Parent, content: JsonObject[string], extra: Extra = {}): JsonObject {
    return { ...this.envelope(id, parent), type: 'user', message: { role: 'user', content }, ...extra };
  }

  assistant(
    id: number,
    parent: Parent,
    messageId: string,
    blocks: readonly JsonObject[],
    extra: Extra = {},
  ): JsonObject {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0 };
    const message = {
      model: 'claude-sonnet-4-6',
      id: messageId,
      type: 'message',
      role: 'assistant',
      content: blocks,
      stop_reason: 'end_turn',
      usage,
    };
    return { ...this.envelope(id, parent), type: 'assistant', requestId: `req_${messageId}`, message, ...extra };
  }

  says(id: number, parent: Parent, messageId: string, text: string): JsonObject {
    return this.assistant(id, parent, messageId, [{ type: 'text', text }]);
  }

  calls(
    id: number,
    parent: Parent,
    messageId: string,
    callId: string,
    input: JsonObject[string] = { path: 'a.c' },
    name = 'Read',
  ): JsonObject {
    return this.assistant(id, parent, messageId, [{ type: 'tool_use', id: callId, name, input }]);
  }

  result(id: number, parent: Parent, callId: string, content: JsonObject[string], extra: Extra = {}): JsonObject {
    return this.user(id, parent, [{ tool_use_id: callId, type: 'tool_result', content }], extra);
  }

  system(id: number, parent: Parent, subtype: string, extra: Extra = {}): JsonObject {
    return { ...this.envelope(id, parent), type: 'system', subtype, level: 'info', ...extra };
  }

  boundary(id: number, logicalParent: Parent, metadata: Extra = {}): JsonObject {
    const logicalParentUuid = typeof logicalParent === 'number' ? uuid(logicalParent) : logicalParent;
    const compactMetadata = { trigger: 'auto', preTokens: 1_000, ...metadata };
    return this.system(id, null, 'compact_boundary', {
      content: 'Conversation compacted',
      logicalParentUuid,
      compactMetadata,
    });
  }

  summary(id: number, parent: Parent, text: string): JsonObject {
    return this.user(id, parent, text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
  }
}

export const jsonl = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

export async function* bytesOf(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** Writes files into a folder of their own for as long as `act` runs. */
export async function withFiles<Result>(
  files: { readonly [path: string]: string | Uint8Array },
  act: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'turnkeep-import-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A memory store as an import's target, and what was put into it. */
export class MemoryTarget implements ImportTarget {
  readonly namespace = 'imports';
  readonly backend: MemoryBackend = new MemoryBackend(sha256);
  largestCommit = 0;

  async commit(commit: unknown): Promise<Receipt> {
    const envelope = prepareCommit(commit, systemSurroundings);
    this.largestCommit = Math.max(this.largestCommit, envelope.length);
    // Another import may come in between.
    await Promise.resolve();
    return this.backend.commit(envelope);
  }

  head(conversationId: string): Promise<Head | undefined> {
    return this.backend.read(this.namespace, (rows) => rows.head(conversationId));
  }

  #tree<Result>(conversationId: string, reading: (tree: Tree, bodies: Bodies) => Result): Promise<Result> {
    return this.backend.read(this.namespace, (rows) => {
      const head = rows.head(conversationId);
      if (!head) throw new Error(`there is no conversation ${conversationId}`);
      return reading({ rows, head }, new Bodies(rows, sha256));
    });
  }

  graph(conversationId: string): Promise<readonly GraphTurn[]> {
    return this.#tree(conversationId, (tree) => graphTurns(tree));
  }

  /** The messages of the path to a leaf; the active one where none is named. */
  path(conversationId: string, leaf?: TurnId | null): Promise<readonly Message[]> {
    return this.#tree(conversationId, (tree, bodies) =>
      placedPage(tree, { leaf, limit: 1e9 }).messages.map((placed) => readMessage(tree, bodies, placed)),
    );
  }

  summary(
    conversationId: string,
    leaf?: TurnId,
  ): Promise<{ readonly text: unknown; readonly upTo: string } | undefined> {
    return this.#tree(conversationId, (tree, bodies) => {
      const entry = entryOn(tree, pathTo(tree, leaf ?? tree.head.leaf), ENTRIES.summary);
      if (!entry) return undefined;
      const { upTo, ref } = unpackSummary(entry.value, entry.owner);
      return { upTo, text: bodies.body(ref)?.['text'] };
    });
  }

  fields(conversationId: string): Promise<JsonObject | undefined> {
    return this.#tree(conversationId, (tree, bodies) => (tree.head.fields ? bodies.body(tree.head.fields) : undefined));
  }

  /** Every message once, whatever branch it stands on. */
  async *messages(conversationId: string): AsyncGenerator<Message> {
    yield* await this.all(conversationId);
  }

  async all(conversationId: string): Promise<readonly Message[]> {
    const found = new Map<string, Message>();
    for (const leaf of [null, ...(await this.graph(conversationId)).map((turn) => turn.turnId)]) {
      for (const message of await this.path(conversationId, leaf)) found.set(message.messageId, message);
    }
    return [...found.values()].sort((left, right) => left.sequence - right.sequence);
  }

  /** The rows that the stored messages give back, in one order. */
  async rows(conversationId: string): Promise<readonly string[]> {
    return sorted(rowsOfMessages(await this.all(conversationId)));
  }
}

/** Rows as texts that are equal where the rows are, in one order. A member that is `undefined` is none of JSON. */
export function sorted(rows: readonly unknown[]): readonly string[] {
  return rows.map((row) => canonicalText(row)).sort((left, right) => (left < right ? -1 : 1));
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (member === undefined) throw new Error(`${key} is undefined`);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** A message in short: its role and the texts, calls and results of its parts. */
export function inShort(message: Message): string {
  const parts = message.parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text;
    if (part.type === 'tool_call') return `call ${part.callId}`;
    return part.type === 'tool_result' ? `result ${part.callId}` : part.type === 'opaque' ? part.kind : part.type;
  });
  return `${message.role}: ${parts.join(', ')}`;
}
