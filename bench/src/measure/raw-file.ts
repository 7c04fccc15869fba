import { closeSync, fdatasync, fdatasyncSync, openSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const writeLater = promisify(write);
const syncLater = promisify(fdatasync);

/** A file that lines are appended to, each batch with one sync: what a store cannot be faster than. */
export class RawFile {
  readonly #descriptor: number;

  constructor(folder: string) {
    this.#descriptor = openSync(join(folder, 'raw'), 'a');
  }

  append(lines: string): void {
    writeSync(this.#descriptor, lines);
    fdatasyncSync(this.#descriptor);
  }

  /** The same without blocking the program: by the thread pool, as a server has to. */
  async appendLater(lines: string): Promise<void> {
    await writeLater(this.#descriptor, Buffer.from(lines));
    await syncLater(this.#descriptor);
  }

  /** Lines a second, so many for each sync. */
  linesPerSecond(lines: readonly string[], durationMs: number): number {
    const batch = lines.join('');
    const start = performance.now();
    let count = 0;
    while (performance.now() - start < durationMs) {
      this.append(batch);
      count += lines.length;
    }
    return (count / (performance.now() - start)) * 1_000;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
