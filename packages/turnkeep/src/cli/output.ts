import pc from 'picocolors';
import { jsonText } from './json-text.ts';
import { FileFailure } from './failure.ts';
import { clip, safeLine } from './terminal-text.ts';

/** What the output needs of a stream: `process.stdout` and `process.stderr` are such. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Environment {
  readonly [name: string]: string | undefined;
}

/** Thrown at a write after the reader went away, as `head -1` does. It ends a command, quietly. */
export class OutputClosed extends Error {}

export type Colors = ReturnType<typeof pc.createColors>;

const BUFFER_UNITS = 32_768;

/** Standard output: lines for a person or JSON for a program. It waits for a slow reader and notices one that left. */
export class Output {
  readonly colors: Colors;
  /** Columns of the terminal; `undefined` where it is none. */
  readonly columns: number | undefined;
  readonly #stream: OutputStream;
  #buffer = '';
  #failure: Error | undefined;

  constructor(stream: OutputStream, env: Environment) {
    this.#stream = stream;
    this.colors = pc.createColors(wantsColors(stream, env));
    this.columns = stream.isTTY === true ? (stream.columns ?? 80) : undefined;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#failure = failureOfWriting(error);
    });
  }

  /** Prints a line; its text must be safe already (see `terminal-text.ts`). */
  async line(text = ''): Promise<void> {
    await this.write(`${text}\n`);
  }

  async lines(texts: Iterable<string>): Promise<void> {
    for (const text of texts) await this.line(text);
  }

  /** One JSON document on one line. */
  async json(value: unknown): Promise<void> {
    await this.line(jsonText(value));
  }

  async write(text: string): Promise<void> {
    this.#buffer += text;
    if (this.#buffer.length >= BUFFER_UNITS) await this.flush();
  }

  /** Bytes as they are, behind what was printed. They are for a file or a program: a terminal may obey them. */
  async bytes(data: Uint8Array): Promise<void> {
    await this.flush();
    await this.#send(data);
  }

  /** Hands everything over to the system. */
  async flush(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const text = this.#buffer;
    this.#buffer = '';
    if (text !== '') await this.#send(text);
  }

  async #send(data: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(data, (error) => (error ? reject(failureOfWriting(error)) : resolve()));
    });
  }
}

const HELD_UNITS = 1_048_576;

/**
 * A JSON document with one list, whose items come one after the other. Nothing of it is printed before a megabyte of it is
 * there, or all of it: what fails before leaves no half of a document behind.
 */
export class JsonList {
  readonly #out: Output;
  #text: string;
  #separator = '';

  constructor(out: Output, name: string) {
    this.#out = out;
    this.#text = `{${jsonText(name)}:[`;
  }

  async add(item: unknown): Promise<void> {
    this.#text += this.#separator + jsonText(item);
    this.#separator = ',';
    if (this.#text.length < HELD_UNITS) return;
    await this.#out.write(this.#text);
    this.#text = '';
  }

  async end(): Promise<void> {
    await this.#out.line(`${this.#text}]}`);
  }
}

function failureOfWriting(error: NodeJS.ErrnoException): Error {
  return error.code === 'EPIPE' ? new OutputClosed() : new FileFailure('standard output', error);
}

function wantsColors(stream: OutputStream, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'] || undefined;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

const REDRAW_MS = 100;
const LINE_MS = 5_000;

/**
 * Progress of long work on standard error: one line that is drawn over on a terminal, a line now and then elsewhere.
 * Silent where a program reads.
 */
export class Progress {
  readonly #stream: OutputStream;
  readonly #now: () => number;
  readonly #isSilent: boolean;
  #last: number;
  #isDrawn = false;

  constructor(stream: OutputStream, now: () => number, isSilent: boolean) {
    this.#stream = stream;
    this.#now = now;
    this.#isSilent = isSilent;
    this.#last = now();
  }

  /** Says how far the work is; most calls draw nothing. */
  show(text: () => string): void {
    if (this.#isSilent) return;
    const isTerminal = this.#stream.isTTY === true;
    const now = this.#now();
    if (now - this.#last < (isTerminal ? REDRAW_MS : LINE_MS)) return;
    this.#last = now;
    this.#isDrawn = isTerminal;
    const line = clip(safeLine(text()), (this.#stream.columns ?? 80) - 1);
    this.#stream.write(isTerminal ? `\r\u001b[2K${line}` : `${line}\n`);
  }

  /** Takes the line away again. */
  end(): void {
    if (this.#isDrawn) this.#stream.write('\r\u001b[2K');
    this.#isDrawn = false;
  }
}
