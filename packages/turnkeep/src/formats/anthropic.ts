import type { Json, JsonObject } from '../core/json.ts';
import type {
  FilePart,
  MessageContent,
  NewMessage,
  Part,
  Role,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../core/message.ts';
import { dataUrl, parseDataUrl } from './data-url.ts';
import { alone, formatOf, QUIET } from './format.ts';
import type { Format, RenderContext } from './format.ts';
import {
  exactly,
  exactMessage,
  exactPart,
  keptBy,
  keptOf,
  marked,
  messageExactly,
  storable,
  textAt,
  withMarks,
} from './kept.ts';
import { isObject, present } from './patch.ts';
import {
  deniedText,
  inputValue,
  leavesPrivate,
  outputText,
  providerFileOf,
  reportUnsaid,
  standIn,
  urlOf,
} from './words.ts';

const NAME = 'anthropic';

/**
 * The messages of Anthropic's Messages API (`MessageParam`, and the content of a `Message`). One of ours becomes one of
 * theirs. A user's message that holds tool results alone has the role `tool` here.
 */
export const anthropic: Format = formatOf({ name: NAME, roleOf, parse, render });

function roleOf(native: JsonObject): Role {
  return native['role'] === 'assistant' || native['role'] === 'system' ? native['role'] : 'user';
}

// ---- Reading

function parse(native: JsonObject): NewMessage | undefined {
  const { content } = native;
  if (typeof content === 'string')
    return exact({ role: roleOf(native), parts: [{ type: 'text', text: content }] }, native);
  if (!Array.isArray(content)) return undefined;
  const read = content.map((block: Json) =>
    native['role'] === 'assistant' ? shownByModel(partOf(block), block) : partOf(block),
  );
  const parts = storable(read, content, NAME);
  const isAnswer = parts.length > 0 && parts.every((part) => part.type === 'tool_result');
  const role = isAnswer && native['role'] === 'user' ? 'tool' : roleOf(native);
  const message = { role, parts };
  return exact(isPlain(message) ? withMarks(message, NAME, { content: 'list' }) : message, native);
}

function exact(message: NewMessage, native: JsonObject): NewMessage | undefined {
  return exactMessage(message, native, NAME, render(message, alone(message))[0]);
}

function partOf(block: Json): Part {
  return exactPart(isObject(block) ? knownPart(block) : undefined, block, NAME, blockOf);
}

function knownPart(block: JsonObject): Part | undefined {
  const type = textAt(block, 'type') ?? '';
  if (type === 'text') return textPart(block);
  if (type === 'thinking') return reasoning(textAt(block, 'thinking') ?? '', textAt(block, 'signature'));
  if (type === 'redacted_thinking') return { ...reasoning('', textAt(block, 'data')), redacted: true };
  if (type === 'image' || type === 'document') return filePart(block, type);
  if (type.endsWith('tool_use')) return callPart(block, type);
  return type.endsWith('tool_result') ? resultPart(block, type) : undefined;
}

/** The API takes files of a person only: one in an answer says that it was there. */
function shownByModel(part: Part, block: Json): Part {
  return part.type === 'file' && isObject(block) ? marked(part, NAME, { as: block['type'] }) : part;
}

function textPart(block: JsonObject): Part {
  const { citations } = block;
  const text = { type: 'text', text: textAt(block, 'text') ?? '' } as const;
  return Array.isArray(citations) ? { ...text, citations: citations as readonly Json[] } : text;
}

function reasoning(text: string, signature: string | undefined): Part & { readonly type: 'reasoning' } {
  return signature === undefined ? { type: 'reasoning', text } : { type: 'reasoning', text, signature };
}

function filePart(block: JsonObject, as: 'image' | 'document'): FilePart | undefined {
  const { source } = block;
  if (!isObject(source)) return undefined;
  const name = textAt(block, 'title');
  const base = name === undefined ? { type: 'file' as const } : { type: 'file' as const, name };
  const kind = source['type'];
  const otherwise = as === 'image' ? 'image/*' : 'application/pdf';
  const mediaType = textAt(source, 'media_type') ?? otherwise;
  const data = textAt(source, 'data');
  if (kind === 'base64' && data !== undefined) return { ...base, mediaType, source: { url: dataUrl(mediaType, data) } };
  const url = textAt(source, 'url');
  if (kind === 'url' && url !== undefined) return { ...base, mediaType, source: { url } };
  const fileId = textAt(source, 'file_id');
  if (kind === 'file' && fileId !== undefined)
    return { ...base, mediaType, source: { providerFile: { anthropic: fileId } } };
  return undefined;
}

function callPart(block: JsonObject, type: string): ToolCallPart | undefined {
  const callId = textAt(block, 'id');
  const { input } = block;
  if (callId === undefined || input === undefined) return undefined;
  const call: ToolCallPart = { type: 'tool_call', callId, name: textAt(block, 'name') ?? '', input };
  return type === 'tool_use' ? call : marked({ ...call, executedBy: 'provider' }, NAME, { as: type });
}

function resultPart(block: JsonObject, type: string): ToolResultPart | undefined {
  const callId = textAt(block, 'tool_use_id');
  const { content } = block;
  if (callId === undefined) return undefined;
  const result = { type: 'tool_result', callId, status: block['is_error'] === true ? 'error' : 'ok' } as const;
  if (type !== 'tool_result')
    return marked(content === undefined ? result : { ...result, output: content }, NAME, { as: type });
  if (content === undefined) return result;
  if (typeof content === 'string') return { ...result, output: content };
  return Array.isArray(content) ? { ...result, content: content.map(partOf) } : undefined;
}

// ---- Writing

function render(message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const role = message.role === 'tool' ? 'user' : message.role === 'developer' ? 'system' : message.role;
  const provided = providedHere(message);
  const blocks = message.parts.flatMap((part) => blocksFor(part, provided, role, context));
  if (blocks.length === 0 && message.parts.length > 0) return [];
  const [only] = blocks;
  const content =
    isPlain(message) && keptOf(message, NAME)['content'] !== 'list' && only ? (only['text'] as string) : blocks;
  return [messageExactly({ role, content }, message, NAME)];
}

/** True for a message whose content is written as a string. */
function isPlain({ parts }: MessageContent): boolean {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'text' && !only.citations && Object.keys(keptBy(only, NAME)).length === 0;
}

/** Calls that another provider ran within its own answer: their blocks mean nothing here. */
function providedHere(message: MessageContent): ReadonlySet<string> {
  const calls = message.parts.filter((part) => part.type === 'tool_call' && part.executedBy === 'provider');
  return new Set(
    calls.flatMap((part) => (part.type === 'tool_call' && keptBy(part, NAME)['as'] === undefined ? [part.callId] : [])),
  );
}

function blocksFor(
  part: Part,
  provided: ReadonlySet<string>,
  role: 'user' | 'assistant' | 'system',
  context: RenderContext,
): readonly JsonObject[] {
  if (leavesPrivate(part, NAME, context)) return [];
  const isCallPart = part.type === 'tool_call' || part.type === 'tool_result';
  if ((isCallPart && provided.has(part.callId)) || isUnsigned(part)) {
    context.leave(part.type, 'private');
    return [];
  }
  if (part.type === 'opaque') return [part.value as JsonObject]; // a block that was read, or nothing that renders
  const block = isSayable(part, role) ? blockOf(part, context) : undefined;
  if (!isObject(block)) return [{ type: 'text', text: standIn(part, context) }];
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context);
  return [said];
}

