import { TurnkeepError } from '../core/errors.ts';
import { idProblem } from '../core/ids.ts';
import { memberPath } from '../core/json.ts';
import { parseJson } from '../core/parse-json.ts';
import { assertShape, saidMessage } from '../core/shapes.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { sameJson } from '../core/encoding.ts';
import type { MessageContent, NewMessage, Part, Role, ToolCallPart, ToolResultPart } from '../core/message.ts';
import { isObject } from './patch.ts';

/**
 * A provider's messages and ours. `parse` makes one message of ours of each of theirs, and `render` gives back exactly
 * what was parsed, key order aside: what our words cannot say stays beside them (`providerMetadata` of a part, `metadata`
 * of a message, both under the format's name), and what they cannot say at all stays whole, as an opaque part.
 *
 * What came from one provider can be rendered for another. Then only what is private to the first is left out, and the
 * rendering says what: {@link LeftOut}.
 */
export interface Format {
  readonly name: FormatName;
  /** Messages of ours for a list of theirs, one for each, in order. `invalid_value` for what is not a list of JSON objects. */
  parse(messages: unknown): readonly NewMessage[];
  /** Their messages for ours, in order; one of ours may become none or several. It does not repair: see `conversation.context`. */
  render(messages: readonly MessageContent[], options?: RenderOptions): Rendering;
}

export const FORMAT_NAMES = ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk', 'ai-sdk-ui'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

export interface RenderOptions {
  /** Where a provider finds an attachment: a URL, or its bytes as a data URL. Without one its name stands in its place. */
  readonly attachmentUrl?: ((digest: string) => string | undefined) | undefined;
}

export interface Rendering {
  readonly messages: readonly JsonObject[];
  readonly leftOut: readonly LeftOut[];
}

/** What a rendering does not show as it was. */
export interface LeftOut {
  /** The message's place in the list that was rendered. */
  readonly message: number;
  /** The kind of what was left out: a part's type, an opaque part's kind, `metadata`, `citations`, `phase`, `file.name`, a result's `status`. */
  readonly what: string;
  /** `private`: it means something to its provider only, or this one has no place for it. `stand_in`: a line of text stands in its place. */
  readonly why: 'private' | 'stand_in';
}

/** What a codec is told of the list that it renders. */
export interface RenderContext {
  attachmentUrl(digest: string): string | undefined;
  /** The call that a result answers, where it is in the list; of a result that comes too often, the one it would answer. */
  callOf(result: ToolResultPart): ToolCallPart | undefined;
  /** The result of a call, whichever message of the list holds it. */
  resultOf(call: ToolCallPart): ToolResultPart | undefined;
  leave(what: string, why: LeftOut['why']): void;
}

/** How one kind of message is read and written. */
export interface Codec {
  readonly name: FormatName;
  roleOf(native: JsonObject): Role;
  /** `undefined` where the message is nothing that is known. */
  parse(native: JsonObject): NewMessage | undefined;
  render(message: MessageContent, context: RenderContext): readonly JsonObject[];
  /** The messages of a list, where what one of them is depends on the others. Absent: it never does. */
  settle?(messages: readonly NewMessage[], pairs: Pairing): readonly NewMessage[];
}

/** For a part that is rendered by itself, to see what it says. */
export const QUIET: RenderContext = {
  attachmentUrl: () => undefined,
  callOf: () => undefined,
  resultOf: () => undefined,
  leave: () => undefined,
};

/** For a message that is rendered by itself, to see what it says. */
export function alone(message: MessageContent): RenderContext {
  return { ...QUIET, ...pairing([message]) };
}

/** A format of its codec. What the codec does not give back exactly is kept whole. */
export function formatOf(codec: Codec): Format {
  return {
    name: codec.name,
    parse(messages) {
      const parsed = listOf(messages).map((native) => parseOne(codec, native));
      return codec.settle?.(parsed, pairing(parsed)) ?? parsed;
    },
    render(messages, options = {}) {
      assertMessages(messages);
      assertOptions(options);
      const leftOut: LeftOut[] = [];
      const own = messages.map(withOwnParts);
      const pairs = pairing(own);
      const rendered = own.flatMap((message, at) => {
        const leave = (what: string, why: LeftOut['why']) => void leftOut.push({ message: at, what, why });
        const attachmentUrl = (digest: string) => urlFrom(options, digest);
        return renderOne(codec, message, { ...pairs, leave, attachmentUrl });
      });
      return { messages: rendered, leftOut };
    },
  };
}

function listOf(messages: unknown): readonly JsonObject[] {
  const list = parseJson(messages, 'messages');
  if (!Array.isArray(list)) throw invalid('messages', 'expected a list');
  return list.map((native: Json, at) => {
    if (isObject(native)) return native;
    throw invalid(`messages[${at}]`, 'a message is an object');
  });
}

function assertMessages(messages: unknown): void {
  if (!Array.isArray(messages)) throw invalid('messages', 'expected a list');
  messages.forEach((message: unknown, at) => assertShape(saidMessage, message, `messages[${at}]`));
  assertJson(messages, 'messages', PART_LEVEL);
}

