import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

const TYPE = 1;
const LENGTH = 4;

/** What a socket says, cut into messages; the first one of a client has no letter. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);
  #isFirst: boolean;

  constructor(of: 'client' | 'server') {
    this.#isFirst = of === 'client';
  }

  take(chunk: Buffer): readonly Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    for (;;) {
      const head = this.#isFirst ? 0 : TYPE;
      if (this.#rest.length < head + LENGTH) return messages;
      const end = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < end) return messages;
      messages.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
      this.#isFirst = false;
    }
  }
}

/**
 * Stands before a server as a pooler does that gives each transaction another connection and keeps nothing for its clients:
 * between two transactions, all that a session knows is gone, prepared statements among it.
 */
export class TransactionPooler {
  /** Transactions that ended. */
  resets = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(port: number) {
    this.#server = createServer((client) => this.#serve(client, connect(port, '127.0.0.1')));
  }

  static async before(url: string): Promise<TransactionPooler> {
    const pooler = new TransactionPooler(Number(new URL(url).port));
    await new Promise<void>((resolve) => pooler.#server.listen(0, '127.0.0.1', resolve));
    return pooler;
  }

  url(server: string): string {
    const url = new URL(server);
    url.port = String((this.#server.address() as AddressInfo).port); // it listens on a port
    return url.href;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(client: Socket, server: Socket): void {
    const [fromClient, fromServer] = [new Messages('client'), new Messages('server')];
    const held: Buffer[] = [];
    let isResetting = false;
    // The server says once that it is ready before it is asked anything.
    let owed = 1;
    const pass = (message: Buffer): void => {
      if ('QS'.includes(String.fromCharCode(message[0] ?? 0))) owed += 1;
      server.write(message);
    };
    client.on('data', (chunk: Buffer) => {
      for (const message of fromClient.take(chunk)) {
        if (isResetting) held.push(message);
        else pass(message);
      }
    });
    server.on('data', (chunk: Buffer) => {
      for (const message of fromServer.take(chunk)) {
        const isReady = message[0] === 'Z'.charCodeAt(0);
        if (!isResetting) client.write(message);
        if (!isReady) continue;
        if (isResetting) {
          isResetting = false;
          for (const one of held.splice(0)) pass(one);
        } else if (--owed === 0 && message.at(-1) === 'I'.charCodeAt(0)) {
          isResetting = true;
          this.resets += 1;
          server.write(query('DISCARD ALL'));
        }
      }
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
  }
}

function query(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const message = Buffer.alloc(TYPE + LENGTH + body.length);
  message.write('Q');
  message.writeInt32BE(LENGTH + body.length, TYPE);
  body.copy(message, TYPE + LENGTH);
  return message;
}
