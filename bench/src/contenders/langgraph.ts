import { join } from 'node:path';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { bytesIn } from '../measure/folder.ts';
import { makeTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import { AgentStates } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import type { Contender, Store } from './contender.ts';
import { PostgresPlace } from './postgres-place.ts';
import { whyNotLoaded } from './missing.ts';

const WRITES = 'one checkpoint that holds the whole state, all messages so far in it (a graph puts several for a turn)';

/** LangGraph's saver for SQLite. As shipped its WAL syncs at checkpoints only: the driver's build says so. */
export function langgraphSqlite(setup: 'as shipped' | 'made to sync'): Contender {
  return {
    name: setup === 'as shipped' ? 'langgraph sqlite, as shipped' : 'langgraph sqlite, synced',
    kind: 'framework',
    survives: setup === 'as shipped' ? 'process crash' : 'power loss',
    setup,
    keeps: 'whole turns',
    writes: WRITES,
    rewrites: true,
    missing: () => whyNotLoaded(openInMemory),
    async open(folder) {
      const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
      const saver = SqliteSaver.fromConnString(join(folder, 'langgraph.db'));
      const database: Database = saver.db;
      const store = new LangGraphStore(saver, {
        sync: async () =>
          `journal_mode=${pragma(database, 'journal_mode')}, synchronous=${pragma(database, 'synchronous')}`,
        close: async () => void database.close(),
        bytes: async () => bytesIn(folder),
      });
      // The setting falls back with the first write to a WAL, so it comes after one.
      await store.turn('first', makeTurn(0));
      if (setup === 'made to sync') database.pragma('synchronous = FULL');
      return store;
    },
  };
}

/** The driver is loaded when a database is opened. */
async function openInMemory(): Promise<void> {
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
  SqliteSaver.fromConnString(':memory:').db.close();
}

/** LangGraph's saver for Postgres, in one transaction a checkpoint, as durable as the server. */
export const langgraphPostgres: Contender = {
  name: 'langgraph postgres',
  kind: 'framework',
  survives: 'power loss',
  setup: 'as shipped',
  keeps: 'whole turns',
  writes: WRITES,
  rewrites: true,
  missing: async () => undefined,
  async open(folder) {
    const { PostgresSaver } = await import('@langchain/langgraph-checkpoint-postgres');
    const place = await PostgresPlace.of(folder);
    const saver = PostgresSaver.fromConnString(place.server, { schema: place.schema });
    await saver.setup();
    return new LangGraphStore(saver, {
      sync: async () => {
        const [row] = await place.query<{ fsync: string; commit: string }>(
          `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit`,
        );
        return `fsync=${row?.fsync}, synchronous_commit=${row?.commit}`;
      },
      close: async () => saver.end(),
      bytes: async () => place.bytes(),
    });
  },
};

/** What is used of the driver's database. */
interface Database {
  pragma(text: string, options?: { readonly simple: boolean }): unknown;
  close(): unknown;
}

function pragma(database: Database, name: string): string {
  return String(database.pragma(name, { simple: true }));
}

/** Messages of LangChain, as the state of a graph holds them. */
function messagesOf({ prompt, answer }: Turn): readonly BaseMessage[] {
  return [new HumanMessage(prompt), new AIMessage(answer)];
}

interface Surroundings {
  sync(): Promise<string>;
  close(): Promise<void>;
  bytes(): Promise<number>;
}

class LangGraphStore implements Store {
  readonly #saver: BaseCheckpointSaver;
  readonly #around: Surroundings;
  readonly #states = new AgentStates(messagesOf);

  constructor(saver: BaseCheckpointSaver, around: Surroundings) {
    this.#saver = saver;
    this.#around = around;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    await this.#put(conversation, turn.number, this.#states.after(conversation, turn));
  }

  async grow(conversation: string, turns: number): Promise<void> {
    const state = this.#states.grown(conversation, turns);
    if (state) await this.#put(conversation, turns - 1, state);
  }

  async last(conversation: string, count: number): Promise<number> {
    const tuple = await this.#saver.getTuple({ configurable: { thread_id: conversation, checkpoint_ns: '' } });
    const messages = tuple?.checkpoint.channel_values['messages'] as readonly unknown[] | undefined; // as it was put
    return messages?.slice(-count).length ?? 0;
  }

  async sync(): Promise<string> {
    return this.#around.sync();
  }

  async close(): Promise<number> {
    await this.#around.close();
    return this.#around.bytes();
  }

  async #put(conversation: string, turn: number, state: AgentState<BaseMessage>): Promise<void> {
    const version = turn + 1;
    const versions = { messages: version, agent: version, task: version };
    const checkpoint = {
      v: 4,
      id: String(version).padStart(12, '0'),
      ts: '2026-01-01T00:00:00.000Z',
      channel_values: { ...state },
      channel_versions: versions,
      versions_seen: {},
    };
    const config = { configurable: { thread_id: conversation, checkpoint_ns: '' } };
    await this.#saver.put(config, checkpoint, { source: 'loop', step: version, parents: {} }, versions);
  }
}
