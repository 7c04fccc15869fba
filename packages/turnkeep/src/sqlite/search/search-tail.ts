import type { Database, Statement } from '../driver/driver.ts';

/** A document with its text, case folded. */
export interface FoldedDoc {
  readonly docId: number;
  readonly folded: string;
}

export const TAIL_TABLE = 'CREATE TABLE tail (doc INTEGER PRIMARY KEY, text BLOB NOT NULL);';

/** The rows of the newest documents: their folded text as UTF-8, in which half of a surrogate pair is U+FFFD. */
export class TailTable {
  readonly #size: Statement;
  readonly #all: Statement;
  readonly #newest: Statement;
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #clear: Statement;

  constructor(database: Database) {
    this.#size = database.prepare('SELECT count(*), ifnull(sum(length(text)), 0) FROM tail');
    this.#all = database.prepare('SELECT doc, text FROM tail ORDER BY doc');
    this.#newest = database.prepare('SELECT doc, text FROM tail WHERE doc <= ? ORDER BY doc DESC');
    this.#insert = database.prepare('INSERT INTO tail (doc, text) VALUES (?, ?)');
    this.#delete = database.prepare('DELETE FROM tail WHERE doc = ?');
    this.#clear = database.prepare('DELETE FROM tail');
  }

  /** Documents, and bytes of their text. */
  size(): { readonly docs: number; readonly bytes: number } {
    const [docs = 0, bytes = 0] = (this.#size.get() ?? []) as readonly number[]; // a count and a sum
    return { docs, bytes };
  }

  add({ docId, folded }: FoldedDoc): void {
    this.#insert.run(docId, Buffer.from(folded));
  }

  /** Whether the document was there. */
  delete(docId: number): boolean {
    return this.#delete.run(docId) > 0;
  }

  /** Empties the tail; answers what was in it, lowest id first. */
  takeAll(): FoldedDoc[] {
    const docs = this.#all.all().map(([doc, text]) => ({ docId: doc as number, folded: bytesOf(text).toString() }));
    this.#clear.run();
    return docs;
  }

  /** The documents up to an id that contain a folded query, highest first. */
  *matching(foldedQuery: string, docId: number): Generator<number> {
    const query = Buffer.from(foldedQuery);
    for (const [doc, text] of this.#newest.iterate(docId)) if (bytesOf(text).includes(query)) yield doc as number;
  }
}

function bytesOf(value: unknown): Buffer {
  if (!(value instanceof Uint8Array))
    throw Object.assign(new Error('a text of the tail is gone'), { code: 'SQLITE_CORRUPT' });
  const { buffer, byteOffset, byteLength } = value;
  return Buffer.from(buffer, byteOffset, byteLength);
}