/** Levels from a list of messages down to a part, and to what a message keeps for a format. */
const PART_LEVEL = 3;

/** Throws what `parseJson` throws for values so many levels down: what was parsed lies deeper in ours than in theirs. */
function assertJson(value: unknown, path: string, level: number): void {
  if (level === 0 || typeof value !== 'object' || value === null) {
    if (value !== undefined) parseJson(value, path);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    assertJson(member, Array.isArray(value) ? `${path}[${key}]` : memberPath(path, key), level - 1);
  }
}

function assertOptions(options: unknown): void {
  if (!isObject(options)) throw invalid('options', 'expected an object');
  for (const [name, value] of Object.entries(options as object)) {
    if (name !== 'attachmentUrl') throw invalid(memberPath('options', name), 'no option is called so');
    if (value !== undefined && typeof value !== 'function')
      throw invalid('options.attachmentUrl', 'expected a function');
  }
}

function urlFrom({ attachmentUrl }: RenderOptions, digest: string): string | undefined {
  const url: unknown = attachmentUrl?.(digest);
  if (url === undefined || typeof url === 'string') return url;
  throw invalid('options.attachmentUrl', 'it answers a URL, or undefined');
}

function invalid(path: string, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path, reason });
}

function parseOne(codec: Codec, native: JsonObject): NewMessage {
  const message = codec.parse(native);
  if (message && hasOwnIds(message.parts) && givesBack(codec, message, native)) return message;
  return { role: codec.roleOf(native), parts: [{ type: 'opaque', kind: wholeKind(codec), value: native }] };
}

/** True where each call's id is one that we can keep; results may hold calls too. */
function hasOwnIds(parts: readonly Part[]): boolean {
  return parts.every((part) => {
    if (part.type !== 'tool_call' && part.type !== 'tool_result') return true;
    const inner = part.type === 'tool_result' ? (part.content ?? []) : [];
    return idProblem(part.callId) === undefined && hasOwnIds(inner);
  });
}

/** True where the message is rendered as it came, with nothing to be told of it. */
function givesBack(codec: Codec, message: NewMessage, native: JsonObject): boolean {
  let isTold = false;
  const said = renderOne(codec, message, { ...alone(message), leave: () => (isTold = true) });
  return !isTold && said.length === 1 && sameJson(said[0], native);
}

function renderOne(codec: Codec, message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const [first] = message.parts;
  if (message.parts.length === 1 && first?.type === 'opaque' && first.kind === wholeKind(codec)) {
    if (isObject(first.value)) return [first.value];
    // Whoever made it: it is no message of theirs.
    context.leave(first.kind, 'private');
    return [];
  }
  reportForeign(codec, message, context);
  return codec.render(message, context);
}

/** What messages and parts keep for other providers means nothing to this one. */
function reportForeign(codec: Codec, message: MessageContent, context: RenderContext): void {
  if (isForeign(codec, message.metadata)) context.leave('metadata', 'private');
  for (const part of message.parts) {
    if (isForeign(codec, part.providerMetadata)) context.leave(`${part.type}.providerMetadata`, 'private');
  }
}

function isForeign(codec: Codec, metadata: Json | undefined): boolean {
  if (!isObject(metadata)) return false;
  return FORMAT_NAMES.some((name) => name !== codec.name && Object.hasOwn(metadata, name));
}

function wholeKind(codec: Codec): string {
  return `${codec.name}.message`;
}

/** A message that stands twice in a list has parts of its own each time: they are told apart by what they are. */
function withOwnParts(message: MessageContent): MessageContent {
  return { ...message, parts: message.parts.map((part) => ({ ...part })) };
}

/** Which call a result answers, and the other way round. */
export type Pairing = Pick<RenderContext, 'callOf' | 'resultOf'>;

/**
 * An id may come again in a later turn: a result answers the last call of its id before it, if that one has no result yet. One
 * that answers none came before its call: it answers the first one after it that has none.
 */
function pairing(messages: readonly MessageContent[]): Pairing {
  const callOf = new Map<ToolResultPart, ToolCallPart>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const parts = messages.flatMap((message) => message.parts);
  for (const inOrder of [parts, parts.toReversed()]) {
    const open = new Map<string, ToolCallPart>();
    for (const part of inOrder) {
      if (part.type === 'tool_call' && !resultOf.has(part)) open.set(part.callId, part);
      if (part.type !== 'tool_result' || callOf.has(part)) continue;
      const call = open.get(part.callId);
      if (!call) continue;
      open.delete(part.callId);
      callOf.set(part, call);
      resultOf.set(call, part);
    }
  }
  const lastCalls = new Map(parts.flatMap((part) => (part.type === 'tool_call' ? [[part.callId, part]] : [])));
  return {
    callOf: (result) => callOf.get(result) ?? lastCalls.get(result.callId),
    resultOf: (call) => resultOf.get(call),
  };
}
