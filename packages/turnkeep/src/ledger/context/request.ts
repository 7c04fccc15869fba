import type { Json, JsonObject } from '../../core/json.ts';
import type { MessageContent } from '../../core/message.ts';
import type { RenderOptions } from '../../formats/format.ts';
import { FORMATS } from '../../formats/index.ts';
import type { ModelView } from './model-view.ts';
import type { FullPolicy, RequestFormat } from './policy.ts';
import type { ContextLeftOut } from './report.ts';

/** The parts of a request that a provider's call takes as they are; the model and its settings are the caller's. */
export type ContextRequest = JsonObject;

/** A message in a provider's format. `isLasting` if the next request also begins with it. */
interface Native {
  readonly message: JsonObject;
  readonly isLasting: boolean;
}

/** What a request is made of, in the order of its messages. */
export interface RequestParts {
  /** The summary and what came late to it, or a line that says that messages were left out. */
  readonly opening: readonly MessageContent[];
  readonly view: ModelView;
  /** The notes; empty if there are none. */
  readonly notes: string;
}

export interface BuiltRequest {
  readonly request: ContextRequest;
  readonly messages: readonly JsonObject[];
  /** The places of messages after which the next request goes on the same way, in rising order. */
  readonly cacheBreakpoints: readonly number[];
  readonly leftOut: readonly ContextLeftOut[];
}

/** The request in a format, with neighbours joined if a provider wants them as one message. */
export function builtRequest(policy: FullPolicy, parts: RequestParts): BuiltRequest {
  const { format } = policy;
  const opening = rendered(parts.opening, format, policy, true);
  const transcript = FORMATS[format].render(
    parts.view.messages.map(({ content }) => content),
    { attachmentUrl: policy.attachmentUrl },
  );
  const lasting = transcript.messages.map((message): Native => ({ message, isLasting: true }));
  const notes = parts.notes === '' ? [] : rendered([userText(parts.notes)], format, policy, false);
  const system =
    format === 'openai-chat' && policy.instructions !== '' ? [{ role: 'system', content: policy.instructions }] : [];
  const lead = [...system.map((message): Native => ({ message, isLasting: true })), ...opening];
  const natives = joined([...lead, ...lasting, ...notes], format);
  const messages = natives.map((native) => native.message);
  const leftOut = transcript.leftOut.map(({ message, what, why }): ContextLeftOut => {
    return { what: 'part', messageId: parts.view.messages[message]?.from ?? '', part: what, why };
  });
  return {
    request: requestOf(policy, messages),
    messages,
    leftOut,
    cacheBreakpoints: breakpointsOf(natives, lead.length),
  };
}

/** For providers that want the user's words first: whether a model's come first, once empty messages are left out. */
export function beginsWithAnswer({ format, attachmentUrl }: FullPolicy, { messages }: ModelView): boolean {
  if (format !== 'anthropic') return false;
  const contents = messages.map(({ content }) => content);
  return FORMATS[format].render(contents, { attachmentUrl }).messages[0]?.['role'] === 'assistant';
}

export function userText(text: string): MessageContent {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

function rendered(
  messages: readonly MessageContent[],
  format: RequestFormat,
  { attachmentUrl }: RenderOptions,
  isLasting: boolean,
): readonly Native[] {
  return FORMATS[format].render(messages, { attachmentUrl }).messages.map((message) => ({ message, isLasting }));
}

function requestOf({ format, instructions, tools }: FullPolicy, messages: readonly JsonObject[]): ContextRequest {
  const request: Record<string, Json> = {};
  if (instructions !== '' && format === 'openai-responses') request['instructions'] = instructions;
  if (instructions !== '' && (format === 'anthropic' || format === 'ai-sdk')) request['system'] = instructions;
  request[format === 'openai-responses' ? 'input' : 'messages'] = messages;
  if (tools !== undefined) request['tools'] = tools;
  return request;
}

/** The end of the leading part, and the end of the transcript unless the notes are joined to it. */
function breakpointsOf(natives: readonly Native[], lead: number): readonly number[] {
  const lasting = natives.findLastIndex((native) => native.isLasting);
  const places = lead > 0 && lead - 1 < lasting ? [lead - 1, lasting] : [lasting];
  return places.filter((at) => at >= 0);
}

// ---- Neighbours

function joined(natives: readonly Native[], format: RequestFormat): readonly Native[] {
  const join = JOINS[format];
  const out: Native[] = [];
  for (const native of natives) {
    const last = out.at(-1);
    const both = last && join(last.message, native.message);
    if (!last || !both) out.push(native);
    else out[out.length - 1] = { message: both, isLasting: last.isLasting && native.isLasting };
  }
  return out;
}

/** Two neighbours as one message; `undefined` where they stay two. */
type Join = (left: JsonObject, right: JsonObject) => JsonObject | undefined;

const JOINS: { readonly [Format in RequestFormat]: Join } = {
  /** Turns alternate. */
  anthropic: (left, right) => (left['role'] === right['role'] ? withContent(left, right) : undefined),
  /** Calls of one run stand in one message, since their results follow it. */
  'openai-chat'(left, right) {
    const calls = left['tool_calls'];
    if (left['role'] !== 'assistant' || right['role'] !== 'assistant' || !Array.isArray(calls)) return undefined;
    const all = [...listIn(calls), ...listIn(right['tool_calls'])];
    const both = { ...left, ...right, tool_calls: all };
    if (isNothing(left['content']) || isNothing(right['content'])) {
      const content = isNothing(left['content']) ? right['content'] : left['content'];
      return content === undefined ? both : { ...both, content };
    }
    return { ...both, content: [...blocksOf(left['content']), ...blocksOf(right['content'])] };
  },
  'ai-sdk'(left, right) {
    const isRun = left['role'] === 'assistant' || left['role'] === 'tool';
    return isRun && left['role'] === right['role'] ? withContent(left, right) : undefined;
  },
  'openai-responses': () => undefined,
};

function withContent(left: JsonObject, right: JsonObject): JsonObject {
  return { ...left, content: [...blocksOf(left['content']), ...blocksOf(right['content'])] };
}

function blocksOf(content: Json | undefined): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listIn(content);
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function isNothing(content: Json | undefined): boolean {
  return content === undefined || content === null || content === '';
}
