import type { Change, Commit, Expect, Parent } from '../../core/change.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ErrorCode, TurnkeepError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { encode } from '../../core/encoding.ts';
import { callsOf } from '../../core/message.ts';
import type { NewMessage } from '../../core/message.ts';
import { importedId } from '../ids.ts';
import type { Note, NoteKind, Refusal } from '../report.ts';
import type { Outcome } from '../target.ts';
import type { ConversationSource } from './conversation.ts';
import type { HeldRows, RecognisedRows } from './held.ts';
import { messagesOf, TOOL } from './message.ts';
import type { BuiltMessage } from './message.ts';
import { chunkEnd, packsOf } from './packs.ts';
import { summaryText } from './row.ts';
import type { Row } from './row.ts';
import { loadRow } from './session-file.ts';
import type { LoadedRow } from './session-file.ts';
import { anchorRow, rowsOfTurn } from './turns.ts';
import type { Turn } from './turns.ts';

/**
 * What is asked of the store: to make a commit (`commit`; `next`, unless the graph revision is another one), the receipt of one that it has (`replay`), whether it holds one
 * (`holds`), which rows it has (`rows`); or nothing: what it has already is to be counted (`counts`).
 */
export interface CommitStep {
  readonly ask: 'commit' | 'next' | 'replay' | 'holds' | 'rows' | 'counts';
  readonly commit: Commit;
  readonly messages: readonly NewMessage[];
  readonly rows: readonly Row[];
  /** What need not be looked at where rows are asked for. */
  readonly recognised?: RecognisedRows | undefined;
}

/** The answer to a step: what the store said, whether it holds the commit, or the rows that it has, if it can tell. */
export type Answer = Outcome | { readonly holds: boolean } | { readonly held: HeldRows | undefined };

export type CommitSteps = AsyncGenerator<CommitStep, void, Answer>;

/** Refusals that say: the store has these rows otherwise, since the file has grown or changed. */
const GROWN: readonly ErrorCode[] = ['turn_exists', 'message_conflict', 'commit_id_reused'];

/** How often an import looks again at what the store has, where others write to the conversation meanwhile. */
const MAX_TRIES = 16;

/** Refusals of a late result that say: the active path leaves the result's turn before its end, or did when this was sent. */
const ELSEWHERE: readonly ErrorCode[] = ['no_turn', 'commit_id_reused'];

/** Refusals of a summary: in the store, what it covers does not stand above it, or is covered. Its words are kept as a message. */
const UNCOVERED: readonly ErrorCode[] = ['no_message', 'conflict', 'summary_not_longer', 'commit_id_reused'];

/**
 * The commits of a conversation, one after the other: each answer decides how the next is asked. One commit records one
 * turn. A turn that the store has with fewer rows is continued: the rows that are new stand in a turn below it, late
 * results of tools beside their calls. Of a conversation that the store has, the commits that it took of these rows are
 * recognised first, so that of its messages only the others need to be read.
 */
export class ConversationCommits {
  readonly #source: ConversationSource;
  readonly #namespace: string;
  readonly #turnOf = new Map<Row, string>();
  readonly #messageOf = new Map<Row, string>();
  readonly #lastTurnOf = new Map<Turn, string>();
  readonly #lastSequence = new Map<string | null, number>();
  /** Call ids of a row that cannot pair, in the file or with what the store has. */
  readonly #unpaired: Map<Row, ReadonlySet<string>>;
  readonly notes: Note[] = [];
  /** What the store would not take. */
  readonly refused: Refusal[] = [];
  #revision = 0;
  #leaf: string | null = null;
  /** The last commit of rows. */
  #lastCommit = '';
  /** True where the store has the conversation, or came to have it meanwhile: nothing is sent before it was asked. */
  #isKnown = false;
  #held: HeldRows | undefined;
  readonly #edited = new Set<Row>();
  /** True once rows were committed that the store had not. */
  #hasNews = false;
  /** What the store answered for with the receipt of a commit. */
  readonly #recognised = { rows: new Set<Row>(), messageIds: new Set<string>() };
  /** The commits that were recognised, by their first rows. */
  readonly #commitOf = new Map<Row, RecognisedCommit>();
  /** Where what the store has of a turn's next rows as one commit ends, by the first of them; nothing where it has none. */
  readonly #knownEnds = new Map<Row, number | undefined>();
  readonly #heldTurns = new Set<string>();
  readonly #heldMessages = new Set<string>();
  turns = 0;
  summaries = 0;

