import { cutsPair } from '../../core/fold.ts';
import type { MessageId } from '../../core/ids.ts';
import type { MessageContent, Part, ToolCallPart, ToolResultPart } from '../../core/message.ts';
import type { Message } from '../../core/read/message.ts';
import { takesOwnResult } from '../../formats/openai-responses.ts';
import type { RequestFormat } from './policy.ts';
import type { ContextLeftOut, ContextRepair } from './report.ts';

/** A message as a model is shown it, and the one that it was made from. */
export interface ViewMessage {
  readonly content: MessageContent;
  readonly from: MessageId;
}

export interface ModelView {
  readonly messages: readonly ViewMessage[];
  readonly leftOut: readonly ContextLeftOut[];
  readonly repairs: readonly ContextRepair[];
}

/** The longest id of a call that every provider takes. */
const LONGEST_CALL_ID = 64;
/** Anthropic's rule; the others take any text. */
const PLAIN_ID = /^[a-zA-Z0-9_-]+$/;

/**
 * The messages as a provider takes them. Results follow the messages that called, all of them at once; a call without a
 * result gets one that says so; a result without its call is put into words; a duplicate id is renamed. A call that a
 * provider ran has its result beside it, wherever that came; without one it is left out, except at the very end, where its
 * provider may continue it. The transcript itself is not changed.
 */
export function modelView(messages: readonly Message[], format: RequestFormat): ModelView {
  const builder = new ViewBuilder(format, pairsOf(messages), messages.findLast(isForModel));
  for (const message of messages) builder.add(message);
  return builder.end();
}

/** The result of each call, and the call of each result. */
interface Pairs {
  readonly resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>;
  readonly callOf: ReadonlyMap<ToolResultPart, ToolCallPart>;
}

/** A result belongs to the last call before it that has its id and no result. */
function pairsOf(messages: readonly Message[]): Pairs {
  const open = new Map<string, ToolCallPart>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const callOf = new Map<ToolResultPart, ToolCallPart>();
  for (const part of messages.flatMap((message) => (isForModel(message) ? message.parts : []))) {
    if (part.type === 'tool_call') open.set(part.callId, part);
    if (part.type !== 'tool_result') continue;
    const call = open.get(part.callId);
    if (!call) continue;
    open.delete(part.callId);
    resultOf.set(call, part);
    callOf.set(part, call);
  }
  return { resultOf, callOf };
}

function isForModel(message: Message): boolean {
  return message.visibility !== 'user' && message.parts.length > 0;
}

/** A call that waits for its run to end: then its result follows. */
interface OpenCall {
  readonly call: ToolCallPart;
  readonly callId: string;
  readonly from: MessageId;
}

class ViewBuilder {
  readonly #format: RequestFormat;
  readonly #pairs: Pairs;
  readonly #last: Message | undefined;
  readonly #messages: ViewMessage[] = [];
  readonly #leftOut: ContextLeftOut[] = [];
  readonly #repairs: ContextRepair[] = [];
  readonly #usedIds = new Set<string>();
  #open: OpenCall[] = [];

  constructor(format: RequestFormat, pairs: Pairs, last: Message | undefined) {
    this.#format = format;
    this.#pairs = pairs;
    this.#last = last;
  }

  add(message: Message): void {
    const why = reasonToLeave(message);
    if (why) this.#leftOut.push({ what: 'message', messageId: message.messageId, why });
    else if (isAnswer(message)) this.#addAnswer(message);
    else this.#addInput(message);
  }

