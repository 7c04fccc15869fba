import type { Json, JsonObject } from '../core/json.ts';
import type {
  FilePart,
  MessageContent,
  NewMessage,
  Part,
  Role,
  ToolCallPart,
  ToolResultPart,
} from '../core/message.ts';
import { dataUrl, mediaTypeOf, parseDataUrl } from './data-url.ts';
import { alone, formatOf } from './format.ts';
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
  asWords,
  inputFrom,
  inputText,
  leavesPrivate,
  providerFileOf,
  reportStatus,
  reportUnsaid,
  resultText,
  standIn,
  urlOf,
} from './words.ts';

const NAME = 'openai-chat';
const ROLES: ReadonlySet<string> = new Set<Role>(['user', 'assistant', 'system', 'developer', 'tool']);

/**
 * The messages of OpenAI's chat completions (`ChatCompletionMessageParam`). A message of ours with tool results becomes
 * one of theirs for each result, and one for the rest.
 */
export const openaiChat: Format = formatOf({ name: NAME, roleOf, parse, render });

function roleOf(native: JsonObject): Role {
  const role = native['role'];
  if (role === 'function') return 'tool';
  return typeof role === 'string' && ROLES.has(role) ? (role as Role) : 'user';
}

// ---- Reading

function parse(native: JsonObject): NewMessage | undefined {
  const role = native['role'];
  if (typeof role !== 'string' || !ROLES.has(role)) return undefined;
  const message = role === 'tool' ? toolMessage(native) : dialogueMessage(native, roleOf(native));
  return message && exactMessage(message, native, NAME, said(message));
}

/** What the message says by itself, without a patch. */
function said(message: NewMessage): JsonObject | undefined {
  const rendered = render(message, alone(message));
  return rendered.length === 1 ? rendered[0] : undefined;
}

function toolMessage(native: JsonObject): NewMessage | undefined {
  const callId = textAt(native, 'tool_call_id');
  const { content } = native;
  if (callId === undefined) return undefined;
  const result = { type: 'tool_result', callId, status: 'ok' } as const;
  if (typeof content === 'string') return { role: 'tool', parts: [{ ...result, output: content }] };
  if (!Array.isArray(content)) return undefined;
  return { role: 'tool', parts: [{ ...result, content: content.map(partOf) }] };
}

function dialogueMessage(native: JsonObject, role: Role): NewMessage {
  const { content, refusal, tool_calls: calls } = native;
  const blocks: readonly Json[] = Array.isArray(content) ? content : [];
  const parts: Part[] = blocks.map(partOf);
  if (typeof content === 'string') parts.push({ type: 'text', text: content });
  if (typeof refusal === 'string' && !Array.isArray(content)) parts.push({ type: 'refusal', text: refusal });
  if (!Array.isArray(calls)) return listed({ role, parts }, content);
  const own = storable(calls.map(callOf), calls, NAME);
  return listed({ role, parts: [...parts, ...own] }, content);
}

/** Says that the content came as a list, where a string would be written. */
function listed(message: NewMessage, content: Json | undefined): NewMessage {
  return Array.isArray(content) ? withMarks(message, NAME, { content: 'list' }) : message;
}

function partOf(block: Json): Part {
  return exactPart(isObject(block) ? knownPart(block) : undefined, block, NAME, blockOf);
}

function knownPart(block: JsonObject): Part | undefined {
  const text = textAt(block, 'text');
  if (block['type'] === 'text' && text !== undefined) return { type: 'text', text };
  const refusal = textAt(block, 'refusal');
  if (block['type'] === 'refusal' && refusal !== undefined) return { type: 'refusal', text: refusal };
  return filePart(block);
}

function filePart(block: JsonObject): FilePart | undefined {
  const { image_url: image, input_audio: audio, file } = block;
  if (isObject(image)) {
    const url = textAt(image, 'url');
    return url === undefined ? undefined : { type: 'file', mediaType: mediaTypeOf(url, 'image/*'), source: { url } };
  }
  if (isObject(audio)) {
    const mediaType = `audio/${textAt(audio, 'format') ?? ''}`;
    return { type: 'file', mediaType, source: { url: dataUrl(mediaType, textAt(audio, 'data') ?? '') } };
  }
  return isObject(file) ? uploadedFile(file) : undefined;
}

function uploadedFile(file: JsonObject): FilePart | undefined {
  const id = textAt(file, 'file_id');
  const url = textAt(file, 'file_data');
  const name = textAt(file, 'filename');
  if (id !== undefined) {
    return { type: 'file', mediaType: 'application/octet-stream', name, source: { providerFile: { openai: id } } };
  }
  if (url === undefined || !parseDataUrl(url)) return undefined;
  const part: FilePart = {
    type: 'file',
    mediaType: mediaTypeOf(url, 'application/octet-stream'),
    name,
    source: { url },
  };
  // An image as a file would be said as an image.
  return marked(part, NAME, { as: 'file' });
}

function callOf(call: Json): Part {
  return exactPart(isObject(call) ? knownCall(call) : undefined, call, NAME, nativeCall);
}

function knownCall(call: JsonObject): ToolCallPart | undefined {
  const callId = textAt(call, 'id');
  const { function: fn, custom } = call;
  if (callId === undefined) return undefined;
  if (isObject(fn))
    return { type: 'tool_call', callId, name: textAt(fn, 'name') ?? '', ...inputFrom(textAt(fn, 'arguments') ?? '') };
  if (!isObject(custom)) return undefined;
  const part: ToolCallPart = {
    type: 'tool_call',
    callId,
    name: textAt(custom, 'name') ?? '',
    inputText: textAt(custom, 'input') ?? '',
  };
  return marked(part, NAME, { as: 'custom' });
}

