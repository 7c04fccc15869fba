import type { RowReader, RowValue } from './backend.ts';
import type { ChangeEvent, TurnStarted } from './event.ts';
import type { ConversationId, MessageId, TurnId } from './ids.ts';
import { KEYS, prefixEnd, TABLES } from './keys.ts';
import type { LogHeader } from './log.ts';
import { unpackMemory } from './rows.ts';
import { SHELVES } from './shelf.ts';

/**
 * What the events of a commit say that it did, against the rows. A row that is lost leaves no trace among the others, and
 * readings would take what it held for what never was: only the log still tells of it. Answers what is missing, for a person.
 */
export function missingRows(rows: RowReader, own: ConversationId, header: LogHeader): readonly string[] {
  const check = new EventCheck(rows, own, header.version);
  check.expect(KEYS.commit(header.commitId), 'the commit’s id', ([version]) => version === header.version);
  for (const [index, event] of header.events.entries()) check.event(event, index);
  return check.missing;
}

class EventCheck {
  readonly missing: string[] = [];
  readonly #rows: RowReader;
  readonly #own: ConversationId;
  readonly #version: number;

  constructor(rows: RowReader, own: ConversationId, version: number) {
    this.#rows = rows;
    this.#own = own;
    this.#version = version;
  }

  expect(key: string, what: string, isIt: (value: RowValue) => boolean = () => true): RowValue | undefined {
    const value = this.#rows.get(this.#own, key);
    if (!value || !isIt(value)) this.missing.push(what);
    return value;
  }

  event(event: ChangeEvent, index: number): void {
    switch (event.kind) {
      case 'message.append':
        // The same message may be one that a fork inherits.
        if (!('noop' in event)) this.#message(event.messageId, event.sequence, event.late === true);
        return;
      case 'turn.submit':
        this.#started(event);
        return;
      case 'turn.record':
        this.#turn(event.turnId);
        return;
      case 'turn.advance':
        this.#moved(event.turnId, event.to, index);
        return;
      case 'input.deliver':
        this.expect(KEYS.input(event.inputId), `input ${event.inputId}`);
        if ('operationId' in event) this.#started(event);
        else this.#message(event.messageId, event.sequence, false);
        return;
      case 'input.enqueue':
      case 'input.withdraw':
        this.expect(KEYS.input(event.inputId), `input ${event.inputId}`);
        return;
      case 'operation.resolve':
        this.#operation(event.operationId, event.turnId);
        return;
      case 'usage.record':
        this.expect(KEYS.usage(event.usageId), `usage ${event.usageId}`);
        return;
      case 'memory.upsert':
        this.#memory(event.memoryId, event.record === undefined ? undefined : event.revision);
        return;
      case 'conversation.fork':
        this.#child(event.source, KEYS.fork(this.#own));
        return;
      case 'conversation.spawn':
        this.#child(event.parent, KEYS.spawned(event.turnId, this.#own));
        return;
      default:
        this.#ofAgent(event);
    }
  }

  #ofAgent(event: ChangeEvent): void {
    switch (event.kind) {
      case 'binding.save':
        this.expect(KEYS.binding(event.turnId, event.history), `binding ${event.history} of turn ${event.turnId}`);
        return;
      case 'run.start':
      case 'run.end':
        this.expect(KEYS.run(event.runId), `run ${event.runId}`);
        return;
      case 'attempt.start':
      case 'attempt.takeover':
        this.expect(KEYS.attempt(event.attempt), `attempt ${event.attempt}`, ([turnId]) => turnId === event.turnId);
        return;
      case 'step.start':
      case 'step.finish':
      case 'step.settle':
        this.expect(KEYS.step(event.turnId, event.key), `step ${event.key} of turn ${event.turnId}`);
        return;
      case 'interrupt.request': {
        const { interruptId, turnId } = event;
        this.expect(KEYS.interruptId(interruptId), `the id of interrupt ${interruptId}`, ([at]) => at === turnId);
        this.expect(KEYS.interrupt(turnId, interruptId), `interrupt ${interruptId}`);
        return;
      }
      case 'checkpoint.create':
      case 'checkpoint.advance': {
        const { checkpointId, revision } = event;
        const what = `revision ${revision} of checkpoint ${checkpointId}`;
        this.expect(KEYS.checkpoint(checkpointId, revision), what, ([version]) => version === this.#version);
        return;
      }
      case 'checkpoint.write': {
        const from = KEYS.pendingWritesOf(event.checkpointId, event.revision);
        const some = this.#rows.scan(this.#own, { from, to: prefixEnd(from), limit: 1 });
        if (some.length === 0) this.missing.push(`what was written to checkpoint ${event.checkpointId}`);
        return;
      }
      default:
    }
  }

