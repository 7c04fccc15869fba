import type { Json, JsonObject } from '../core/json.ts';
import type {
  FilePart,
  MessageContent,
  NewMessage,
  Part,
  ReasoningPart,
  Role,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../core/message.ts';
import { mediaTypeOf, parseDataUrl } from './data-url.ts';
import { alone, formatOf, QUIET } from './format.ts';
import type { Format, Pairing, RenderContext } from './format.ts';
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
import { isObject, patchOf, present } from './patch.ts';
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

const NAME = 'openai-responses';
const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);

/**
 * The items of OpenAI's responses (`ResponseInputItem`, `ResponseOutputItem`). Each of their items is one message of ours;
 * one of ours becomes one of theirs for its text and one for each call, result and piece of reasoning.
 */
export const openaiResponses: Format = formatOf({ name: NAME, roleOf, parse, render, settle });

function roleOf(native: JsonObject): Role {
  const { role } = native;
  if (ROLES.has(role)) return role as Role;
  const type = textAt(native, 'type') ?? '';
  if (type.endsWith('_output')) return 'tool';
  return type === 'mcp_approval_response' ? 'user' : 'assistant';
}

// ---- Reading

function parse(native: JsonObject): NewMessage | undefined {
  const role = roleOf(native);
  const type = textAt(native, 'type') ?? 'message';
  if (type === 'message') return ROLES.has(native['role']) ? dialogueMessage(native, role) : undefined;
  if (type === 'reasoning') return reasoningMessage(native);
  const part = exactPart(knownItem(native, type), native, NAME, itemOf);
  return { role, parts: storable([part], [native], NAME) };
}

function knownItem(native: JsonObject, type: string): Part | undefined {
  const callId = textAt(native, 'call_id');
  if (callId === undefined) return undefined;
  if (type.endsWith('_call_output')) return resultPart(native, callId, type);
  return type.endsWith('_call') ? callPart(native, callId, type) : undefined;
}

/** Marks plain outputs of calls that have an output of their own kind: without the mark they would be said as one. */
function settle(messages: readonly NewMessage[], { callOf }: Pairing): readonly NewMessage[] {
  return messages.map((message) => {
    const isOdd = (part: Part) =>
      part.type === 'tool_result' && keptBy(part, NAME)['as'] === undefined && outputFor(callOf(part)) !== undefined;
    if (!message.parts.some(isOdd)) return message;
    const parts = message.parts.map((part) => (isOdd(part) ? marked(part, NAME, { as: PLAIN_OUTPUT }) : part));
    return { ...message, parts };
  });
}

const PLAIN_OUTPUT = 'function_call_output';

function callPart(native: JsonObject, callId: string, type: string): ToolCallPart {
  const call = { type: 'tool_call', callId, name: textAt(native, 'name') ?? '' } as const;
  if (type === 'function_call') return { ...call, ...inputFrom(textAt(native, 'arguments') ?? '') };
  if (type === 'custom_tool_call')
    return marked({ ...call, inputText: textAt(native, 'input') ?? '' }, NAME, { as: type });
  const { type: _type, call_id: _callId, ...input } = native;
  return marked({ ...call, name: type.slice(0, -'_call'.length), input }, NAME, { as: type });
}

function resultPart(native: JsonObject, callId: string, type: string): ToolResultPart {
  const { output } = native;
  const plain: ToolResultPart = { type: 'tool_result', callId, status: 'ok' };
  const result = type === 'function_call_output' ? plain : marked(plain, NAME, { as: type });
  const isText = type === 'function_call_output' || type === 'custom_tool_call_output';
  if (isText && Array.isArray(output)) return { ...result, content: output.map(partOf) };
  return output === undefined ? result : { ...result, output };
}

