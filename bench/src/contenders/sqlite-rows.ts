import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { bytesIn } from '../measure/folder.ts';
import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import { agentOf, messagesOf, taskAt } from './agent-state.ts';
import type { Contender, Store } from './contender.ts';
import { whyNotLoaded } from './missing.ts';

/** What differs between two ways to keep turns in tables of one's own. */
interface Shape {
  readonly schema: string;
  /** Writes the turn; it runs in one transaction. */
  writer(database: Database): (conversation: string, turn: Turn) => void;
  readonly last: string;
}

/**
 * The session of OpenAI's agents SDK on SQLite, by the two tables that it documents: each item a JSON text, one
 * transaction for what a turn adds. Neither checkpoint nor task: an agent that needs them keeps them elsewhere.
 */
const OPENAI_SESSION: Shape = {
  schema: `
    CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
      message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);
    CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, created_at);`,
  writer(database) {
    const session = database.prepare('INSERT OR IGNORE INTO agent_sessions (session_id) VALUES (?)');
    const item = database.prepare('INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)');
    const touch = database.prepare('UPDATE agent_sessions SET updated_at = CURRENT_TIMESTAMP WHERE session_id = ?');
    return (conversation, turn) => {
      session.run(conversation);
      for (const message of messagesOf(turn)) item.run(conversation, JSON.stringify(message));
      touch.run(conversation);
    };
  },
  last: 'SELECT message_data FROM agent_messages WHERE session_id = ? ORDER BY id DESC LIMIT ?',
};

/** Rows as one would write them by hand: messages are added, checkpoint and task are replaced. */
const PLAIN_ROWS: Shape = {
  schema: `
    CREATE TABLE messages (conversation TEXT, sequence INTEGER, role TEXT, content TEXT, PRIMARY KEY (conversation, sequence));
    CREATE TABLE checkpoints (conversation TEXT PRIMARY KEY, revision INTEGER, state TEXT);
    CREATE TABLE tasks (conversation TEXT, id TEXT, status TEXT, PRIMARY KEY (conversation, id));`,
  writer(database) {
    const message = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
    const checkpoint = database.prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)');
    const task = database.prepare('INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)');
    return (conversation, turn) => {
      for (const [at, { role, content }] of messagesOf(turn).entries())
        message.run(conversation, turn.number * 2 + at, role, content);
      checkpoint.run(conversation, turn.number, JSON.stringify(agentOf(turn)));
      const { id, status } = taskAt(turn.number);
      task.run(conversation, id, status);
    };
  },
  last: 'SELECT content FROM messages WHERE conversation = ? ORDER BY sequence DESC LIMIT ?',
};

export const openaiSession: Contender = {
  name: 'openai session on sqlite',
  kind: 'framework',
  survives: 'power loss',
  setup: 'made to sync',
  writes: 'messages alone, in one transaction; neither checkpoint nor task',
  rewrites: false,
  missing: () => whyNotLoaded(() => open('', OPENAI_SESSION)),
  open: (folder) => open(folder, OPENAI_SESSION),
};

export const sqliteRows: Contender = {
  name: 'sqlite rows by hand',
  kind: 'by hand',
  survives: 'power loss',
  setup: 'our choice',
  writes: 'messages, checkpoint and task in one transaction; old checkpoints and task states are overwritten',
  rewrites: false,
  missing: () => whyNotLoaded(() => open('', PLAIN_ROWS)),
  open: (folder) => open(folder, PLAIN_ROWS),
};

/** Opens the tables in a folder; in memory where there is none. */
async function open(folder: string, shape: Shape): Promise<Store> {
  const { default: Sqlite } = await import('better-sqlite3');
  const database = new Sqlite(folder === '' ? ':memory:' : join(folder, 'rows.db'));
  database.pragma('journal_mode = WAL');
  if (database.pragma('user_version', { simple: true }) === 0) {
    database.exec(shape.schema);
    database.pragma('user_version = 1');
  }
  database.pragma('synchronous = FULL');
  return new RowStore(database, shape, folder);
}

class RowStore implements Store {
  readonly #database: Database;
  readonly #folder: string;
  readonly #write: (conversation: string, turn: Turn) => void;
  readonly #last: string;

  constructor(database: Database, shape: Shape, folder: string) {
    this.#database = database;
    this.#folder = folder;
    this.#write = database.transaction(shape.writer(database));
    this.#last = shape.last;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    this.#write(conversation, turn);
  }

  async grow(conversation: string, turns: number): Promise<void> {
    this.#database.transaction(() => {
      for (let number = 0; number < turns; number++) this.#write(conversation, pooledTurn(number));
    })();
  }

  async last(conversation: string, count: number): Promise<number> {
    return this.#database.prepare(this.#last).all(conversation, count).length;
  }

  async sync(): Promise<string> {
    const read = (name: string) => String(this.#database.pragma(name, { simple: true }));
    return `journal_mode=${read('journal_mode')}, synchronous=${read('synchronous')}`;
  }

  async close(): Promise<number> {
    this.#database.close();
    return bytesIn(this.#folder);
  }
}