  #started({ turnId, operationId, messageId, promptId, sequence, record }: TurnStarted): void {
    this.#turn(turnId);
    this.#message(messageId, sequence, false);
    this.#operation(operationId, turnId);
    if (record === undefined) this.expect(KEYS.promptUse(promptId, sequence), `a use of prompt ${promptId}`);
    else this.expect(KEYS.prompt(promptId), `prompt ${promptId}`);
  }

  /** Its row is looked after by those of the turns. */
  #turn(turnId: TurnId): RowValue | undefined {
    return this.expect(KEYS.turnId(turnId), `the id of turn ${turnId}`);
  }

  #moved(turnId: TurnId, to: string, index: number): void {
    const [branch, position] = (this.#turn(turnId) ?? []) as readonly number[];
    if (branch === undefined || position === undefined) return;
    const key = KEYS.turnState(branch, position, this.#version, index);
    this.expect(key, `the move of turn ${turnId}`, ([state]) => state === to);
  }

  #operation(operationId: string, turnId: TurnId): void {
    this.expect(KEYS.operation(operationId), `operation ${operationId}`, ([at]) => at === turnId);
  }

  #message(messageId: MessageId, sequence: number, late: boolean): void {
    const what = `the id of message ${messageId}`;
    const place = this.expect(KEYS.messageId(messageId), what, ([, , at]) => at === sequence);
    if (late && place) this.expect(KEYS.late(place[0] as number, sequence), `that message ${messageId} came late`);
  }

  #memory(memoryId: string, revision: number | undefined): void {
    const value = this.#rows.get(SHELVES.memories, KEYS.memory(memoryId));
    const isThere =
      value !== undefined &&
      (revision === undefined ||
        unpackMemory(value).status === 'forgotten' ||
        this.#rows.get(SHELVES.memories, KEYS.memoryRevision(memoryId, revision)) !== undefined);
    if (!isThere) this.missing.push(`memory ${memoryId}`);
  }

  /** What the conversation hangs on knows of it, unless it was erased. */
  #child(conversation: ConversationId, key: string): void {
    const head = this.#rows.head(conversation);
    if (head && (head.erasedAt !== null || this.#rows.get(conversation, key) !== undefined)) return;
    this.missing.push(`that it hangs on conversation ${conversation}`);
  }
}

/** Rows by the letter of their table. */
export type Tally = Readonly<Record<string, number>>;

/**
 * The rows that a commit made in its conversation, as far as its events tell: where they add up to what is there, nothing
 * is lost, and nobody has to look for each. A few are counted that were there before, or were not needed.
 */
export function rowsMade(header: LogHeader): Tally {
  const made: Record<string, number> = { [TABLES.commits]: 1 };
  for (const event of header.events) for (const table of tablesOf(event)) made[table] = (made[table] ?? 0) + 1;
  return made;
}

/** The tables that {@link rowsMade} tells of. */
export const TALLIED: ReadonlySet<string> = new Set([
  TABLES.commits,
  TABLES.messageIds,
  TABLES.late,
  TABLES.turnIds,
  TABLES.turnStates,
  TABLES.operations,
  TABLES.prompts,
  TABLES.promptUses,
  TABLES.inputs,
  TABLES.bindings,
  TABLES.runs,
  TABLES.attempts,
  TABLES.steps,
  TABLES.interrupts,
  TABLES.interruptIds,
  TABLES.usages,
  TABLES.checkpoints,
  TABLES.pendingWrites,
]);

function tablesOf(event: ChangeEvent): readonly string[] {
  switch (event.kind) {
    case 'message.append':
      if ('noop' in event) return [];
      return event.late ? [TABLES.messageIds, TABLES.late] : [TABLES.messageIds];
    case 'turn.submit':
      return [...startOf(event), ...(event.interrupted ?? []).map(() => TABLES.turnStates)];
    case 'turn.record':
      return [TABLES.turnIds];
    case 'turn.advance':
    case 'operation.resolve':
      return [TABLES.turnStates];
    case 'input.enqueue':
      return event.revision === 0 ? [TABLES.inputs] : [];
    case 'input.deliver':
      return 'operationId' in event ? startOf(event) : [TABLES.messageIds];
    case 'binding.save':
      return [TABLES.bindings];
    case 'run.start':
      return [TABLES.runs];
    case 'attempt.start':
    case 'attempt.takeover':
      return [TABLES.attempts];
    case 'step.start':
      return event.starts === 1 ? [TABLES.steps] : [];
    case 'interrupt.request':
      return [TABLES.interrupts, TABLES.interruptIds];
    case 'usage.record':
      return event.record === undefined ? [] : [TABLES.usages];
    case 'checkpoint.create':
    case 'checkpoint.advance':
      return [TABLES.checkpoints];
    case 'checkpoint.write':
      return [TABLES.pendingWrites];
    default:
      return [];
  }
}

function startOf({ record }: TurnStarted): readonly string[] {
  const ofPrompt = record === undefined ? TABLES.promptUses : TABLES.prompts;
  return [TABLES.turnIds, TABLES.messageIds, TABLES.operations, ofPrompt];
}

/** Whether a commit left rows that do not stand in its own conversation. */
export function writesElsewhere({ events }: LogHeader): boolean {
  return events.some(({ kind }) => ELSEWHERE.has(kind));
}

const ELSEWHERE: ReadonlySet<string> = new Set(['conversation.fork', 'conversation.spawn', 'memory.upsert']);

/** How many entries a commit made on its path, those that name the active task aside. */
export function entriesMade({ events }: LogHeader): number {
  return events.reduce((sum, event) => sum + entriesOf(event), 0);
}

function entriesOf(event: ChangeEvent): number {
  switch (event.kind) {
    case 'state.update':
    case 'summary.commit':
    case 'task.create':
    case 'task.amend':
    case 'task.transition':
    case 'commitment.add':
      return 1;
    case 'commitment.resolve':
    case 'commitment.expire':
      return event.commitmentIds.length;
    default:
      return 0;
  }
}
