import { sameJson } from '../../core/encoding.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Part, ToolCallPart, ToolResultPart } from '../../core/message.ts';
import { messagesAt } from '../../core/tree/messages.ts';
import { ownTurn } from '../../core/tree/path.ts';
import type { ConversationAccess } from '../conversation-access.ts';

/** The longest id, in bytes, that a suffix is added to. */
const STEM_BYTES = 480;

/**
 * Gives each call of a model an id that no other call of its turn has. Some models number the calls of every answer anew,
 * and some give all of them the same id: each is still a call of its own, and its result must find it. A call that got another id
 * says how its model named it, in `providerMetadata.turnkeep.callId`, and so do results of it in the same answer. A call
 * that comes in pieces, or twice, is refused: what is not whole must not be run, and nobody asked to run it twice.
 */
export class OwnCalls {
  readonly #access: ConversationAccess;
  readonly #turnId: TurnId;
  /** For each id, the step of this run that gave it: models that are asked in parallel may number alike. */
  readonly #givenBy = new Map<string, string>();

  constructor(access: ConversationAccess, turnId: TurnId) {
    this.#access = access;
    this.#turnId = turnId;
  }

  /** The parts of one answer, that of step `key`, with its calls renamed where needed. */
  async of(key: string, parts: readonly Part[]): Promise<readonly Part[]> {
    if (!parts.some(({ type }) => type === 'tool_call')) return parts;
    const known = await this.#known();
    const here = new Set<string>();
    const isTaken = (id: string) => known.has(id) || here.has(id) || (this.#givenBy.get(id) ?? key) !== key;
    const last = new Map<string, { readonly said: ToolCallPart; readonly callId: string }>();
    return parts.map((part) => {
      if (part.type === 'tool_result') return renamed(part, last.get(part.callId)?.callId ?? part.callId);
      if (part.type !== 'tool_call') return part;
      const before = last.get(part.callId)?.said;
      if (before && goesOn(before, part)) throw inPieces(key, part);
      const callId = freeId(part.callId, isTaken);
      here.add(callId);
      this.#givenBy.set(callId, key);
      last.set(part.callId, { said: part, callId });
      return renamed(part, callId);
    });
  }

  /** The calls that stand in the turn. */
  async #known(): Promise<ReadonlySet<string>> {
    return this.#access.view(({ tree }) => {
      const turn = ownTurn(tree, this.#turnId);
      const messages = turn ? messagesAt(tree, tree.head.conversationId, turn.branch, turn.position) : [];
      return new Set(messages.flatMap(({ row }) => row.calls));
    });
  }
}

/** Whether a call repeats or continues an earlier one with the same id: then it may be the same call, in pieces or twice. */
function goesOn(before: ToolCallPart, now: ToolCallPart): boolean {
  if (before.name !== now.name) return false;
  if (before.inputText === undefined && before.input === undefined) return true;
  if (before.inputText === undefined) return sameJson(before.input, now.input);
  return now.inputText?.startsWith(before.inputText) ?? false;
}

function inPieces(key: string, { callId }: ToolCallPart): TurnkeepError<'invalid_value'> {
  const reason = `call ${callId} comes again with the same input, or with more of it: a call is one part, whole, once`;
  return new TurnkeepError('invalid_value', { path: `model ${key}`, reason });
}

function freeId(callId: string, isTaken: (id: string) => boolean): string {
  if (!isTaken(callId)) return callId;
  const stem = Buffer.byteLength(callId) <= STEM_BYTES ? callId : 'call';
  for (let at = 2; ; at++) if (!isTaken(`${stem}_${at}`)) return `${stem}_${at}`;
}

function renamed<Named extends ToolCallPart | ToolResultPart>(part: Named, callId: string): Named {
  if (part.callId === callId) return part;
  return { ...part, callId, providerMetadata: { ...part.providerMetadata, turnkeep: { callId: part.callId } } };
}
