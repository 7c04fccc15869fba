import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';

/** A file that lines are appended to, each batch with one sync: what a store cannot be faster than. */
export class RawFile {
  readonly #path: string;
  readonly #descriptor: number;

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'w');
  }

  append(lines: string): void {
    writeSync(this.#descriptor, lines);
    fdatasyncSync(this.#descriptor);
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
    rmSync(this.#path);
  }
}
