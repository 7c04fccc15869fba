import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Conversation, Ledger } from 'turnkeep';
import { bytesIn } from '../measure/folder.ts';
import { changesOf, pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import type { Contender, Store } from './contender.ts';
import { PostgresPlace } from './postgres-place.ts';

const NAMESPACE = 'bench';
const IN_FLIGHT = 64;

/** Turnkeep through its public API, as anybody opens it. */
export function turnkeep(backend: 'memory' | 'sqlite' | 'journal' | 'postgres'): Contender {
  return {
    name: `turnkeep ${backend}`,
    kind: 'turnkeep',
    survives: backend === 'memory' ? 'nothing' : 'power loss',
    setup: 'as shipped',
    keeps: 'whole turns',
    writes: 'one commit: messages, checkpoint, task, digests, chain; the whole history stays readable',
    rewrites: false,
    missing: async () => undefined,
    async open(folder) {
      if (backend === 'memory') return new InMemory(await openLedger('memory:'), async () => 0);
      if (backend === 'postgres') {
        const place = await PostgresPlace.of(folder);
        return new TurnkeepStore(await openLedger(place.url()), async () => place.bytes());
      }
      const url = backend === 'sqlite' ? `sqlite:${join(folder, 'store.db')}` : `journal:${join(folder, 'store')}`;
      return new TurnkeepStore(await openLedger(url), async () => bytesIn(folder));
    },
  };
}

class TurnkeepStore implements Store {
  #ledger: Ledger;
  readonly #bytes: () => Promise<number>;

  constructor(ledger: Ledger, bytes: () => Promise<number>) {
    this.#ledger = ledger;
    this.#bytes = bytes;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    await this.#conversation(conversation).commit(changesOf(turn));
  }

  async grow(conversation: string, turns: number): Promise<void> {
    for (let from = 0; from < turns; from += IN_FLIGHT) {
      const some = Array.from({ length: Math.min(IN_FLIGHT, turns - from) }, (_, at) => pooledTurn(from + at));
      await Promise.all(some.map((turn) => this.turn(conversation, turn)));
    }
  }

  /** The search index has all that was said. */
  async settle(): Promise<void> {
    await this.#ledger.backend.catchUp();
  }

  /** Goes on with another ledger. */
  protected async replace(ledger: Ledger): Promise<void> {
    await this.#ledger.close();
    this.#ledger = ledger;
  }

  async last(conversation: string, count: number): Promise<number> {
    return (await this.#conversation(conversation).window(count)).messages.length;
  }

  async sync(): Promise<string> {
    return this.#ledger.traits.sync;
  }

  /** With the search index built: how far it has come by itself is chance. */
  async close(): Promise<number> {
    await this.settle();
    await this.#ledger.close();
    return this.#bytes();
  }

  #conversation(name: string): Conversation {
    return this.#ledger.namespace(NAMESPACE).conversation(name);
  }
}

/** What it holds, it holds in the heap of everybody who is measured: it is let go when its turn is over. */
class InMemory extends TurnkeepStore {
  override async settle(): Promise<void> {
    await this.replace(await openLedger('memory:'));
  }
}
