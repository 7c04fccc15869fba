import type { RowReader, RowValue } from './backend.ts';
import type { ChangeEvent, TurnStarted } from './event.ts';
import type { ConversationId, MessageId, TurnId } from './ids.ts';
import type { Json } from './json.ts';
import { KEYS, prefixEnd } from './keys.ts';
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
        this.#child(event.source, KEYS.fork(this.#own), event.sourceVersion);
        return;
      case 'conversation.spawn':
        this.#child(event.parent, KEYS.spawned(event.turnId, this.#own), event.callId);
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
  #child(conversation: ConversationId, key: string, said: Json): void {
    const head = this.#rows.head(conversation);
    if (head && (head.erasedAt !== null || this.#rows.get(conversation, key)?.[0] === said)) return;
    this.missing.push(`that it hangs on conversation ${conversation}`);
  }
}

/** Whether a commit left rows that do not stand in its own conversation. */
export function writesElsewhere({ events }: LogHeader): boolean {
  return events.some(({ kind }) => ELSEWHERE.has(kind));
}

const ELSEWHERE: ReadonlySet<string> = new Set(['conversation.fork', 'conversation.spawn', 'memory.upsert']);
