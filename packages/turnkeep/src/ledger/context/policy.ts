import { TurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { Json } from '../../core/json.ts';
import { FORMAT_NAMES } from '../../formats/format.ts';
import type { RenderOptions } from '../../formats/format.ts';
import { anything, assertChecked, callback, idOrNull, text } from '../given.ts';
import type { Checks } from '../given.ts';
import type { MemorySearch } from '../memories.ts';
import type { TokenCounter } from './tokens.ts';

/** The formats that a request can have; `ai-sdk-ui` is for screens. */
export type RequestFormat = 'openai-chat' | 'openai-responses' | 'anthropic' | 'ai-sdk';

/** A fact that the model is told after everything else. */
export interface ContextMemory {
  readonly memoryId: string;
  readonly text: string;
}

/** Which memories: those that the caller found, or those of the namespace that match a query best. */
export interface ContextMemories extends Omit<MemorySearch, 'limit'> {
  /** Best first. The namespace is searched when absent. */
  readonly found?: readonly ContextMemory[] | undefined;
  /** The words to search for. Those of the path's last user message when absent. */
  readonly query?: string | undefined;
  /** 8 when absent. */
  readonly limit?: number | undefined;
}

/** What a context is made of and how large it may be. */
export interface ContextPolicy {
  readonly format: RequestFormat;
  /** Tokens of the whole request and its answer: the model's window, or less. */
  readonly budgetTokens: number;
  /** Tokens of the budget that are reserved for the answer. 0 when absent. */
  readonly reserveOutputTokens?: number | undefined;
  readonly instructions?: string | undefined;
  /** The tools, in the provider's own shape, which must be JSON (`invalid_value`); they are counted and passed on. */
  readonly tools?: Json | object | undefined;
  /** The most messages of the transcript. As many as fit when absent. */
  readonly window?: number | undefined;
  /**
   * The transcript's start moves by this many turns at a time, so that requests between two moves share their beginning.
   * 8 when absent. It moves by fewer if so many do not fit.
   */
  readonly batchTurns?: number | undefined;
  /** What happens to messages that do not fit: they are left out (the default), or a summary is asked for. */
  readonly whenFull?: 'leave_out' | 'summarize' | undefined;
  /** The most messages that one summary adds. 64 when absent. */
  readonly summaryMessages?: number | undefined;
  /** Tokens for working state, commitments, constraints, decisions and memories. A quarter of the room when absent. */
  readonly notesTokens?: number | undefined;
  /** Memories of the namespace; none when absent. */
  readonly memories?: ContextMemories | undefined;
  /** The most decisions, newest first. 16 when absent. */
  readonly decisions?: number | undefined;
  /** How many tokens a file counts as, since only its provider knows. 2,000 when absent. */
  readonly fileTokens?: number | undefined;
  /**
   * Where a provider finds an attachment: a URL, or its bytes as a data URL. Called once for each attachment that may be
   * shown. For `undefined`, a line of text stands in the file's place; anything else that is not text is `invalid_value`.
   */
  readonly attachmentUrl?: ((digest: string) => Promise<string | undefined> | string | undefined) | undefined;
  /**
   * Which path is used; that of the active leaf when absent. A turn that was submitted and has not started is not part of
   * that one: name it (`leaf: turn.turnId`), so that its question is the last message. `null`: the root.
   */
  readonly leaf?: TurnId | null | undefined;
  /** The tokenizer of OpenAI's current models when absent. It must return whole numbers from 0 on (`invalid_value`). */
  readonly counter?: TokenCounter | undefined;
}

/** A policy with all defaults filled in. */
export interface FullPolicy extends RenderOptions {
  readonly format: RequestFormat;
  readonly budgetTokens: number;
  readonly reserveOutputTokens: number;
  readonly instructions: string;
  readonly tools: Json | undefined;
  readonly window: number;
  readonly batchTurns: number;
  readonly whenFull: 'leave_out' | 'summarize';
  readonly summaryMessages: number;
  readonly notesTokens: number | undefined;
  readonly memoryLimit: number;
  readonly decisions: number;
  readonly fileTokens: number;
  readonly leaf: TurnId | null | undefined;
}

const MEMORIES: Checks<ContextMemories> = {
  found: memoriesFound,
  query: text,
  limit: anything,
  type: text,
  subject: text,
  embed: callback,
};

// Options marked `anything` are checked when they are filled in.
const POLICY: Checks<ContextPolicy> = {
  format: anything,
  budgetTokens: anything,
  reserveOutputTokens: anything,
  instructions: text,
  tools: anything,
  window: anything,
  batchTurns: anything,
  whenFull: anything,
  summaryMessages: anything,
  notesTokens: anything,
  memories: anything,
  decisions: anything,
  fileTokens: anything,
  attachmentUrl: callback,
  leaf: idOrNull,
  counter: (value) =>
    typeof (value as Partial<TokenCounter> | null)?.count === 'function' ? undefined : 'expected an object with count',
};

function memoriesFound(value: unknown): string | undefined {
  const isMemory = (one: Partial<ContextMemory> | null | undefined) =>
    typeof one?.memoryId === 'string' && typeof one.text === 'string';
  return Array.isArray(value) && value.every(isMemory) ? undefined : 'expected a list of memoryId and text';
}

/** Checks a policy and fills in what it leaves open; `invalid_value` with the path of the fault. */
export function fullPolicy(policy: ContextPolicy): FullPolicy {
  assertChecked(policy, POLICY, 'policy');
  if (policy.memories !== undefined) assertChecked(policy.memories, MEMORIES, 'policy.memories');
  const { format, whenFull = 'leave_out', instructions = '', memories } = policy;
  assertOneOf(
    format,
    FORMAT_NAMES.filter((name) => name !== 'ai-sdk-ui'),
    'format',
  );
  assertOneOf(whenFull, ['leave_out', 'summarize'], 'whenFull');
  return {
    format,
    whenFull,
    instructions,
    budgetTokens: whole(policy.budgetTokens, 'budgetTokens', 1),
    reserveOutputTokens: whole(policy.reserveOutputTokens ?? 0, 'reserveOutputTokens', 0),
    tools: policy.tools === undefined ? undefined : parseJson(policy.tools, 'policy.tools'),
    window: policy.window === undefined ? Number.POSITIVE_INFINITY : whole(policy.window, 'window', 1),
    batchTurns: whole(policy.batchTurns ?? 8, 'batchTurns', 1),
    summaryMessages: whole(policy.summaryMessages ?? 64, 'summaryMessages', 1),
    notesTokens: policy.notesTokens === undefined ? undefined : whole(policy.notesTokens, 'notesTokens', 0),
    memoryLimit: whole(memories?.limit ?? 8, 'memories.limit', 0),
    decisions: whole(policy.decisions ?? 16, 'decisions', 0),
    fileTokens: whole(policy.fileTokens ?? 2_000, 'fileTokens', 0),
    leaf: policy.leaf,
  };
}

function assertOneOf(value: string, known: readonly string[], name: string): void {
  if (!known.includes(value)) throw invalid(name, `one of ${known.join(', ')}`);
}

function whole(value: number, name: string, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw invalid(name, `a whole number from ${least} on`);
}

function invalid(name: string, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path: `policy.${name}`, reason });
}
