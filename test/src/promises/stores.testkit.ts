import { readdirSync, readFileSync, statSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation, Ledger, OpenOptions } from 'turnkeep';
import { openLedger } from 'turnkeep';
import { afterEach, beforeEach, expect } from 'vitest';

/** The backends that every promise is kept on. */
export const BACKENDS = ['memory', 'sqlite', 'journal'] as const;
export type BackendName = (typeof BACKENDS)[number];

/**
 * A fresh store for each test, with a second handle for whoever asks. SQLite opens the second one apart; a journal has one
 * writer, and memory ends with its ledger: there both handles are of one ledger. `reopen` closes everything and opens the
 * store again, which in memory is nothing.
 */
export interface TestStore {
  readonly ledger: Ledger;
  conversation(id?: string, namespace?: string): Conversation;
  /** The same conversation through the second handle. */
  elsewhere(id?: string, namespace?: string): Promise<Conversation>;
  /** Both handles by turns: even numbers get the first. */
  handles(): Promise<(at: number) => Conversation>;
  reopen(): Promise<void>;
  /** Runs a check through the first handle, through the second, and after a reopen. */
  everywhere(check: (conversation: Conversation) => Promise<void>, id?: string): Promise<void>;
  /** Changes one byte of stored words, which the store must notice. The words must occur once. */
  damage(words: string): Promise<void>;
  /** How a reading names the damage of the only record of a version of conversation `c`, in a store with no other. */
  damagedRecord(version: number): { readonly place: string; readonly reason: string };
  /** Bytes of the log: all records of a conversation, headers included. */
  logBytes(id?: string): Promise<number>;
  /** Bytes of the store's files; 0 in memory. */
  fileBytes(): number;
}

/** Registers the opening and closing of a store around each test of a `describe`. */
export function storeFor(backend: BackendName, options: OpenOptions = {}): TestStore {
  const store = new OpenedStore(backend, options);
  beforeEach(() => store.open());
  afterEach(() => store.remove());
  return store;
}

class OpenedStore implements TestStore {
  readonly #backend: BackendName;
  readonly #options: OpenOptions;
  #folder = '';
  #ledger: Ledger | undefined;
  #second: Ledger | undefined;

  constructor(backend: BackendName, options: OpenOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), 'turnkeep-promises-'));
    await this.#openFirst();
  }

  async remove(): Promise<void> {
    await this.#close();
    rmSync(this.#folder, { recursive: true });
  }

  async #openFirst(): Promise<void> {
    this.#ledger = await openLedger(this.#url, this.#options);
  }

  async #close(): Promise<void> {
    await this.#ledger?.close();
    await this.#second?.close();
    this.#second = undefined;
  }

  get #url(): string {
    return this.#backend === 'memory' ? 'memory:' : `${this.#backend}:${join(this.#folder, 'store')}`;
  }

  get ledger(): Ledger {
    if (!this.#ledger) throw new Error('the store is open within a test');
    return this.#ledger;
  }

  conversation(id: string = 'c', namespace: string = 'n'): Conversation {
    return this.ledger.namespace(namespace).conversation(id);
  }

  async elsewhere(id: string = 'c', namespace: string = 'n'): Promise<Conversation> {
    if (this.#backend !== 'sqlite') return this.conversation(id, namespace);
    this.#second ??= await openLedger(this.#url, this.#options);
    return this.#second.namespace(namespace).conversation(id);
  }

  async handles(): Promise<(at: number) => Conversation> {
    const [first, second] = [this.conversation(), await this.elsewhere()];
    return (at) => (at % 2 === 0 ? first : second);
  }

  async reopen(): Promise<void> {
    if (this.#backend === 'memory') return;
    await this.#close();
    await this.#openFirst();
  }

  async everywhere(check: (conversation: Conversation) => Promise<void>, id: string = 'c'): Promise<void> {
    await check(this.conversation(id));
    await check(await this.elsewhere(id));
    await this.reopen();
    await check(this.conversation(id));
  }

  async damage(words: string): Promise<void> {
    if (this.#backend === 'memory') await this.#damageMemory(words);
    else await this.#damageFile(words);
  }

  /** In memory records are objects that the reader shares: the test writes where the library never does. */
  async #damageMemory(words: string): Promise<void> {
    for (const namespace of await this.ledger.namespaces()) {
      await this.ledger.backend.read(namespace, (rows) => {
        for (const head of rows.heads({ order: 'created', limit: 100 })) {
          for (let version = 1; version <= head.version; version++) {
            for (const record of rows.log(head.conversationId, version)?.records ?? []) {
              if (record.body?.includes(words))
                Object.assign(record, { body: record.body.replace(words, altered(words)) });
            }
          }
        }
      });
    }
  }

  async #damageFile(words: string): Promise<void> {
    await this.#close();
    // Beside SQLite's file stands its search index, which is derived.
    const paths = this.#backend === 'sqlite' ? [join(this.#folder, 'store')] : this.#files();
    const files = paths.map((path) => ({ path, bytes: readFileSync(path) }));
    const [found, more] = files.filter(({ bytes }) => bytes.includes(words));
    const at = found?.bytes.indexOf(words) ?? -1;
    if (!found || more || found.bytes.includes(words, at + 1))
      throw new Error('the words must be stored once, as they are');
    found.bytes.write(altered(words), at);
    writeFileSync(found.path, found.bytes);
    await this.#openFirst();
  }

  damagedRecord(version: number): { readonly place: string; readonly reason: string } {
    if (this.#backend !== 'journal') {
      return { place: `conversation c, version ${version}, record 0`, reason: 'the record does not match its digest' };
    }
    const place = new RegExp(`^segments/0001\\.jsonl, byte \\d+, line ${version}$`);
    return { place: expect.stringMatching(place) as string, reason: 'its words do not match their digest' };
  }

  #files(): readonly string[] {
    const entries = readdirSync(this.#folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  async logBytes(id: string = 'c'): Promise<number> {
    return this.ledger.backend.read('n', (rows) => {
      let bytes = 0;
      for (let version = 1; version <= (rows.head(id)?.version ?? 0); version++) {
        const log = rows.log(id, version);
        bytes += log?.header?.length ?? 0;
        for (const { body } of log?.records ?? []) bytes += body?.length ?? 0;
      }
      return bytes;
    });
  }

  fileBytes(): number {
    return this.#files().reduce((sum, path) => sum + statSync(path).size, 0);
  }
}

function altered(words: string): string {
  return `${words.slice(0, -1)}${words.endsWith('!') ? '?' : '!'}`;
}