/** The words of reasoning are its summary's, or its own where there is no summary. */
function reasoningMessage(native: JsonObject): NewMessage | undefined {
  const id = textAt(native, 'id');
  const signature = textAt(native, 'encrypted_content');
  const summary = textsIn(native['summary']);
  const words = summary.length > 0 ? summary : textsIn(native['content']);
  const marks = { words: words.length === 0 ? 'none' : summary.length > 0 ? 'summary' : 'content' };
  const [first, ...rest] = (words.length > 0 ? words : ['']).map((text): ReasoningPart => {
    return marked(present({ type: 'reasoning' as const, text, id }), NAME, marks);
  });
  if (!first) return undefined;
  const signed = signature === undefined ? first : { ...first, signature };
  const said = reasoningItem([signed, ...rest]);
  const patch = said && patchOf(said, native);
  if (!patch) return undefined;
  return {
    role: 'assistant',
    parts: [Object.keys(patch).length === 0 ? signed : marked(signed, NAME, { patch }), ...rest],
  };
}

function textsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.map((one: Json) => (isObject(one) ? textAt(one, 'text') : undefined) ?? '') : [];
}

function dialogueMessage(native: JsonObject, role: Role): NewMessage | undefined {
  const { content } = native;
  const phase = textAt(native, 'phase');
  if (typeof content === 'string')
    return exact({ role, parts: [phased({ type: 'text', text: content }, phase)] }, native);
  if (!Array.isArray(content)) return undefined;
  const parts = content.map(partOf).map((part) => phased(part, phase));
  const message: NewMessage = { role, parts };
  return exact(withMarks(statusOf(message, native), NAME, { content: 'list' }), native);
}

function phased(part: Part, phase: string | undefined): Part {
  return part.type === 'text' && phase !== undefined ? { ...part, phase } : part;
}

function statusOf(message: NewMessage, native: JsonObject): NewMessage {
  return native['status'] === 'incomplete' ? { ...message, status: 'incomplete' } : message;
}

function exact(message: NewMessage, native: JsonObject): NewMessage | undefined {
  const said = render(message, alone(message));
  return said.length === 1 ? exactMessage(message, native, NAME, said[0]) : undefined;
}

function partOf(block: Json): Part {
  return exactPart(isObject(block) ? knownPart(block) : undefined, block, NAME, blockOf);
}

function knownPart(block: JsonObject): Part | undefined {
  const text = textAt(block, 'text');
  switch (block['type']) {
    case 'input_text':
      return text === undefined ? undefined : { type: 'text', text };
    case 'output_text':
      return outputText(block, text ?? '');
    case 'refusal':
      return { type: 'refusal', text: textAt(block, 'refusal') ?? '' };
    case 'input_image':
    case 'input_file':
      return filePart(block);
    default:
      return undefined;
  }
}

function outputText(block: JsonObject, text: string): Part {
  const { annotations } = block;
  const part: TextPart = marked({ type: 'text', text }, NAME, { as: 'output_text' });
  return Array.isArray(annotations) && annotations.length > 0 ? { ...part, citations: annotations } : part;
}

function filePart(block: JsonObject): FilePart | undefined {
  const isImage = block['type'] === 'input_image';
  const otherwise = isImage ? 'image/*' : 'application/octet-stream';
  const name = textAt(block, 'filename');
  const base = name === undefined ? { type: 'file' as const } : { type: 'file' as const, name };
  const fileId = textAt(block, 'file_id');
  const as = { as: textAt(block, 'type') ?? '', detail: Object.hasOwn(block, 'detail') };
  if (fileId !== undefined) {
    return marked({ ...base, mediaType: otherwise, source: { providerFile: { openai: fileId } } }, NAME, as);
  }
  const url = textAt(block, 'image_url') ?? textAt(block, 'file_data') ?? textAt(block, 'file_url');
  return url === undefined
    ? undefined
    : marked({ ...base, mediaType: mediaTypeOf(url, otherwise), source: { url } }, NAME, as);
}

// ---- Writing