  constructor(source: ConversationSource, namespace: string) {
    this.#source = source;
    this.#namespace = namespace;
    this.#unpaired = new Map(source.tree.unpaired);
  }

  /** @param head Where the conversation stands in the store; nothing where it is not there. */
  async *steps(head: { readonly graphRevision: number } | undefined): CommitSteps {
    this.#isKnown = head !== undefined;
    this.#revision = head?.graphRevision ?? 0;
    if (!(yield* this.#create())) return;
    if (this.#isKnown) {
      for (const [turn, rows] of this.#rowsByTurn()) yield* this.#recognise(turn, rows);
      this.#leaf = null;
    }
    yield* this.#title();
    for (const [turn, rows] of this.#rowsByTurn()) yield* this.#rows(turn, rows);
    yield* this.#selectLeaf();
  }

  /** Rows of the root and of each turn, in the order of the file. */
  *#rowsByTurn(): Generator<readonly [Turn | undefined, readonly Row[]]> {
    const { atRoot, turns } = this.#source.tree;
    yield [undefined, atRoot];
    for (const turn of turns) yield [turn, [...rowsOfTurn(turn)].sort((left, right) => left.index - right.index)];
  }

  #id(prefix: string, ...parts: readonly string[]): string {
    return importedId(prefix, this.#source.conversationId, ...parts);
  }

  *#step(
    ask: CommitStep['ask'],
    commitId: string,
    changes: readonly Change[],
    expect?: Expect,
    built: readonly BuiltMessage[] = [],
    recognised?: RecognisedRows,
  ): Generator<CommitStep, Answer, Answer> {
    const { conversationId } = this.#source;
    const base = { commitId, namespace: this.#namespace, conversationId, changes };
    const commit: Commit = expect ? { ...base, expect } : base;
    const messages = built.map(({ message }) => message);
    const answer = yield { ask, commit, messages, rows: built.flatMap(({ rows }) => rows), recognised };
    if ('receipt' in answer) {
      const { graphRevision, replayed } = answer.receipt;
      // A receipt that was kept says where the conversation stood then.
      this.#revision = Math.max(this.#revision, graphRevision);
      if (built.length > 0) {
        this.#lastCommit = commitId;
        if (!replayed) this.#hasNews = true;
      }
    }
    this.#revision = movedTo(answer) ?? this.#revision;
    return answer;
  }

  *#create(): Generator<CommitStep, boolean, Answer> {
    const { sourceId, metadata } = this.#source;
    const origin = { kind: 'import', tool: TOOL, source: sourceId } as const;
    const change: Change = { kind: 'conversation.create', metadata, origin };
    const answer = yield* this.#step('commit', this.#id('cmt', 'create', encode(metadata)), [change]);
    if (!('refusal' in answer)) return true;
    // A file may say more of itself since; the conversation stays as it is.
    if (answer.refusal.code !== 'conversation_exists') this.#refuse([], answer.refusal);
    return answer.refusal.code !== 'erased';
  }

  *#title(): Generator<CommitStep, void, Answer> {
    const { title, titles } = this.#source;
    if (!title) return;
    const change: Change = { kind: 'conversation.update', title: title.text, titleSource: title.source };
    const commitId = this.#id('cmt', 'title', title.source, title.text, String(titles));
    if (this.#isKnown) {
      const there = yield* this.#step('replay', commitId, [change]);
      // An older copy of the file does not take a newer title away.
      if ('receipt' in there || this.#recognised.rows.has(title.row)) return;
      if ((yield* this.#heldRows())?.messageOf.has(title.row)) return;
    }
    const answer = yield* this.#step('commit', commitId, [change]);
    if ('refusal' in answer) this.#refuse([title.row], answer.refusal);
  }

  /** Rows of one turn, or of the root, in the order of the file, in as many commits as they need. */
  async *#rows(turn: Turn | undefined, rows: readonly Row[]): CommitSteps {
    for (let start = 0; start < rows.length;) {
      const end = chunkEnd(rows, start, this.#source.tree);
      const first = rows[start] as Row;
      const recognised = this.#commitOf.get(first);
      if (recognised) {
        this.#lastCommit = recognised.commitId;
        this.#leaf = recognised.leaf ?? this.#leaf;
        start = recognised.end;
      } else if (this.#recognised.rows.has(first)) start += 1;
      else if (this.#isKnown) start = yield* this.#knownChunk(turn, rows, start, end);
      else {
        const grown = yield* this.#segment('next', turn, rows.slice(start, end), start === 0);
        // Another import is at work.
        if (grown) this.#isKnown = true;
        else start = end;
      }
    }
  }

  /** Asks for the commits that the store has of a turn's rows; what is new, or stands elsewhere there, is left for later. */
  async *#recognise(turn: Turn | undefined, rows: readonly Row[]): CommitSteps {
    for (let start = 0; start < rows.length;) {
      const end = chunkEnd(rows, start, this.#source.tree);
      this.#leaf = null;
      const known = yield* this.#knownCommit(turn, rows, start, end);
      if (known !== undefined) {
        this.#commitOf.set(rows[start] as Row, { end: known, commitId: this.#lastCommit, leaf: this.#leaf });
      }
      start = known ?? end;
    }
  }

  /** Where the commit that the store has of rows from `start` on ends: with all of them, or with fewer. */
  async *#knownCommit(
    turn: Turn | undefined,
    rows: readonly Row[],
    start: number,
    end: number,
  ): AsyncGenerator<CommitStep, number | undefined, Answer> {
    if (!(yield* this.#segment('replay', turn, rows.slice(start, end), start === 0))) return end;
    const known = yield* this.#knownEnd(rows, start, end);
    if (known === undefined) return undefined;
    return (yield* this.#segment('replay', turn, rows.slice(start, known), start === 0)) ? undefined : known;
  }

  /**
   * Rows of a conversation that the store has: as the commit that it has of them, or as one of the first of them; else those
   * of them that it has not. Answers where the next ones start.
   */
  async *#knownChunk(
    turn: Turn | undefined,
    all: readonly Row[],
    start: number,
    end: number,
  ): AsyncGenerator<CommitStep, number, Answer> {
    const known = yield* this.#knownCommit(turn, all, start, end);
    if (known !== undefined) return known;
    const rows = all.slice(start, end).filter((row) => !this.#recognised.rows.has(row));
    for (let tries = 1; ; tries++) {
      const held = yield* this.#heldRows();
      const there = held ? rows.filter((row) => held.messageOf.has(row)) : [];
      yield* this.#countHeld(turn, there);
      const fresh = held ? rows.filter((row) => !held.messageOf.has(row)) : rows;
      if (fresh.length === 0) return end;
      const ask = held && tries < MAX_TRIES ? 'next' : 'commit';
      const refused = yield* this.#segment(ask, turn, fresh, start === 0 && there.length === 0);
      if (!refused || refused === 'absent') return end;
      if (!held || tries === MAX_TRIES) {
        this.#refuse(fresh, refused);
        return end;
      }
      // Another import is at work, and was faster.
      this.#held = undefined;
    }
  }

  /** Which rows the store has, whatever its commits say; asked once, and again where another import was faster. */
  *#heldRows(): Generator<CommitStep, HeldRows | undefined, Answer> {
    if (this.#held) return this.#held;
    const answer = yield* this.#step('rows', '', [], undefined, [], this.#recognised);
    this.#held = 'held' in answer ? answer.held : undefined;
    for (const row of this.#held?.edited.keys() ?? []) {
      // It has another name from here on.
      this.#knownEnds.clear();
      if (!this.#edited.has(row)) this.#note('variant', row);
      this.#edited.add(row);
    }
    return this.#held;
  }

  #note(kind: NoteKind, { line, byte, uuid }: Row, about?: string): void {
    this.notes.push({ kind, line, byte, id: uuid, about });
  }

  /** Goes on from rows where the store has them. */
  *#countHeld(turn: Turn | undefined, rows: readonly Row[]): Generator<CommitStep, void, Answer> {
    const messages = new Map<string, NewMessage>();
    for (const row of rows) {
      const held = this.#held?.messageOf.get(row);
      if (!held) continue;
      const { messageId, turnId, sequence, role } = held;
      if (!this.#heldMessages.has(messageId)) messages.set(messageId, { messageId, role, parts: [] });
      this.#heldMessages.add(messageId);
      this.#messageOf.set(row, messageId);
      this.#lastSequence.set(turnId, Math.max(this.#lastSequence.get(turnId) ?? 0, sequence));
      if (turnId === null) continue;
      this.#turnOf.set(row, turnId);
      if (turn && row.kind !== 'result') this.#lastTurnOf.set(turn, turnId);
      if (!this.#heldTurns.has(turnId)) this.turns += 1;
      this.#heldTurns.add(turnId);
    }
    const built = [...messages.values()].map((message) => ({ message, rows: [] }));
    if (built.length > 0) yield* this.#step('counts', '', [], undefined, built);
  }

  #refuse(rows: readonly Row[], { code, message }: TurnkeepError): void {
    const { conversationId } = this.#source;
    this.refused.push({ conversationId, lines: rows.map((row) => row.line), code, message });
  }

  /** How many of the rows the store holds as one commit. */
  *#knownEnd(rows: readonly Row[], start: number, end: number): Generator<CommitStep, number | undefined, Answer> {
    const first = rows[start] as Row;
    if (!this.#knownEnds.has(first)) {
      let at = end - 1;
      while (at > start && !(yield* this.#holds(rows.slice(start, at)))) at -= 1;
      this.#knownEnds.set(first, at > start ? at : undefined);
    }
    return this.#knownEnds.get(first);
  }

  *#holds(rows: readonly Row[]): Generator<CommitStep, boolean, Answer> {
    const answer = yield* this.#step('holds', this.#segmentId(rows, 0), [{ kind: 'conversation.update' }]);
    return 'holds' in answer && answer.holds;
  }

  #keyOf(row: Row): string {
    return this.#held?.edited.get(row) ?? row.key;
  }

  #segmentId(rows: readonly Row[], pack: number): string {
    return this.#id('cmt', 'rows', String(pack), ...rows.map((row) => this.#keyOf(row)));
  }

  /** Commits rows as one turn. Answers the refusal where the store seems to have them otherwise. */
  async *#segment(
    ask: 'commit' | 'next' | 'replay',
    turn: Turn | undefined,
    rows: readonly Row[],
    isStart: boolean,
  ): AsyncGenerator<CommitStep, TurnkeepError | 'absent' | undefined, Answer> {
    const loaded = await this.#load(turn, rows);
    let messages = this.#messagesOf(loaded);
    for (let packs = packsOf(messages), number = 0; number < packs.length; number++) {
      const built = packs[number] ?? [];
      const pack = { turn, rows, loaded, built, number, isStart: isStart && number === 0 };
      const answer = yield* this.#commitPack(number === 0 ? ask : 'commit', pack);
      if (number === 0 && ask === 'replay' && !('receipt' in answer)) return 'absent';
      if (!('refusal' in answer)) continue;
      if (number === 0 && (isRefused(answer, GROWN) || movedTo(answer) !== undefined)) return answer.refusal;
      if (this.#parts(answer.refusal, built)) {
        messages = this.#messagesOf(loaded);
        packs = packsOf(messages);
        number -= 1;
        continue;
      }
      this.#refuse(
        built.flatMap((one) => one.rows),
        answer.refusal,
      );
    }
    this.#noteSplits(messages);
    return undefined;
  }

  #messagesOf(loaded: readonly LoadedRow[]): readonly BuiltMessage[] {
    return messagesOf(loaded, (row) => this.#source.tree.unitOf.get(row), {
      conversationId: this.#source.conversationId,
      unpaired: this.#unpaired,
      turnOfCall: (row, callId) => this.#turnOfCall(row, callId),
      keyOf: (row) => this.#keyOf(row),
    });
  }

  /** True where a result was refused because the store has another one of its call: it is now kept as one that pairs with none. */
  #parts(refusal: TurnkeepError, built: readonly BuiltMessage[]): boolean {
    if (!isTurnkeepError(refusal, 'already_answered')) return false;
    const { callId } = refusal.details;
    const rows = built.flatMap((one) => one.rows).filter((row) => row.answers.includes(callId));
    const paired = rows.filter((row) => !this.#unpaired.get(row)?.has(callId));
    for (const row of paired) {
      this.#unpaired.set(row, new Set(this.#unpaired.get(row)).add(callId));
      this.#note('second_result', row, callId);
    }
    return paired.length > 0;
  }

  #turnsOfCalls(rows: readonly Row[]): readonly string[] {
    return rows.flatMap((row) => row.answers.flatMap((id) => this.#turnOfCall(row, id) ?? []));
  }

  #turnOfCall(row: Row, callId: string): string | undefined {
    const call = this.#source.tree.unitOf.get(row)?.turn.calls.get(callId);
    return call && this.#turnOf.get(call.row);
  }

  #noteSplits(messages: readonly BuiltMessage[]): void {
    for (const { message, rows } of messages) {
      const [row] = rows;
      const isSplit = (message.metadata as JsonObject | undefined)?.['continued'] !== undefined;
      if (row && isSplit && !this.notes.some((note) => note.byte === row.byte)) {
        this.#note('split', row, `${row.bytes} bytes`);
      }
    }
  }

  /** The rows' words, in the order in which they are said. */
  async #load(turn: Turn | undefined, rows: readonly Row[]): Promise<readonly LoadedRow[]> {
    const loaded: LoadedRow[] = [];
    for (const row of rows) loaded.push(await loadRow(this.#source.file.source, row));
    if (!turn) return loaded;
    const rank = new Map(rowsOfTurn(turn).map((row, at) => [row, at]));
    return loaded.sort((left, right) => (rank.get(left.row) ?? 0) - (rank.get(right.row) ?? 0));
  }

  *#commitPack(ask: 'commit' | 'next' | 'replay', pack: Pack): Generator<CommitStep, Answer, Answer> {
    const { turn, rows, built, number, isStart } = pack;
    const isLate =
      turn !== undefined && !isStart && built.every(({ message }) => callsOf(message.parts).answers.length > 0);
    const turnId =
      turn === undefined
        ? null
        : isLate
          ? (this.#lastTurnOf.get(turn) ?? null)
          : this.#id('turn', this.#keyOf(rows[0] as Row), String(number));
    const parent = turn && !isLate ? this.#parentOf(turn, isStart) : undefined;
    const record: readonly Change[] = parent
      ? [{ kind: 'turn.record', turnId: turnId ?? undefined, parent: parent.parent, origin: 'import' }]
      : [];
    const summary = turn && number === 0 ? this.#summaryOf(turn, pack.loaded) : undefined;
    const appends = built.map(({ message }) => appendOf(message, turnId));
    const changes = [...record, ...(summary ? [summary] : []), ...appends];
    const expect = this.#expectOf(parent, summary !== undefined);
    const commitId = this.#segmentId(rows, number);
    let answer = yield* this.#step(ask, commitId, changes, expect, built);
    for (const leaf of isLate && turnId !== null ? new Set([turnId, ...this.#turnsOfCalls(rows)]) : []) {
      if (!isRefused(answer, ELSEWHERE)) break;
      const selected: readonly Change[] = [{ kind: 'leaf.select', turnId: leaf }, ...changes];
      answer = yield* this.#step(ask, commitId, selected, { graphRevision: this.#revision }, built);
      if ('receipt' in answer) this.#leaf = leaf;
    }
    if (turn === undefined && isRefused(answer, ['no_turn'])) return yield* this.#commitAtLeaf(pack);
    if (summary && isRefused(answer, UNCOVERED) && movedTo(answer) === undefined) {
      answer = yield* this.#step(ask, commitId, [...record, ...appends], this.#expectOf(parent, false), built);
      const row = turn?.covering?.summary;
      if ('receipt' in answer && row) this.#note('summary_without_prefix', row);
    }
    if ('receipt' in answer || ask !== 'replay') {
      this.#learn(answer, turn, turnId, built, {
        isRecord: record.length > 0,
        isSummary: summary !== undefined,
        above: parent?.turnId ?? null,
      });
    }
    return answer;
  }

  /** Rows of the root, which takes none once there are turns: the file was cut, or edited. They go on at the active leaf. */
  *#commitAtLeaf({ rows, built, number }: Pack): Generator<CommitStep, Answer, Answer> {
    const turnId = this.#id('turn', this.#keyOf(rows[0] as Row), String(number));
    const appends = built.map(({ message }) => appendOf(message, turnId));
    const changes: readonly Change[] = [{ kind: 'turn.record', turnId, origin: 'import' }, ...appends];
    const answer = yield* this.#step('commit', this.#segmentId(rows, number), changes, undefined, built);
    this.#learn(answer, undefined, turnId, built, { isRecord: true, isSummary: false, above: null });
    return answer;
  }

  #expectOf(parent: HangsOn | undefined, hasSummary: boolean): Expect | undefined {
    if (!parent) return undefined;
    const expect = { graphRevision: this.#revision };
    if (!hasSummary) return expect;
    return { ...expect, transcript: { turn: parent.turnId, lastSequence: this.#lastSequence.get(parent.turnId) ?? 0 } };
  }

  /** What a turn hangs on: its own first part, or what it forks from; the nearest above that the store took. */
  #parentOf(turn: Turn, isFirst: boolean): HangsOn {
    const before = isFirst ? undefined : this.#lastTurnOf.get(turn);
    if (before !== undefined) return { parent: { turnId: before }, turnId: before };
    for (let anchor = turn.parent; anchor; anchor = anchor.unit.turn.parent) {
      const row = anchorRow(anchor);
      const turnId = this.#turnOf.get(row);
      const messageId = this.#messageOf.get(row);
      if (turnId === undefined || messageId === undefined) continue;
      return { parent: anchor.isTurnEnd ? { turnId } : { messageId }, turnId };
    }
    return { parent: null, turnId: null };
  }

  #summaryOf(turn: Turn, loaded: readonly LoadedRow[]): Change | undefined {
    const { covering } = turn;
    const words = covering && loaded.find(({ row }) => row === covering.summary);
    const upTo = covering && this.#messageOf.get(covering.upTo);
    if (!words || upTo === undefined) return undefined;
    const metadata = { tool: TOOL, id: words.row.uuid };
    return {
      kind: 'summary.commit',
      summaryId: this.#id('sum', this.#keyOf(words.row)),
      upTo,
      text: summaryText(words.value),
      metadata,
    };
  }

  #learn(
    answer: Answer,
    turn: Turn | undefined,
    turnId: string | null,
    built: readonly BuiltMessage[],
    what: Made,
  ): void {
    const isHeld = 'receipt' in answer || ('refusal' in answer && answer.refusal.code === 'commit_id_reused');
    if (!isHeld) return;
    if (turn && turnId !== null) this.#lastTurnOf.set(turn, turnId);
    if (what.isRecord) {
      this.#leaf = turnId;
      this.turns += 1;
    }
    if (what.isSummary) this.summaries += 1;
    for (const { message, rows } of built) {
      if ('receipt' in answer && message.messageId !== undefined) this.#recognised.messageIds.add(message.messageId);
      for (const row of rows) {
        if ('receipt' in answer) this.#recognised.rows.add(row);
        if (turnId !== null) this.#turnOf.set(row, turnId);
        if (message.messageId !== undefined) this.#messageOf.set(row, message.messageId);
      }
    }
    const before = Math.max(this.#lastSequence.get(turnId) ?? 0, this.#lastSequence.get(what.above) ?? 0);
    const events = 'receipt' in answer ? answer.receipt.events : [];
    const sequences = events.map(({ sequence = 0 }) => sequence);
    this.#lastSequence.set(turnId, Math.max(before, ...sequences));
  }

  /** Makes the turn the active leaf that the tool would go on from, where that is not the last one that was recorded. */
  *#selectLeaf(): Generator<CommitStep, void, Answer> {
    const { leaf, tree } = this.#source;
    const turn = leaf && tree.unitOf.get(leaf)?.turn;
    const turnId = turn && this.#lastTurnOf.get(turn);
    if (!leaf || turnId === undefined || turnId === this.#leaf) return;
    const commitId = this.#id('cmt', 'leaf', turnId, this.#lastCommit);
    const expect = { graphRevision: this.#revision };
    const select: readonly Change[] = [{ kind: 'leaf.select', turnId }];
    if (this.#isKnown && !this.#hasNews) {
      // Who committed what is new selected the leaf, too.
      if (this.#held) return;
      const there = yield* this.#step('replay', commitId, select);
      // An older copy of the file does not move the leaf back.
      if ('receipt' in there || (yield* this.#heldRows())?.hasMore) return;
    }
    const answer = yield* this.#step('commit', commitId, select, expect);
    if ('refusal' in answer) this.#refuse([leaf], answer.refusal);
  }
}

/** A commit of a turn's rows that the store has: where they end, and the turn that it made the active leaf. */
interface RecognisedCommit {
  readonly end: number;
  readonly commitId: string;
  readonly leaf: string | null;
}

/** Messages that fit one commit, of rows that stand in one turn, or at the root. */
interface Pack {
  readonly turn: Turn | undefined;
  readonly rows: readonly Row[];
  readonly loaded: readonly LoadedRow[];
  readonly built: readonly BuiltMessage[];
  readonly number: number;
  /** True where a turn begins with it. */
  readonly isStart: boolean;
}

interface HangsOn {
  readonly parent: Parent;
  readonly turnId: string | null;
}

interface Made {
  readonly isRecord: boolean;
  readonly isSummary: boolean;
  readonly above: string | null;
}

function isRefused(answer: Answer, codes: readonly ErrorCode[]): boolean {
  return 'refusal' in answer && codes.includes(answer.refusal.code);
}

/** The graph revision at which the conversation stands, where a commit was not the next one. */
function movedTo(answer: Answer): number | undefined {
  if (!('refusal' in answer) || !isTurnkeepError(answer.refusal, 'conflict')) return undefined;
  const { field, actual } = answer.refusal.details;
  return field === 'graphRevision' ? (actual as number) : undefined;
}

/** A result finds its turn by its call. */
function appendOf(message: NewMessage, turnId: string | null): Change {
  return callsOf(message.parts).answers.length > 0
    ? { kind: 'message.append', message }
    : { kind: 'message.append', message, turnId };
}