  end(): ModelView {
    this.#closeRun();
    const messages: ViewMessage[] = [];
    // From the end: when a loose end goes, what stands before it may be the next one.
    for (const message of this.#messages.toReversed()) messages.unshift(...this.#withoutLooseEnd(message, messages[0]));
    return { messages, leftOut: this.#leftOut, repairs: this.#repairs };
  }

  /** A model's message; if a result of one of its calls stands within it, what follows the result becomes a separate message. */
  #addAnswer(message: Message): void {
    let parts: Part[] = [];
    for (const part of message.parts) {
      if (part.type === 'tool_result') {
        const call = this.#pairs.callOf.get(part);
        if (call?.executedBy !== 'provider') {
          this.#emit(message, parts);
          parts = [];
          this.#addResult(message, part);
        } else if (message.parts.includes(call)) parts.push(part);
      } else if (part.type === 'tool_call') {
        parts.push(...(part.executedBy === 'provider' ? this.#provided(message, part) : this.#opened(message, part)));
      } else if (!this.#isEmpty(part)) parts.push(part);
    }
    this.#emit(message, parts);
  }

  #addInput(message: Message): void {
    const results = message.parts.filter((part) => part.type === 'tool_result');
    for (const result of results) this.#addResult(message, result);
    const parts = message.parts.filter((part) => part.type !== 'tool_result' && !this.#isEmpty(part));
    if (parts.length === 0) return;
    this.#closeRun();
    this.#emit(message, parts);
  }

  /** A result closes the run of its call, and with it the results of all calls of the run follow. */
  #addResult(message: Message, result: ToolResultPart): void {
    const call = this.#pairs.callOf.get(result);
    if (this.#open.some((one) => one.call === call)) this.#closeRun();
    if (call) return;
    this.#closeRun();
    this.#repairs.push({ what: 'orphan_result', messageId: message.messageId, callId: result.callId });
    this.#messages.push({ content: toldInWords(result), from: message.messageId });
  }

  /** The call, with its result if that came in another message. */
  #provided(message: Message, call: ToolCallPart): readonly Part[] {
    const result = this.#pairs.resultOf.get(call);
    if (result) return message.parts.includes(result) ? [call] : [call, result];
    const isEnd = message === this.#last && this.#open.length === 0 && !message.parts.some(isOwnCall);
    if (isEnd) return [call];
    this.#leftOut.push({ what: 'part', messageId: message.messageId, part: 'tool_call', why: 'private' });
    return [];
  }

  /** The call, noted as waiting for its result; nothing if no substitute could stand in for a missing one. */
  #opened(message: Message, call: ToolCallPart): readonly ToolCallPart[] {
    if (this.#format === 'openai-responses' && takesOwnResult(call) && !this.#pairs.resultOf.has(call)) {
      this.#leftOut.push({ what: 'part', messageId: message.messageId, part: 'tool_call', why: 'private' });
      return [];
    }
    const callId = this.#freeId(call.callId);
    if (callId !== call.callId)
      this.#repairs.push({ what: 'renamed_call', messageId: message.messageId, callId: call.callId });
    this.#open.push({ call, callId, from: message.messageId });
    return [{ ...call, callId }];
  }

  #freeId(callId: string): string {
    const plain =
      this.#format === 'anthropic' && !PLAIN_ID.test(callId) ? callId.replace(/[^a-zA-Z0-9_-]/g, '_') : callId;
    let free = cutAt(plain, LONGEST_CALL_ID);
    for (let at = 2; this.#usedIds.has(free); at++) free = `${cutAt(plain, LONGEST_CALL_ID - 8)}-${at}`;
    this.#usedIds.add(free);
    return free;
  }

  #closeRun(): void {
    const open = this.#open;
    this.#open = [];
    const [first] = open;
    if (!first) return;
    const parts = open.map((one) => this.#resultFor(one));
    this.#messages.push({ content: { role: 'tool', parts }, from: first.from });
  }

  #resultFor({ call, callId, from }: OpenCall): Part {
    const result = this.#pairs.resultOf.get(call);
    if (result) return { ...result, callId, name: call.name };
    this.#repairs.push({ what: 'missing_result', messageId: from, callId: call.callId });
    return { type: 'tool_result', callId, name: call.name, status: 'interrupted', output: '[no result]' };
  }

  #emit(message: Message, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const isWhole = parts.length === message.parts.length;
    const { metadata } = message;
    const role = isAnswer(message) ? 'assistant' : message.role;
    const content: MessageContent = isWhole && metadata !== undefined ? { role, parts, metadata } : { role, parts };
    this.#messages.push({ content: this.#voiced(content), from: message.messageId });
  }

  /** Providers refuse a text that says nothing; reasoning without words may still mean something to the one it came from. */
  #isEmpty(part: Part): boolean {
    if (part.type === 'reasoning' && this.#format === 'ai-sdk') return part.text.trim() === '';
    return part.type === 'text' && part.text.trim() === '';
  }

  /** Reasoning at the end of a model's turn led to nothing: providers refuse it. */
  #withoutLooseEnd(message: ViewMessage, next: ViewMessage | undefined): readonly ViewMessage[] {
    const { content, from } = message;
    const kept = content.parts.slice(0, content.parts.findLastIndex((part) => part.type !== 'reasoning') + 1);
    if (content.role !== 'assistant' || next?.content.role === 'assistant' || kept.length === content.parts.length) {
      return [message];
    }
    this.#leftOut.push({ what: 'part', messageId: from, part: 'reasoning', why: 'private' });
    return kept.length === 0 ? [] : [{ content: { role: 'assistant', parts: kept }, from }];
  }

  /** If a provider takes system words only at the beginning, later ones are given as the user's, marked. */
  #voiced(content: MessageContent): MessageContent {
    const isSystem = content.role === 'system' || content.role === 'developer';
    if (!isSystem || (this.#format !== 'anthropic' && this.#format !== 'ai-sdk')) return content;
    const mark = (text: string): Part => ({ type: 'text', text });
    return { role: 'user', parts: [mark('<system>'), ...content.parts, mark('</system>')] };
  }
}

function reasonToLeave(message: Message): 'not_for_models' | 'redacted' | 'empty' | undefined {
  if (message.visibility === 'user') return 'not_for_models';
  if (message.parts.length > 0) return undefined;
  return message.redaction ? 'redacted' : 'empty';
}

/** The start of a text, never with half a surrogate pair at its end. */
function cutAt(text: string, length: number): string {
  return text.slice(0, cutsPair(text, length) ? length - 1 : length);
}

/** A call whose result the model waits for. */
function isOwnCall(part: Part): boolean {
  return part.type === 'tool_call' && part.executedBy !== 'provider';
}

/** Calls belong to a model, whatever role their message has. */
function isAnswer({ role, parts }: Message): boolean {
  return role === 'assistant' || parts.some((part) => part.type === 'tool_call');
}

/** A result without its call, as words on the user's side. */
export function toldInWords(result: ToolResultPart): MessageContent {
  const name = result.name === undefined ? '' : ` of ${result.name}`;
  const opening: Part = { type: 'text', text: `[Result${name}, call ${result.callId}, ${result.status}]` };
  if (result.content) return { role: 'user', parts: [opening, ...result.content] };
  const { output } = result;
  const text = output === undefined ? '' : typeof output === 'string' ? output : JSON.stringify(output);
  return { role: 'user', parts: text.trim() === '' ? [opening] : [opening, { type: 'text', text }] };
}
