import { putFile, readWhole } from './files/files.ts';
import type { FileSystem } from './files/file-system.ts';
import { LAYOUT } from './files/layout.ts';

/** Bytes that were set aside, and where they stood. */
export interface SetAside {
  readonly file: string;
  readonly place: string;
  readonly reason: string;
}

const REPORT = 'report.jsonl';

/** The folder of what was set aside: the bytes as files, and a report with a line for each. */
export class Damaged {
  readonly #fs: FileSystem;
  readonly #root: string;
  readonly #folder: string;

  constructor(fs: FileSystem, root: string) {
    this.#fs = fs;
    this.#root = root;
    this.#folder = `${root}/${LAYOUT.damaged}`;
  }

  /** Keeps a copy, durably. The original may go afterwards. */
  async setAside(name: string, bytes: Uint8Array, place: string, reason: string): Promise<void> {
    if (!this.#fs.list(this.#folder)) {
      this.#fs.makeDirectory(this.#folder);
      await this.#fs.syncDirectory(this.#root);
    }
    const file = this.#freeName(name);
    await this.#write(file, bytes);
    const report = this.list().concat({ file, place, reason });
    await this.#write(REPORT, Buffer.from(report.map((item) => `${JSON.stringify(item)}\n`).join('')));
    await this.#fs.syncDirectory(this.#folder);
  }

  list(): readonly SetAside[] {
    const text = readWhole(this.#fs, `${this.#folder}/${REPORT}`)?.toString('utf8') ?? '';
    return text.split('\n').flatMap(parseLine);
  }

  /** Removes the bytes, which may hold words that were erased since; the report stays. */
  async clear(): Promise<void> {
    const isFile = (name: string) => this.#fs.list(`${this.#folder}/${name}`) === undefined;
    const names = (this.#fs.list(this.#folder) ?? []).filter((name) => name !== REPORT && isFile(name));
    if (names.length === 0) return;
    for (const name of names) this.#fs.remove(`${this.#folder}/${name}`);
    await this.#fs.syncDirectory(this.#folder);
  }

  #freeName(name: string): string {
    const taken = new Set(this.#fs.list(this.#folder) ?? []);
    for (let count = 1; ; count++) {
      const free = count === 1 ? name : `${name}.${count}`;
      if (!taken.has(free)) return free;
    }
  }

  #write(name: string, bytes: Uint8Array): Promise<void> {
    return putFile(this.#fs, `${this.#folder}/${name}`, (file) => file.write(bytes, 0));
  }
}

/** A line of the report that somebody spoiled says no more than that. */
function parseLine(line: string): readonly SetAside[] {
  if (line === '') return [];
  const found = parsed(line);
  if (typeof found?.file === 'string' && typeof found.place === 'string' && typeof found.reason === 'string')
    return [{ file: found.file, place: found.place, reason: found.reason }];
  return [{ file: REPORT, place: `${LAYOUT.damaged}/${REPORT}`, reason: 'a line of the report is damaged' }];
}

function parsed(line: string): Partial<SetAside> | null {
  try {
    return JSON.parse(line) as Partial<SetAside> | null; // looked at by who asks
  } catch {
    return null;
  }
}
