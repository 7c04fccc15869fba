import type { Note, NoteKind } from '../report.ts';
import type { Row } from './row.ts';

/** The rows of one conversation in an order in which each comes after its parent. */
export interface Chain {
  readonly order: readonly Row[];
  readonly parentOf: ReadonlyMap<Row, Row>;
  readonly notes: readonly Note[];
}

/**
 * Finds each row's parent. The file's order is kept wherever a parent stands before its child. A parent that is not there,
 * the row itself or its own descendant is replaced by the row before it in the file, and noted; so every chain ends.
 * Rows without an id stand under the row before them. A repeated id names the first row that has it.
 */
export function chainOf(rows: readonly Row[]): Chain {
  return new ChainBuilder(rows).build();
}

class ChainBuilder {
  readonly #rows: readonly Row[];
  readonly #byUuid = new Map<string, Row>();
  readonly #order: Row[] = [];
  readonly #placed = new Set<Row>();
  readonly #parentOf = new Map<Row, Row>();
  readonly #notes: Note[] = [];
  /** The last row with an id before the one at work, in the file's order; it is placed. */
  #before: Row | undefined;

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    for (const row of rows) if (row.uuid !== undefined && !this.#byUuid.has(row.uuid)) this.#byUuid.set(row.uuid, row);
  }

  build(): Chain {
    for (const row of this.#rows) {
      if (row.uuid === undefined) this.#put(row, this.#before);
      else {
        if (!this.#placed.has(row)) this.#placeWithAncestors(row);
        this.#before = row;
      }
    }
    return { order: this.#order, parentOf: this.#parentOf, notes: this.#notes };
  }

  /** Places a row's ancestors that stand later in the file before the row itself; a loop ends at its earliest row. */
  #placeWithAncestors(row: Row): void {
    const waiting: Row[] = [];
    const isWaiting = new Set<Row>();
    const broken = new Set<Row>();
    for (let next: Row | undefined = row; next && !this.#placed.has(next);) {
      if (isWaiting.has(next)) {
        broken.add(earliest(waiting.slice(waiting.indexOf(next))));
        break;
      }
      waiting.push(next);
      isWaiting.add(next);
      next = this.#namedParent(next);
    }
    const [loop] = broken;
    // The rows of a loop follow from its earliest one on.
    const order = loop ? rotated(waiting, loop, this.#namedParent.bind(this)) : waiting.reverse();
    for (const next of order) this.#put(next, this.#parentFor(next, next === loop));
  }

  #namedParent(row: Row): Row | undefined {
    const name = row.parentUuid ?? (row.kind === 'boundary' ? row.logicalParentUuid : undefined);
    const parent = name === undefined ? undefined : this.#byUuid.get(name);
    return parent === row ? undefined : parent;
  }

  #parentFor(row: Row, isLoop: boolean): Row | undefined {
    const parent = this.#namedParent(row);
    if (parent && !isLoop) return parent;
    const reason = isLoop ? 'cyclic_parent' : this.#reason(row);
    if (reason) this.#note(reason, row);
    return reason ? this.#before : undefined;
  }

  /** Why a row has no parent that can be used; nothing where it claims none. */
  #reason(row: Row): NoteKind | undefined {
    if (row.parentUuid !== undefined) return row.parentUuid === row.uuid ? 'self_parent' : 'missing_parent';
    const isCompaction = row.kind === 'boundary' || row.kind === 'summary';
    return isCompaction && this.#before ? 'missing_logical_parent' : undefined;
  }

  #note(kind: NoteKind, row: Row): void {
    this.#notes.push({
      kind,
      line: row.line,
      byte: row.byte,
      id: row.uuid,
      about: row.parentUuid ?? row.logicalParentUuid,
    });
  }

  #put(row: Row, parent: Row | undefined): void {
    this.#order.push(row);
    this.#placed.add(row);
    if (parent) this.#parentOf.set(row, parent);
  }
}

function earliest(rows: readonly Row[]): Row {
  return rows.reduce((first, row) => (row.index < first.index ? row : first));
}

/** Waiting rows, each after its parent, where `loop` and its parent are parted. */
function rotated(waiting: readonly Row[], loop: Row, parentOf: (row: Row) => Row | undefined): readonly Row[] {
  const start = waiting.findIndex((row) => row === loop);
  // From the row that the walk entered the loop at, the loop's rows run to the end of the walk and on from its start.
  const entry = waiting.indexOf(parentOf(waiting.at(-1) as Row) as Row);
  const afterLoop = waiting.slice(entry, start);
  const fromLoop = waiting.slice(start + 1);
  return [loop, ...afterLoop.reverse(), ...fromLoop.reverse(), ...waiting.slice(0, entry).reverse()];
}