function render(message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const items: JsonObject[] = [];
  const provided = providedElsewhere(message);
  let texts: Part[] = [];
  const close = () => {
    if (texts.length > 0) items.push(...dialogueItems(message, texts, context));
    texts = [];
  };
  for (const group of groupsOf(message.parts)) {
    const [part] = group;
    if (isItem(part)) {
      close();
      items.push(...itemsOf(group, provided, context));
    } else texts.push(part);
  }
  if (message.parts.length === 0) return dialogueItems(message, [], context);
  close();
  return items;
}

/** Parts one by one; the summaries of one piece of reasoning together. */
function groupsOf(parts: readonly Part[]): readonly (readonly [Part, ...Part[]])[] {
  const groups: [Part, ...Part[]][] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    const joins =
      last?.[0].type === 'reasoning' && part.type === 'reasoning' && part.id !== undefined && part.id === last[0].id;
    if (last && joins) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

function isItem(part: Part): boolean {
  if (part.type === 'opaque') return !isBlock(part.value);
  return part.type === 'tool_call' || part.type === 'tool_result' || part.type === 'reasoning';
}

const BLOCKS: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file', 'output_text', 'refusal']);

/** Blocks stand in the content of a message; other things of theirs are items. */
function isBlock(value: Json): boolean {
  return isObject(value) && BLOCKS.has(value['type']);
}

/** Calls that another provider ran within its own answer. */
function providedElsewhere({ parts }: MessageContent): ReadonlySet<string> {
  return new Set(
    parts.flatMap((part) => (part.type === 'tool_call' && part.executedBy === 'provider' ? [part.callId] : [])),
  );
}

function itemsOf(
  group: readonly [Part, ...Part[]],
  provided: ReadonlySet<string>,
  context: RenderContext,
): readonly JsonObject[] {
  const [part] = group;
  if (leavesPrivate(part, NAME, context)) return [];
  if (part.type === 'opaque') return [part.value as JsonObject]; // an item that was read
  const isCallPart = part.type === 'tool_call' || part.type === 'tool_result';
  const item = part.type === 'reasoning' ? reasoningItem(group) : itemOf(part, context);
  if (isObject(item) && !(isCallPart && provided.has(part.callId))) return [exactly(item, part, NAME)];
  context.leave(part.type, 'private');
  return [];
}

/** Reasoning is taken back from OpenAI itself only: with its id. */
function reasoningItem(group: readonly Part[]): JsonObject | undefined {
  const parts = group.filter((part) => part.type === 'reasoning');
  const [first] = parts;
  const words = first && keptBy(first, NAME)['words'];
  if (first?.id === undefined || words === undefined) return undefined;
  const summary = words === 'summary' ? parts.map(({ text }) => ({ type: 'summary_text', text })) : [];
  const content = words === 'content' ? parts.map(({ text }) => ({ type: 'reasoning_text', text })) : undefined;
  return present({ type: 'reasoning', id: first.id, summary, content, encrypted_content: first.signature });
}

function itemOf(part: Part, context: RenderContext = QUIET): JsonObject | undefined {
  if (part.type === 'tool_call') return callItem(part, keptBy(part, NAME)['as']);
  if (part.type !== 'tool_result') return undefined;
  const as = keptBy(part, NAME)['as'] ?? outputFor(context.callOf(part));
  const base = { type: as ?? PLAIN_OUTPUT, call_id: part.callId };
  if (as !== undefined && as !== PLAIN_OUTPUT && as !== 'custom_tool_call_output')
    return present({ ...base, output: part.output });
  const blocks = part.content?.map((inner) => inputBlock(asWords(inner), context));
  const output = blocks?.every((block) => block !== undefined) ? blocks : resultText(part, context);
  reportStatus(part, output, context);
  return { ...base, output };
}

/** Each kind of call has its own kind of output; a function's is the plain one. */
function outputFor(call: ToolCallPart | undefined): string | undefined {
  const as = call && keptBy(call, NAME)['as'];
  return typeof as === 'string' ? `${as}_output` : undefined;
}

/** True for a call of a tool of OpenAI's own that the client runs: only that tool's result answers it, no words. */
export function takesOwnResult(call: ToolCallPart): boolean {
  const as = keptBy(call, NAME)['as'];
  return as !== undefined && as !== 'custom_tool_call';
}

function callItem(part: ToolCallPart, as: Json | undefined): JsonObject {
  const { callId, name } = part;
  if (as === undefined) return { type: 'function_call', call_id: callId, name, arguments: inputText(part) };
  if (as === 'custom_tool_call') return { type: as, call_id: callId, name, input: inputText(part) };
  return { type: as, call_id: callId, ...(isObject(part.input) ? part.input : {}) };
}

function dialogueItems(message: MessageContent, parts: readonly Part[], context: RenderContext): readonly JsonObject[] {
  const role = message.role === 'tool' ? 'user' : message.role;
  const said = parts.filter((part) => !leavesPrivate(part, NAME, context));
  if (said.length === 0 && (parts.length > 0 || keptOf(message, NAME)['content'] !== 'list')) return [];
  const phase = said.flatMap((part) => (part.type === 'text' && part.phase !== undefined ? [part.phase] : []))[0];
  if (keptOf(message, NAME)['content'] === 'list') {
    const content = said.map((part) => blockIn(part, role, context));
    return [messageExactly(present({ role, content, phase }), message, NAME)];
  }
  if (role === 'assistant') {
    const texts = said.map((part) => {
      if (!('text' in part)) return standIn(part, context);
      reportUnsaid(part, part.text, context, 'phase');
      return part.text;
    });
    return texts.map((content) => messageExactly(present({ role, content, phase }), message, NAME));
  }
  const blocks = said.map((part) => blockIn(asWords(part), role, context));
  const [only] = blocks;
  const isText = blocks.length === 1 && only?.['type'] === 'input_text' && Object.keys(only).length === 2;
  return [messageExactly({ role, content: isText ? only['text'] : blocks }, message, NAME)];
}

function blockIn(part: Part, role: Role, context: RenderContext): JsonObject {
  if (part.type === 'opaque') return part.value as JsonObject; // a block of a list that was read
  const isForeignFile = role === 'assistant' && part.type === 'file' && keptBy(part, NAME)['as'] === undefined;
  const block = isForeignFile ? undefined : inputBlock(part, context);
  const text = role === 'assistant' ? 'output_text' : 'input_text';
  return block ?? { type: text, text: standIn(part, context) };
}

function inputBlock(part: Part, context: RenderContext): JsonObject | undefined {
  if (part.type === 'opaque') return isBlock(part.value) ? (part.value as JsonObject) : undefined;
  const block = part.type === 'file' ? fileBlock(part, urlOf(part, context)) : blockOf(part);
  if (!isObject(block)) return undefined;
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context, 'phase');
  return said;
}

