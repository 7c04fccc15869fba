import type { NamespaceId } from '../../core/ids.ts';
import { after, repeat } from '../../platform/timers.ts';
import { NamespaceListeners } from '../namespace-listeners.ts';
import type { Statement } from './driver.ts';
import type { Store } from '../store.ts';

/** Notifications of one namespace are gathered this long. */
const GATHER_MS = 20;
const LISTEN_AGAIN_MS = 1_000;

export interface BellOptions {
  /** `poll`: for engines without LISTEN. */
  readonly mode: 'listen' | 'poll';
  /** How often listeners look for commits that nobody told of. */
  readonly pollMs: number;
}

/**
 * Tells listeners that commits may be there: those of this process at once, those of others by LISTEN and NOTIFY, and all
 * of them by looking now and then. A hint is all it is: the feed is the truth, and a hint that is lost costs time.
 *
 * A notification is sent after its commits, in a transaction of its own, since Postgres lets only one transaction at a
 * time commit that notifies: within the commit it would make every conversation wait for every other.
 */
export class Bell {
  readonly #store: Store;
  readonly #options: BellOptions;
  readonly #listeners = new NamespaceListeners();
  readonly #toTell = new Set<string>();
  #stopPolling: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #listening = false;
  #closed = false;

  constructor(store: Store, options: BellOptions) {
    this.#store = store;
    this.#options = options;
  }

  add(namespace: NamespaceId, listener: () => void): () => void {
    if (this.#closed) return () => undefined;
    const remove = this.#listeners.add(namespace, listener);
    this.#stopPolling ??= repeat(this.#options.pollMs, () => this.#listeners.tellAll());
    void this.#listen();
    return () => {
      remove();
      if (this.#listeners.isEmpty) this.#rest();
    };
  }

  /** Commits of the namespace became durable, by this process. */
  ring(namespace: string): void {
    if (this.#closed) return;
    this.#listeners.tell(namespace);
    if (this.#options.mode === 'poll') return;
    if (this.#toTell.size === 0) after(GATHER_MS, () => void this.#notify());
    this.#toTell.add(namespace);
  }

  close(): void {
    this.#closed = true;
    this.#rest();
    this.#listeners.clear();
  }

  #rest(): void {
    this.#stopPolling?.();
    this.#stopListening?.();
    this.#stopPolling = this.#stopListening = undefined;
  }

  async #listen(): Promise<void> {
    if (this.#options.mode === 'poll' || this.#listening || this.#stopListening) return;
    this.#listening = true;
    try {
      const stop = await this.#store.driver.listen(
        channelOf(this.#store),
        (namespace) => this.#listeners.tell(namespace),
        () => this.#lost(),
      );
      if (this.#listeners.isEmpty) stop();
      else this.#stopListening = stop;
      // What was committed before the server heard of us.
      this.#listeners.tellAll();
    } catch {
      this.#listenLater();
    } finally {
      this.#listening = false;
    }
  }

  #lost(): void {
    this.#stopListening = undefined;
    this.#listenLater();
  }

  #listenLater(): void {
    after(LISTEN_AGAIN_MS, () => {
      if (!this.#listeners.isEmpty) void this.#listen();
    });
  }

  async #notify(): Promise<void> {
    const namespaces = [...this.#toTell];
    this.#toTell.clear();
    if (this.#closed) return;
    try {
      const session = await this.#store.driver.connect();
      try {
        await session.run(namespaces.map((namespace) => notify(channelOf(this.#store), namespace)));
        session.release();
      } catch (error) {
        session.destroy();
        throw error;
      }
    } catch {
      // Listeners look by themselves.
    }
  }
}

export function channelOf({ schema }: Store): string {
  return `turnkeep_${schema.name}`;
}

function notify(channel: string, namespace: string): Statement {
  // Nothing is lost with it: it need not wait for the disk.
  const text = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($2, $1)`;
  return { name: 'tk_notify', text, values: [namespace, channel] };
}
