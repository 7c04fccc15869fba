import { ByteSink, ByteSource } from './search-bytes.ts';
import { type Block, BlockWriter, sealBytes, unsealBytes } from './search-blocks.ts';
import type { Database, SqlRow, Statement } from '../driver/driver.ts';

/** A run of documents, in the order of their ids, whose terms were written once and are never changed. */
export interface Segment {
  readonly id: number;
  /** How often its documents were merged. */
  readonly level: number;
  /** The lowest and the highest document id; those of two segments never overlap. */
  readonly first: number;
  readonly last: number;
  /** Documents. */
  readonly count: number;
}

export const SEGMENT_TABLES = `
  CREATE TABLE segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, level INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    count INTEGER NOT NULL, docs BLOB NOT NULL
  );
  CREATE UNIQUE INDEX segment_first ON segment (first);
  CREATE TABLE block (
    segment INTEGER NOT NULL, term INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (segment, term)
  );
`;

/** The rows of segments and of their blocks. */
export class SegmentTable {
  readonly #newest: Statement;
  readonly #atLevel: Statement;
  readonly #docs: Statement;
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #deleteBlocks: Statement;
  readonly #blockAt: Statement;
  readonly #blockAfter: Statement;
  readonly #insertBlock: Statement;

  constructor(database: Database) {
    const columns = 'id, level, first, last, count';
    this.#newest = database.prepare(`SELECT ${columns} FROM segment WHERE first <= ? ORDER BY first DESC`);
    this.#atLevel = database.prepare(`SELECT ${columns} FROM segment WHERE level = ? ORDER BY first`);
    this.#docs = database.prepare('SELECT docs FROM segment WHERE id = ?');
    this.#insert = database.prepare(
      `INSERT INTO segment (level, first, last, count, docs) VALUES (?, ?, ?, ?, ?) RETURNING id`,
    );
    this.#delete = database.prepare('DELETE FROM segment WHERE id = ?');
    this.#deleteBlocks = database.prepare('DELETE FROM block WHERE segment = ?');
    this.#blockAt = database.prepare(
      'SELECT term, data FROM block WHERE segment = ? AND term <= ? ORDER BY term DESC LIMIT 1',
    );
    this.#blockAfter = database.prepare(
      'SELECT term, data FROM block WHERE segment = ? AND term > ? ORDER BY term LIMIT 1',
    );
    this.#insertBlock = database.prepare('INSERT INTO block (segment, term, data) VALUES (?, ?, ?)');
  }

  /** The segments that hold documents up to an id, newest first. */
  *newest(docId: number): Generator<Segment> {
    for (const row of this.#newest.iterate(docId)) yield toSegment(row);
  }

  /** The segments of a level, oldest first. */
  atLevel(level: number): Segment[] {
    return this.#atLevel.all(level).map(toSegment);
  }

  /** The document ids of a segment by ordinal. */
  docIds(segment: Segment): Float64Array {
    const docs = this.#docs.get(segment.id)?.[0] as Uint8Array; // a blob of a row that is there
    const source = new ByteSource(unsealBytes(docs));
    const docIds = new Float64Array(segment.count);
    let docId = 0;
    for (let ordinal = 0; ordinal < docIds.length; ordinal++) {
      docId += source.varint();
      docIds[ordinal] = docId;
    }
    return docIds;
  }

  /** The block that holds a term, if any does. */
  blockAt(segment: Segment, term: number): Block | undefined {
    return toBlock(this.#blockAt.get(segment.id, term));
  }

  /** The first block that begins after a term. */
  blockAfter(segment: Segment, term: number): Block | undefined {
    return toBlock(this.#blockAfter.get(segment.id, term));
  }

  /** Adds a segment of at least one document, ids ascending, whose terms `write` gives. */
  insert(level: number, docIds: Float64Array, write: (writer: BlockWriter) => void): void {
    const [first = 0] = docIds;
    const row = this.#insert.get(level, first, docIds.at(-1) ?? first, docIds.length, encodeDocIds(docIds));
    const id = row?.[0] as number; // of the row that was just made
    const writer = new BlockWriter(({ firstTerm, data }) => void this.#insertBlock.run(id, firstTerm, data));
    write(writer);
    writer.end();
  }

  /** Puts one segment in the place of others, whose terms `write` may read; none when no document is left. */
  replace(old: readonly Segment[], level: number, docIds: Float64Array, write: (writer: BlockWriter) => void): void {
    // The new row has the first id of an old one, which is unique: the old rows go first, their blocks last.
    for (const { id } of old) this.#delete.run(id);
    if (docIds.length > 0) this.insert(level, docIds, write);
    for (const { id } of old) this.#deleteBlocks.run(id);
  }
}

function toSegment(row: SqlRow): Segment {
  const [id, level, first, last, count] = row as readonly number[]; // integer columns, all of them
  return { id: id ?? 0, level: level ?? 0, first: first ?? 0, last: last ?? 0, count: count ?? 0 };
}

function toBlock(row: SqlRow | undefined): Block | undefined {
  if (row === undefined) return undefined;
  return { firstTerm: row[0] as number, data: row[1] as Uint8Array }; // an integer and a blob
}

function encodeDocIds(docIds: Float64Array): Uint8Array {
  const sink = new ByteSink();
  let previous = 0;
  for (const docId of docIds) {
    sink.varint(docId - previous);
    previous = docId;
  }
  return sealBytes(sink.take());
}
