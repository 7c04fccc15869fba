import type { Note, NoteKind } from '../report.ts';
import type { Chain } from './chain.ts';
import type { Row } from './row.ts';

/**
 * A unit is what belongs together whatever the chain says: an API message with all its rows and the results of all its
 * calls, though parallel results hang on different rows; or one other row. Rows of kind `side` stand with the unit above.
 */
export interface Unit {
  readonly kind: 'prompt' | 'step' | 'notice' | 'boundary' | 'summary' | 'preface';
  readonly turn: Turn;
  readonly messageId: string | undefined;
  readonly own: Row[];
  readonly results: Row[];
  readonly sides: Row[];
  /** True when a unit of the dialogue follows; the first one that did goes on with the turn where it can. */
  hasNext: boolean;
}

/** Where a turn hangs: after a whole turn, or after one unit of it where the turn went on another way. */
export interface Anchor {
  readonly unit: Unit;
  readonly isTurnEnd: boolean;
  /** Rows that stand later in the file do not move the anchor. */
  readonly before: number;
}

/** A summary that a compaction left, and the last row that it covers. */
export interface Covering {
  readonly summary: Row;
  readonly upTo: Row;
}

export interface Turn {
  readonly units: Unit[];
  readonly parent: Anchor | undefined;
  /** True while nothing but bookkeeping and notices stands in it: the prompt joins them. */
  isPreface: boolean;
  /** The unit that makes a call, and whether a result came. */
  readonly calls: Map<string, { readonly unit: Unit; isAnswered: boolean; readonly row: Row; readonly name: string }>;
  covering: Covering | undefined;
}

/** The tree of one conversation. */
export interface TurnTree {
  /** Each after the turn that it hangs on. */
  readonly turns: readonly Turn[];
  /** Rows before the first with an id. */
  readonly atRoot: readonly Row[];
  readonly unitOf: ReadonlyMap<Row, Unit>;
  /** Call ids of a row that cannot pair: those parts are kept as opaque ones. */
  readonly unpaired: ReadonlyMap<Row, ReadonlySet<string>>;
  readonly notes: readonly Note[];
}

export function turnsOf(chain: Chain): TurnTree {
  return new TreeBuilder(chain).build();
}

class TreeBuilder {
  readonly #chain: Chain;
  readonly #turns: Turn[] = [];
  readonly #atRoot: Row[] = [];
  readonly #unitOf = new Map<Row, Unit>();
  readonly #unpaired = new Map<Row, Set<string>>();
  readonly #notes: Note[] = [];
  /** Steps by parent row and message id: siblings that are pieces of one message. */
  readonly #steps = new Map<Row | undefined, Map<string, Unit>>();
  readonly #callers = new Map<string, Unit[]>();

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  build(): TurnTree {
    for (const row of this.#chain.order) this.#place(row);
    for (const turn of this.#turns) this.#cover(turn);
    return {
      turns: this.#turns,
      atRoot: this.#atRoot,
      unitOf: this.#unitOf,
      unpaired: this.#unpaired,
      notes: this.#notes,
    };
  }

  #place(row: Row): void {
    const parent = this.#chain.parentOf.get(row);
    const above = parent && this.#unitOf.get(parent);
    if (row.uuid === undefined && !above) this.#atRoot.push(row);
    else if (row.kind === 'side') this.#put(row, above ?? this.#newUnit(row, 'preface', undefined), 'sides');
    else if (row.kind === 'assistant') this.#placePiece(row, parent, above);
    else if (row.kind === 'result') this.#placeResult(row, above);
    else this.#put(row, this.#newUnit(row, row.kind, above), 'own');
  }

  #put(row: Row, unit: Unit, among: 'own' | 'results' | 'sides'): void {
    unit[among].push(row);
    this.#unitOf.set(row, unit);
  }

