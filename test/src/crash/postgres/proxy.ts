import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** How the next connection that commits is cut. */
export type Cut =
  /** Every connection, at once: some are in the middle of a transaction. */
  | 'now'
  /** One, before its COMMIT reaches the server. */
  | 'before_commit'
  /** One, after its COMMIT reached the server and before the answer comes back. */
  | 'before_answer';

// An Execute message and a Sync end each statement of a flush; the name of the prepared statement stands in the Bind.
const COMMIT = Buffer.from('tk_commit');
const SERVER_COMMITS_MS = 30;

/** A TCP proxy before a Postgres server, which cuts connections at chosen moments. */
export class Proxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #next: Cut | undefined;
  /** Connections that were cut at a commit. */
  cuts = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async open(url: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(url));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port); // it listens on a port
    return url.href;
  }

  cut(how: Cut): void {
    if (how !== 'now') this.#next = how;
    else for (const pair of this.#pairs) this.#end(pair);
  }

  async close(): Promise<void> {
    this.cut('now');
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let mute = false;
    client.on('data', (data) => {
      const cut = data.includes(COMMIT) ? this.#next : undefined;
      if (cut !== undefined) {
        this.#next = undefined;
        this.cuts += 1;
      }
      if (cut === 'before_commit') return this.#end(pair);
      server.write(data);
      if (cut !== 'before_answer') return undefined;
      mute = true;
      setTimeout(() => this.#end(pair), SERVER_COMMITS_MS);
      return undefined;
    });
    server.on('data', (data) => {
      if (!mute) client.write(data);
    });
    for (const socket of pair) {
      socket.on('error', () => this.#end(pair));
      socket.on('close', () => this.#end(pair));
    }
  }

  #end(pair: readonly [Socket, Socket]): void {
    this.#pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  }
}