// ---- Writing

function render(message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const results = message.parts.filter((part) => part.type === 'tool_result');
  const calls = message.parts.filter((part) => part.type === 'tool_call');
  const rest = message.parts.filter((part) => part.type !== 'tool_result' && !isCall(part, message));
  const ours = new Set(calls.map((call) => call.callId));
  const tools = results.flatMap((result) => {
    if (!ours.has(result.callId)) return [toolNative(result, message, context)];
    context.leave('tool_result', 'private'); // of a tool that another provider ran
    return [];
  });
  if (message.role === 'tool' && rest.length === 0 && calls.length === 0) return tools;
  return [...tools, ...dialogueNative(message, rest, context)];
}

/** What stands in `tool_calls`: calls, and blocks of that list which are no call of ours. */
function isCall(part: Part, message: MessageContent): boolean {
  return (
    part.type === 'tool_call' || (message.role === 'assistant' && part.type === 'opaque' && isToolCallBlock(part.kind))
  );
}

function isToolCallBlock(kind: string): boolean {
  return kind === `${NAME}.function` || kind === `${NAME}.custom`;
}

function toolNative(result: ToolResultPart, message: MessageContent, context: RenderContext): JsonObject {
  const content = result.content?.every((part) => part.type === 'text')
    ? result.content.flatMap((part) => blocksOf(part, context))
    : resultText(result, context);
  reportStatus(result, content, context);
  return messageExactly({ role: 'tool', tool_call_id: result.callId, content }, message, NAME);
}

function dialogueNative(message: MessageContent, rest: readonly Part[], context: RenderContext): readonly JsonObject[] {
  const role = message.role === 'tool' ? 'user' : message.role;
  const isList = keptOf(message, NAME)['content'] === 'list';
  const words = role === 'assistant' ? rest : rest.map(asWords);
  const refusals = isList ? [] : words.filter((part) => part.type === 'refusal');
  const said = isList ? words : words.filter((part) => part.type !== 'refusal');
  const blocks = said.flatMap((part) => blocksFor(part, role, context));
  const toolCalls = message.parts.flatMap((part) => callsFor(part, message, context));
  const native: Record<string, Json> = { role };
  if (isList || blocks.length > 0) native['content'] = contentOf(blocks, isList);
  if (refusals.length > 0) native['refusal'] = refusals.map((part) => part.text).join('\n');
  if (toolCalls.length > 0) native['tool_calls'] = toolCalls;
  const isEmpty = Object.keys(native).length === 1;
  return isEmpty && message.parts.length > 0 ? [] : [messageExactly(native, message, NAME)];
}

function contentOf(blocks: readonly JsonObject[], isList: boolean): Json {
  const [only] = blocks;
  if (isList || blocks.length !== 1 || only?.['type'] !== 'text' || Object.keys(only).length !== 2) return blocks;
  return only['text'] as string;
}

function callsFor(part: Part, message: MessageContent, context: RenderContext): readonly Json[] {
  if (part.type === 'opaque') return isCall(part, message) ? [part.value] : [];
  if (part.type !== 'tool_call') return [];
  if (part.executedBy !== 'provider') return [exactly(nativeCall(part) as JsonObject, part, NAME)];
  context.leave('tool_call', 'private');
  return [];
}

function nativeCall(part: Part): Json | undefined {
  if (part.type !== 'tool_call') return undefined;
  const { callId, name } = part;
  if (keptBy(part, NAME)['as'] === 'custom')
    return { id: callId, type: 'custom', custom: { name, input: inputText(part) } };
  return { id: callId, type: 'function', function: { name, arguments: inputText(part) } };
}

/** Only a person's message shows files; every other says them in words. */
function blocksFor(part: Part, role: Role, context: RenderContext): readonly JsonObject[] {
  if (part.type === 'file' && role !== 'user') return [{ type: 'text', text: standIn(part, context) }];
  return blocksOf(part, context);
}

function blocksOf(part: Part, context: RenderContext): readonly JsonObject[] {
  if (part.type === 'reasoning') {
    context.leave('reasoning', 'private');
    return [];
  }
  if (leavesPrivate(part, NAME, context)) return [];
  if (part.type === 'opaque') return [part.value as JsonObject]; // a block of a list that was read
  const block = part.type === 'file' ? fileBlock(part, urlOf(part, context)) : blockOf(part);
  if (!isObject(block)) return [{ type: 'text', text: standIn(part, context) }];
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context);
  return [said];
}

function blockOf(part: Part): Json | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text };
  return part.type === 'file' ? fileBlock(part, 'url' in part.source ? part.source.url : undefined) : undefined;
}

function fileBlock(part: FilePart, url: string | undefined): JsonObject | undefined {
  const fileId = providerFileOf(part, 'openai');
  if (fileId !== undefined) return { type: 'file', file: present({ file_id: fileId, filename: part.name }) };
  if (url === undefined) return undefined;
  if (part.mediaType.startsWith('image/') && keptBy(part, NAME)['as'] !== 'file')
    return { type: 'image_url', image_url: { url } };
  const inline = parseDataUrl(url);
  if (!inline) return undefined;
  const format = AUDIO_FORMATS.get(part.mediaType);
  if (format !== undefined && keptBy(part, NAME)['as'] !== 'file')
    return { type: 'input_audio', input_audio: { data: inline.data, format } };
  return { type: 'file', file: present({ file_data: url, filename: part.name }) };
}

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);