  #placePiece(row: Row, parent: Row | undefined, above: Unit | undefined): void {
    const siblings = this.#steps.get(parent) ?? new Map<string, Unit>();
    this.#steps.set(parent, siblings);
    const { messageId } = row;
    const known =
      messageId === undefined ? undefined : above?.messageId === messageId ? above : siblings.get(messageId);
    const unit = known ?? this.#newUnit(row, 'step', above);
    if (messageId !== undefined) siblings.set(messageId, unit);
    this.#put(row, unit, 'own');
    for (const call of row.calls) this.#addCall(row, unit, call);
  }

  #addCall(row: Row, unit: Unit, call: { readonly id: string; readonly name: string }): void {
    const { calls } = unit.turn;
    const known = calls.get(call.id);
    if (known) {
      // The first of two in one row stays a call.
      if (known.row !== row) this.#unpair(row, call.id);
      this.#note('second_call', row, call.id);
      return;
    }
    calls.set(call.id, { unit, isAnswered: false, row, name: call.name });
    const callers = this.#callers.get(call.id);
    if (callers) callers.push(unit);
    else this.#callers.set(call.id, [unit]);
  }

  /** A result stands with its call, whatever it hangs on; one message answers calls of one turn, after the last of them. */
  #placeResult(row: Row, above: Unit | undefined): void {
    const callers = row.answers.map((id) => this.#callerOf(id, above));
    const caller = lastOfTurn(callers.filter((unit) => unit !== undefined));
    const unit = caller ?? this.#newUnit(row, 'notice', above);
    this.#put(row, unit, caller ? 'results' : 'own');
    const own = new Set<string>();
    for (const [at, id] of row.answers.entries()) {
      const call = unit.turn.calls.get(id);
      const isOrphan = !call || callers[at]?.turn !== unit.turn;
      const isSecond = !isOrphan && call.isAnswered;
      if (isOrphan || isSecond) this.#note(isOrphan ? 'orphan_result' : 'second_result', row, id);
      // The first of two in one row stays an answer.
      if (isOrphan || (isSecond && !own.has(id))) this.#unpair(row, id);
      else {
        call.isAnswered = true;
        own.add(id);
      }
    }
  }

  #unpair(row: Row, callId: string): void {
    const set = this.#unpaired.get(row) ?? new Set<string>();
    this.#unpaired.set(row, set.add(callId));
  }

  #note(kind: NoteKind, row: Row, callId: string): void {
    this.#notes.push({ kind, line: row.line, byte: row.byte, id: row.uuid, about: callId });
  }

  /** The unit that makes the call: the one above, the nearest on the way to the root, else the newest. */
  #callerOf(callId: string, above: Unit | undefined): Unit | undefined {
    const callers = this.#callers.get(callId);
    if (!callers || callers.length === 1) return callers?.[0];
    for (let turn = above?.turn; turn; turn = turn.parent?.unit.turn) {
      const call = turn.calls.get(callId);
      if (call) return call.unit;
    }
    return callers.at(-1);
  }

  /** A unit goes on with the turn above it, or begins a turn: as a prompt, a compaction, or where the turn forks. */
  #newUnit(row: Row, kind: Unit['kind'], above: Unit | undefined): Unit {
    const turn = above && this.#goesOn(kind, above) ? above.turn : this.#newTurn(row, above);
    const unit: Unit = { kind, turn, messageId: row.messageId, own: [], results: [], sides: [], hasNext: false };
    turn.units.push(unit);
    if (kind === 'prompt' || kind === 'step') turn.isPreface = false;
    if (above) above.hasNext = true;
    return unit;
  }

  #goesOn(kind: Unit['kind'], above: Unit): boolean {
    if (above.hasNext) return false;
    if (kind === 'prompt') return above.turn.isPreface;
    if (kind === 'summary') return above.kind === 'boundary';
    return kind !== 'boundary';
  }

  #newTurn(row: Row, above: Unit | undefined): Turn {
    const isTurnEnd = above === above?.turn.units.at(-1);
    const parent = above && { unit: above, isTurnEnd, before: row.index };
    const isPreface = row.kind !== 'boundary' && row.kind !== 'summary';
    const turn: Turn = { units: [], parent, isPreface, calls: new Map(), covering: undefined };
    this.#turns.push(turn);
    return turn;
  }

  /** Finds what a compaction's summary covers: the rows above it that its boundary did not leave in context. */
  #cover(turn: Turn): void {
    const [first, second] = turn.units;
    if (!first || (first.kind !== 'boundary' && first.kind !== 'summary')) return;
    const boundary = first.own[0] as Row;
    const summary = first.kind === 'summary' ? boundary : second?.kind === 'summary' ? second.own[0] : undefined;
    const problem = summary ? this.#coverBy(turn, boundary, summary) : 'boundary_without_summary';
    const { line, byte, uuid } = summary ?? boundary;
    if (problem) this.#notes.push({ kind: problem, line, byte, id: uuid });
  }

  #coverBy(turn: Turn, boundary: Row, summary: Row): NoteKind | undefined {
    if (!summary.hasText) return 'empty_summary';
    if (summary.bytes > MAX_SUMMARY_BYTES) return 'summary_too_long';
    const upTo = this.#lastCovered(turn, boundary);
    if (!upTo) return 'summary_without_prefix';
    const before = coveringAbove(turn);
    if (before && !isBelow(this.#unitOf, upTo, before.upTo)) return 'summary_not_longer';
    turn.covering = { summary, upTo };
    return undefined;
  }

  #lastCovered(turn: Turn, boundary: Row): Row | undefined {
    const end = turn.parent && anchorRow(turn.parent);
    if (boundary.preservedHead === undefined || !end) return end;
    const head = [...this.#unitOf.keys()].find((row) => row.uuid === boundary.preservedHead);
    const unit = head && this.#unitOf.get(head);
    if (!head || !unit || !isOnPath(turn, unit.turn)) return end;
    return rowBefore(unit, head);
  }
}

