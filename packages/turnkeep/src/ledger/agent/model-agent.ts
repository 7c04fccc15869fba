import type { Json, JsonObject } from '../../core/json.ts';
import type { NewMessage, Part, ToolCallPart, ToolResultPart } from '../../core/message.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { memberPath } from '../../core/json.ts';
import {
  anObject,
  anything,
  assertChecked,
  assertFits,
  assertMembers,
  assertObject,
  callback,
  count,
  flag,
} from '../given.ts';
import type { Checks } from '../given.ts';
import type { AgentTurn } from './agent-turn.ts';
import { assertNotes, REPEATABLE } from './turn-options.ts';
import type { CallUsage, ModelCall, ToolOptions } from './turn-options.ts';
import type { Agent } from './turn-run.ts';

/** What a model is called with: the turn, whose conversation holds the path so far, with the results of its tools. */
export interface ModelRequest {
  readonly turn: AgentTurn;
  /** The number of this call in its turn, from 1. */
  readonly round: number;
  readonly signal: AbortSignal;
  /** Reports what the call used; it is recorded with the message. */
  readonly used: (usage: CallUsage) => void;
}

/**
 * Any model: it yields parts as they are made, whole or in pieces. It reads its own request:
 * `turn.conversation.context({ leaf: turn.turnId, … })`.
 */
export type Model = (request: ModelRequest) => AsyncIterable<Part> | Iterable<Part> | Promise<readonly Part[]>;

/** A tool does what a call asks. It is a step: done once, however often its turn is resumed. */
export interface Tool extends ToolOptions {
  /**
   * It must not ask a question while it runs, since what it has done by then would be done again; `needsApproval` asks
   * beforehand. Return a result whose type is an interface as `asJson(result)`.
   */
  readonly run: (input: Json, context: { readonly call: ToolCallPart; readonly turn: AgentTurn }) => Promise<Json>;
  /**
   * Asks somebody outside before the tool runs. The answer `true` or `{ approved: true }` lets it run. Any other answer denies
   * it, and the model is told its `reason`, or the answer itself if that is text.
   */
  readonly needsApproval?: boolean | undefined;
}

export interface ModelAgentOptions {
  readonly model: Model;
  readonly tools?: { readonly [name: string]: Tool } | undefined;
  /** The most model calls of one turn; 32 when absent. */
  readonly maxRounds?: number | undefined;
}

const MAX_ROUNDS = 32;
const OPTIONS: Checks<ModelAgentOptions> = { model: callback, tools: anything, maxRounds: count };
const TOOL: Checks<Tool> = { ...REPEATABLE, message: anything, run: callback, needsApproval: flag };

/**
 * An agent around a model and its tools: it calls the model, runs the tools that the model calls side by side, and repeats
 * until the model calls none. Every model call and every tool is a recorded step, so the agent continues wherever it was cut
 * off. Throws `invalid_value` for an unknown option of the agent or of a tool: a misspelt `needsApproval` would ask nobody.
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  assertModelAgent(options);
  const { model, tools = {}, maxRounds = MAX_ROUNDS } = options;
  return async (turn) => {
    for (let round = 1; round <= maxRounds; round++) {
      let usage: CallUsage | undefined;
      const used = (told: CallUsage) => void (usage = told);
      const call: ModelCall = (signal) => model({ turn, round, signal, used });
      const parts = await turn.model(`model ${round}`, call, { usage: () => usage });
      const calls = parts.filter((part): part is ToolCallPart => isOurs(part));
      if (calls.length === 0) return [];
      await allDone(calls.map((call) => runTool(turn, toolOf(tools, call), call)));
    }
    throw new TurnkeepError('limit_exceeded', { limit: 'maxRounds', max: maxRounds, path: 'maxRounds' });
  };
}

function assertModelAgent(options: ModelAgentOptions): void {
  assertChecked(options, OPTIONS);
  const { model, tools = {} } = options;
  assertFits(model, callback, 'options.model');
  assertObject(tools, 'options.tools');
  for (const [name, tool] of Object.entries(tools)) {
    const path = memberPath('options.tools', name);
    assertFits(tool, anObject, path); // it may be an instance of a class
    assertMembers(tool, TOOL, path);
    assertFits(tool.run, callback, `${path}.run`);
    assertNotes(tool.message, `${path}.message`);
  }
}

function isOurs(part: Part): boolean {
  return part.type === 'tool_call' && part.executedBy !== 'provider';
}

/** A name that every object has, such as `toString`, is not a tool's. */
function toolOf(tools: { readonly [name: string]: Tool }, { name }: ToolCallPart): Tool | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

async function runTool(turn: AgentTurn, tool: Tool | undefined, call: ToolCallPart): Promise<void> {
  if (!tool) {
    await turn.tool(call.callId, async () => {
      throw new Error(`there is no tool ${call.name}`);
    });
    return;
  }
  if (tool.needsApproval) {
    const answer = await askApproval(turn, call);
    if (!isApproval(answer)) return turn.append(`denied ${call.callId}`, denied(call, answer));
  }
  const { retry, reconcile, message } = tool;
  await turn.tool(call.callId, async () => tool.run(inputOf(call), { call, turn }), { retry, reconcile, message });
}

function askApproval(turn: AgentTurn, call: ToolCallPart): Promise<Json> {
  const payload = { name: call.name, input: inputOf(call) };
  const interruptId = turn.idFor(`approval of ${call.callId}`);
  return turn.interrupt({ interruptId, type: 'approval', callId: call.callId, payload });
}

function isApproval(answer: Json): boolean {
  return answer === true || fieldOf(answer, 'approved') === true;
}

function denied({ callId }: ToolCallPart, answer: Json): NewMessage {
  const reason = typeof answer === 'string' ? answer : fieldOf(answer, 'reason');
  const isSaid = typeof reason === 'string' && reason.trim() !== '';
  const result: ToolResultPart = { type: 'tool_result', callId, status: 'denied' };
  return { role: 'tool', parts: [isSaid ? { ...result, output: reason } : result] };
}

function fieldOf(answer: Json, field: string): Json | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  return Object.hasOwn(answer, field) ? (answer as JsonObject)[field] : undefined;
}

function inputOf({ input, inputText }: ToolCallPart): Json {
  return input ?? inputText ?? null;
}

/** Waits for all of them, even if one fails: what was begun is recorded before the turn waits or ends. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