function blockOf(part: Part): JsonObject | undefined {
  if (part.type === 'text') return textBlock(part);
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text };
  return part.type === 'file' ? fileBlock(part, 'url' in part.source ? part.source.url : undefined) : undefined;
}

function textBlock(part: TextPart): JsonObject {
  if (keptBy(part, NAME)['as'] !== 'output_text') return { type: 'input_text', text: part.text };
  return { type: 'output_text', text: part.text, annotations: part.citations ?? [] };
}

function fileBlock(part: FilePart, url: string | undefined): JsonObject | undefined {
  const fileId = providerFileOf(part, 'openai');
  const isImage =
    (keptBy(part, NAME)['as'] ?? (part.mediaType.startsWith('image/') ? 'input_image' : '')) === 'input_image';
  if (url === undefined && fileId === undefined) return undefined;
  // A message's image says its detail always, one within a result may leave it out.
  const detail = keptBy(part, NAME)['detail'] === false ? undefined : 'auto';
  if (isImage) return present({ type: 'input_image', detail, image_url: url, file_id: fileId });
  const inline = url !== undefined && parseDataUrl(url) !== undefined;
  const place = inline ? { file_data: url } : { file_url: url };
  return present({ type: 'input_file', ...place, file_id: fileId, filename: part.name });
}
