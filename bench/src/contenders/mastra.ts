import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bytesIn } from '../measure/folder.ts';
import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import { messagesOf } from './agent-state.ts';
import type { Contender, Store } from './contender.ts';
import { whyNotLoaded } from './missing.ts';

/** Its packages are many and ask for another Node.js, so they stand apart and are installed only for who wants them. */
const FOLDER = join(import.meta.dirname, '../../peers/mastra');

/** Mastra's storage on libsql: a turn's messages in one call, which writes them and touches the thread. */
export function mastra(setup: 'as shipped' | 'made to sync'): Contender {
  return {
    name: setup === 'as shipped' ? 'mastra libsql, as shipped' : 'mastra libsql, synced',
    kind: 'framework',
    survives: setup === 'as shipped' ? 'process crash' : 'power loss',
    setup,
    keeps: 'messages',
    writes: 'messages and the time of their thread; neither checkpoint nor task',
    rewrites: false,
    missing: async () => {
      const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
      if (major < 22 || (major === 22 && minor < 13)) return 'it needs Node.js 22.13 or later';
      if (!existsSync(join(FOLDER, 'node_modules'))) return 'not installed: npm ci --prefix bench/peers/mastra';
      return whyNotLoaded(load);
    },
    async open(folder) {
      const { LibSQLStore } = await load();
      const storage = new LibSQLStore({ id: 'bench', url: `file:${join(folder, 'mastra.db')}` });
      await storage.init();
      if (setup === 'made to sync') await storage.client.execute('PRAGMA synchronous = FULL');
      return new MastraStore(storage, folder);
    },
  };
}

/** What is used of the package. */
interface Package {
  readonly LibSQLStore: new (options: { readonly id: string; readonly url: string }) => Storage;
}

interface Storage {
  init(): Promise<void>;
  readonly client: {
    execute(sql: string): Promise<{ readonly rows: readonly { readonly [column: number]: unknown }[] }>;
    close(): void;
  };
  readonly stores: { readonly memory: MemoryStorage };
}

interface MemoryStorage {
  saveThread(request: { readonly thread: object }): Promise<unknown>;
  saveMessages(request: { readonly messages: readonly object[] }): Promise<unknown>;
  listMessages(request: object): Promise<{ readonly messages: readonly unknown[] }>;
}

async function load(): Promise<Package> {
  const path = createRequire(join(FOLDER, 'package.json')).resolve('@mastra/libsql');
  return (await import(pathToFileURL(path).href)) as Package; // the part of it that is used here
}

class MastraStore implements Store {
  readonly #storage: Storage;
  readonly #folder: string;
  readonly #threads = new Set<string>();

  constructor(storage: Storage, folder: string) {
    this.#storage = storage;
    this.#folder = folder;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    await this.#save(conversation, [turn]);
  }

  async grow(conversation: string, turns: number): Promise<void> {
    const all = Array.from({ length: turns }, (_, number) => pooledTurn(number));
    for (let from = 0; from < turns; from += 50) await this.#save(conversation, all.slice(from, from + 50));
  }

  async last(conversation: string, count: number): Promise<number> {
    const request = {
      threadId: conversation,
      perPage: count,
      page: 0,
      orderBy: { field: 'createdAt', direction: 'DESC' },
    };
    return (await this.#storage.stores.memory.listMessages(request)).messages.length;
  }

  async sync(): Promise<string> {
    const read = async (name: string) => String((await this.#storage.client.execute(`PRAGMA ${name}`)).rows[0]?.[0]);
    return `journal_mode=${await read('journal_mode')}, synchronous=${await read('synchronous')}`;
  }

  async close(): Promise<number> {
    this.#storage.client.close();
    return bytesIn(this.#folder);
  }

  async #save(conversation: string, turns: readonly Turn[]): Promise<void> {
    const { memory } = this.#storage.stores;
    if (!this.#threads.has(conversation)) {
      this.#threads.add(conversation);
      const now = new Date();
      const thread = { id: conversation, resourceId: 'bench', title: '', metadata: {}, createdAt: now, updatedAt: now };
      await memory.saveThread({ thread });
    }
    const messages = turns.flatMap((turn) =>
      messagesOf(turn).map(({ role, content }, at) => ({
        id: `${conversation}-${turn.number}-${at}`,
        threadId: conversation,
        resourceId: 'bench',
        role,
        type: 'v2',
        // Its order is by time: a millisecond between two messages keeps it.
        createdAt: new Date(1_767_225_600_000 + turn.number * 2 + at),
        content: { format: 2, parts: [{ type: 'text', text: content }] },
      })),
    );
    await memory.saveMessages({ messages });
  }
}