/** Reasoning that Anthropic did not sign is refused by its API. */
function isUnsigned(part: Part): boolean {
  return part.type === 'reasoning' && (part.signature === undefined || !isOwnSignature(part));
}

/** A signature from elsewhere names its provider where the part came from. */
function isOwnSignature(part: Part): boolean {
  return !Object.keys(part.providerMetadata ?? {}).some((name) => name !== NAME);
}

function isSayable(part: Part, role: 'user' | 'assistant' | 'system'): boolean {
  if (role === 'system') return part.type === 'text';
  return role === 'user' || part.type !== 'file' || keptBy(part, NAME)['as'] !== undefined;
}

function blockOf(part: Part, context: RenderContext = QUIET): Json | undefined {
  switch (part.type) {
    case 'text':
      return present({ type: 'text', text: part.text, citations: ownCitations(part) });
    case 'reasoning':
      if (part.redacted) return present({ type: 'redacted_thinking', data: part.signature });
      return present({ type: 'thinking', thinking: part.text, signature: part.signature });
    case 'tool_call':
      return {
        type: keptBy(part, NAME)['as'] ?? 'tool_use',
        id: part.callId,
        name: part.name,
        input: objectInput(part, context),
      };
    case 'tool_result':
      return resultBlock(part, context);
    case 'file':
      return fileBlock(part, context);
    default:
      return undefined;
  }
}

/** Citations of another provider point into what Anthropic does not have. */
function ownCitations({ citations }: TextPart): readonly Json[] | undefined {
  const isOwn = citations?.every((one) => isObject(one) && typeof one['cited_text'] === 'string');
  return isOwn ? citations : undefined;
}

/** Anthropic takes an object as input; any other value becomes the one member of one. */
function objectInput(part: ToolCallPart, context: RenderContext): Json {
  const value = inputValue(part, context);
  return isObject(value) ? value : { input: value };
}

function resultBlock(part: ToolResultPart, context: RenderContext): Json {
  const as = keptBy(part, NAME)['as'];
  const base = { type: as ?? 'tool_result', tool_use_id: part.callId };
  if (as !== undefined) return present({ ...base, content: part.output });
  const content = part.content
    ? part.content.flatMap((inner) => blocksFor(inner, NONE, 'user', context))
    : outputOf(part);
  return present({ ...base, content, is_error: part.status === 'ok' ? undefined : true });
}

function outputOf(part: ToolResultPart): string | undefined {
  const { output, status } = part;
  if (status === 'denied') return deniedText(outputText(output));
  if (output === undefined) return status === 'ok' || status === 'error' ? undefined : `[${status}]`;
  return outputText(output);
}

const NONE: ReadonlySet<string> = new Set();
const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/*']);

function fileBlock(part: FilePart, context: RenderContext): Json | undefined {
  const as = IMAGES.has(part.mediaType) ? 'image' : part.mediaType === 'application/pdf' ? 'document' : undefined;
  if (as === undefined) return undefined;
  const title = as === 'document' ? part.name : undefined;
  const fileId = providerFileOf(part, 'anthropic');
  if (fileId !== undefined) return present({ type: as, source: { type: 'file', file_id: fileId }, title });
  const url = urlOf(part, context);
  if (url === undefined) return undefined;
  const inline = parseDataUrl(url);
  if (!inline) return present({ type: as, source: { type: 'url', url }, title });
  if (part.mediaType === 'image/*') return undefined;
  const { data } = inline;
  return present({ type: as, source: { type: 'base64', media_type: part.mediaType, data }, title });
}