/** Of units, the last one in the turn of the first. */
function lastOfTurn([first, ...others]: readonly Unit[]): Unit | undefined {
  if (!first) return undefined;
  const { turn } = first;
  const own = new Set(others.filter((unit) => unit.turn === turn).concat(first));
  return own.size === 1 ? first : turn.units.findLast((unit) => own.has(unit));
}

/** A summary is committed beside the message of its words, which may be cut; the summary itself cannot be. */
const MAX_SUMMARY_BYTES = 3_000_000;

/** The rows of a unit in the order in which they are said. */
export function rowsOfUnit(unit: Unit): readonly Row[] {
  return [...unit.own, ...unit.results, ...unit.sides];
}

export function rowsOfTurn(turn: Turn): readonly Row[] {
  return turn.units.flatMap(rowsOfUnit);
}

/**
 * The row that a turn hangs on: the last one of its unit that stood in the file before the turn did. So a file that grows
 * moves no turn that it had. A unit that stands later as a whole gives its last row.
 */
export function anchorRow({ unit, before }: Anchor): Row {
  const said = rowsOfUnit(unit);
  return (said.findLast((row) => row.index < before) ?? unit.results.at(-1) ?? unit.own.at(-1) ?? said.at(-1)) as Row;
}

function rowBefore(unit: Unit, row: Row): Row | undefined {
  const rows = rowsOfTurn(unit.turn);
  const at = rows.indexOf(row);
  return at > 0 ? rows[at - 1] : unit.turn.parent && anchorRow(unit.turn.parent);
}

function isOnPath(turn: Turn, wanted: Turn): boolean {
  for (let next: Turn | undefined = turn; next; next = next.parent?.unit.turn) if (next === wanted) return true;
  return false;
}

function coveringAbove(turn: Turn): Covering | undefined {
  for (let next = turn.parent?.unit.turn; next; next = next.parent?.unit.turn) if (next.covering) return next.covering;
  return undefined;
}

/** True where `row` stands below `other` on a path that holds both. */
function isBelow(unitOf: ReadonlyMap<Row, Unit>, row: Row, other: Row): boolean {
  const turn = unitOf.get(row)?.turn;
  const otherTurn = unitOf.get(other)?.turn;
  if (!turn || !otherTurn) return false;
  if (turn !== otherTurn) return isOnPath(turn, otherTurn);
  const rows = rowsOfTurn(turn);
  return rows.indexOf(row) > rows.indexOf(other);
}
