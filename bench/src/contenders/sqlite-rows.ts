import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { bytesIn } from '../measure/folder.ts';
import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import { agentOf, messagesOf, taskAt } from './agent-state.ts';
import type { Contender, Store } from './contender.ts';
import { whyNotLoaded } from './missing.ts';

type Write = (conversation: string, turn: Turn) => void;

/** What differs between the ways to keep turns in tables of one's own. */
interface Shape {
  readonly schema: string;
  /** Writes the turn, in a transaction for each of these. */
  writers(database: Database): readonly Write[];
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
  writers(database) {
    const session = database.prepare('INSERT OR IGNORE INTO agent_sessions (session_id) VALUES (?)');
    const item = database.prepare('INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)');
    const touch = database.prepare('UPDATE agent_sessions SET updated_at = CURRENT_TIMESTAMP WHERE session_id = ?');
    const addItems: Write = (conversation, turn) => {
      session.run(conversation);
      for (const message of messagesOf(turn)) item.run(conversation, JSON.stringify(message));
      touch.run(conversation);
    };
    return [addItems];
  },
  last: 'SELECT message_data FROM agent_messages WHERE session_id = ? ORDER BY id DESC LIMIT ?',
};

/**
 * The same with what the session has no place for: the state of the run and the task stand in tables of the agent's own, and
 * are written when `addItems` has answered. The session's transaction is not the caller's, so that there are two of them.
 */
const OPENAI_SESSION_AND_STATE: Shape = {
  ...OPENAI_SESSION,
  schema: `${OPENAI_SESSION.schema}
    CREATE TABLE run_states (session_id TEXT PRIMARY KEY, revision INTEGER, state TEXT);
    CREATE TABLE tasks (session_id TEXT, id TEXT, status TEXT, PRIMARY KEY (session_id, id));`,
  writers(database) {
    const state = database.prepare('INSERT OR REPLACE INTO run_states VALUES (?, ?, ?)');
    const task = database.prepare('INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)');
    const saveState: Write = (conversation, turn) => {
      state.run(conversation, turn.number, JSON.stringify(agentOf(turn)));
      const { id, status } = taskAt(turn.number);
      task.run(conversation, id, status);
    };
    return [...OPENAI_SESSION.writers(database), saveState];
  },
};

/** Rows as one would write them by hand: messages are added, checkpoint and task are replaced. */
const PLAIN_ROWS: Shape = {
  schema: `
    CREATE TABLE messages (conversation TEXT, sequence INTEGER, role TEXT, content TEXT, PRIMARY KEY (conversation, sequence));
    CREATE TABLE checkpoints (conversation TEXT PRIMARY KEY, revision INTEGER, state TEXT);
    CREATE TABLE tasks (conversation TEXT, id TEXT, status TEXT, PRIMARY KEY (conversation, id));`,
  writers(database) {
    const message = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
    const checkpoint = database.prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)');
    const task = database.prepare('INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)');
    const save: Write = (conversation, turn) => {
      for (const [at, { role, content }] of messagesOf(turn).entries())
        message.run(conversation, turn.number * 2 + at, role, content);
      checkpoint.run(conversation, turn.number, JSON.stringify(agentOf(turn)));
      const { id, status } = taskAt(turn.number);
      task.run(conversation, id, status);
    };
    return [save];
  },
  last: 'SELECT content FROM messages WHERE conversation = ? ORDER BY sequence DESC LIMIT ?',
};

export const openaiSession: Contender = {
  name: 'openai session on sqlite',
  kind: 'framework',
  survives: 'power loss',
  setup: 'made to sync',
  keeps: 'messages',
  writes: 'messages alone, in one transaction; neither checkpoint nor task',
  rewrites: false,
  missing: () => whyNotLoaded(() => open('', OPENAI_SESSION)),
  open: (folder) => open(folder, OPENAI_SESSION),
};

export const openaiSessionAndState: Contender = {
  ...openaiSession,
  name: 'openai session and state',
  keeps: 'whole turns',
  writes:
    'messages in one transaction, checkpoint and task in another; old checkpoints and task states are overwritten',
  missing: () => whyNotLoaded(() => open('', OPENAI_SESSION_AND_STATE)),
  open: (folder) => open(folder, OPENAI_SESSION_AND_STATE),
};

export const sqliteRows: Contender = {
  name: 'sqlite rows by hand',
  kind: 'by hand',
  survives: 'power loss',
  setup: 'our choice',
  keeps: 'whole turns',
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
  readonly #writes: readonly Write[];
  readonly #last: string;

  constructor(database: Database, shape: Shape, folder: string) {
    this.#database = database;
    this.#folder = folder;
    this.#writes = shape.writers(database).map((write) => database.transaction(write));
    this.#last = shape.last;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    for (const write of this.#writes) write(conversation, turn);
  }

  async grow(conversation: string, turns: number): Promise<void> {
    this.#database.transaction(() => {
      for (let number = 0; number < turns; number++) {
        const turn = pooledTurn(number);
        for (const write of this.#writes) write(conversation, turn);
      }
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
