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
  inputValue,
  leavesPrivate,
  reportUnsaid,
  resultText,
  resultWords,
  standIn,
  toolNameOf,
  urlOf,
} from './words.ts';

const NAME = 'ai-sdk';

/**
 * The messages of the AI SDK that go to a model (`ModelMessage`), as JSON: bytes as base64, URLs as text. Results stand in
 * a message of the role `tool` of their own.
 */
export const aiSdk: Format = formatOf({ name: NAME, roleOf, parse, render });

function roleOf(native: JsonObject): Role {
  const { role } = native;
  return role === 'assistant' || role === 'system' || role === 'tool' ? role : 'user';
}

// ---- Reading

function parse(native: JsonObject): NewMessage | undefined {
  const { content } = native;
  const role = roleOf(native);
  if (typeof content === 'string') return exact({ role, parts: [{ type: 'text', text: content }] }, native);
  if (!Array.isArray(content)) return undefined;
  const parts = storable(content.map(partOf), content, NAME);
  return exact(withMarks({ role, parts }, NAME, { content: 'list' }), native);
}

function exact(message: NewMessage, native: JsonObject): NewMessage | undefined {
  const said = render(message, alone(message));
  return said.length === 1 ? exactMessage(message, native, NAME, said[0]) : undefined;
}

function partOf(block: Json): Part {
  return exactPart(isObject(block) ? knownPart(block) : undefined, block, NAME, (part) => blockOf(part));
}

function knownPart(block: JsonObject): Part | undefined {
  switch (block['type']) {
    case 'text':
    case 'reasoning':
      return { type: block['type'], text: textAt(block, 'text') ?? '' };
    case 'file':
      return isObject(block['data']) ? taggedFile(block, block['data']) : filePart(block, textAt(block, 'data'));
    case 'image':
      return imagePart(block, textAt(block, 'image'));
    case 'tool-call':
      return callPart(block);
    case 'tool-result':
      return resultPart(block);
    default:
      return undefined;
  }
}

/** Version 7 says which it is, `{ type: 'url', url }` or `{ type: 'data', data }`; the bare text is taken by both. */
function taggedFile(block: JsonObject, data: JsonObject): FilePart | undefined {
  const tag = data['type'];
  if (tag !== 'url' && tag !== 'data') return undefined;
  const part = filePart(block, textAt(data, tag));
  return part && marked(part, NAME, { tag });
}

function filePart(block: JsonObject, data: string | undefined): FilePart | undefined {
  if (data === undefined) return undefined;
  const mediaType = textAt(block, 'mediaType') ?? '';
  const name = textAt(block, 'filename');
  const file = { type: 'file' as const, mediaType, ...(name === undefined ? {} : { name }) };
  const found = sourceOf(data, mediaType);
  return found.asUrl
    ? marked({ ...file, source: found.source }, NAME, { as: 'url' })
    : { ...file, source: found.source };
}

function imagePart(block: JsonObject, data: string | undefined): FilePart | undefined {
  if (data === undefined) return undefined;
  const mediaType = textAt(block, 'mediaType') ?? mediaTypeOf(data, 'image/*');
  const { source, asUrl } = sourceOf(data, mediaType);
  const says = textAt(block, 'mediaType') !== undefined;
  return marked({ type: 'file', mediaType, source }, NAME, { as: asUrl ? 'image-url' : 'image', says });
}

/** Base64 and URLs stand in the same place; a data URL in it is marked, since it would be said as base64. */
function sourceOf(
  data: string,
  mediaType: string,
): { readonly source: { readonly url: string }; readonly asUrl: boolean } {
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(data);
  return { source: { url: isUrl ? data : dataUrl(mediaType, data) }, asUrl: parseDataUrl(data) !== undefined };
}

function callPart(block: JsonObject): ToolCallPart | undefined {
  const callId = textAt(block, 'toolCallId');
  const { input } = block;
  if (callId === undefined || input === undefined) return undefined;
  const call: ToolCallPart = { type: 'tool_call', callId, name: textAt(block, 'toolName') ?? '', input };
  // The SDK speaks for many providers: what one of them ran is said again, whoever it was.
  return block['providerExecuted'] === true ? marked({ ...call, executedBy: 'provider' }, NAME, { own: true }) : call;
}

function resultPart(block: JsonObject): ToolResultPart | undefined {
  const callId = textAt(block, 'toolCallId');
  const name = textAt(block, 'toolName');
  const { output } = block;
  if (callId === undefined || name === undefined || !isObject(output)) return undefined;
  const result = { type: 'tool_result', callId, name } as const;
  const value = Object.hasOwn(output, 'value') ? output['value'] : undefined;
  switch (output['type']) {
    case 'text':
      return { ...result, status: 'ok', output: textAt(output, 'value') ?? '' };
    case 'json':
      return jsonResult({ ...result, status: 'ok' }, value);
    case 'error-text':
      return { ...result, status: 'error', output: textAt(output, 'value') ?? '' };
    case 'error-json':
      return jsonResult({ ...result, status: 'error' }, value);
    case 'execution-denied':
      return present<ToolResultPart>({ ...result, status: 'denied', output: textAt(output, 'reason') });
    case 'content':
      return Array.isArray(value) ? { ...result, status: 'ok', content: value.map(innerOf) } : undefined;
    default:
      return undefined;
  }
}

/** Text as JSON is marked, since it would be said as text. */
function jsonResult(result: ToolResultPart, value: Json | undefined): ToolResultPart {
  const full = { ...result, output: value ?? null };
  return typeof value === 'string' ? marked(full, NAME, { as: 'json' }) : full;
}

function innerOf(block: Json): Part {
  return exactPart(isObject(block) ? knownInner(block) : undefined, block, NAME, (part) => innerBlock(part));
}

function knownInner(block: JsonObject): Part | undefined {
  const text = textAt(block, 'text');
  if (block['type'] === 'text' && text !== undefined) return { type: 'text', text };
  const type = textAt(block, 'type');
  const data = textAt(block, 'data');
  const mediaType = textAt(block, 'mediaType');
  const url = textAt(block, 'url');
  if (url !== undefined && (type === 'file-url' || type === 'image-url')) {
    const otherwise = mediaTypeOf(url, type === 'image-url' ? 'image/*' : 'application/octet-stream');
    return marked({ type: 'file', mediaType: mediaType ?? otherwise, source: { url } }, NAME, { as: type });
  }
  if (data === undefined || mediaType === undefined) return undefined;
  const part: FilePart = { type: 'file', mediaType, source: { url: dataUrl(mediaType, data) } };
  return marked(part, NAME, { as: type });
}

// ---- Writing

function render(message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const ours = new Set(message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : [])));
  const isInside = (part: Part) => part.type === 'tool_result' && message.role === 'assistant' && ours.has(part.callId);
  const results =
    message.role === 'tool'
      ? message.parts
      : message.parts.filter((part) => part.type === 'tool_result' && !isInside(part));
  const rest = message.parts.filter((part) => !results.includes(part));
  const isList = keptOf(message, NAME)['content'] === 'list';
  if (isList) return [listMessage(message.role, message.parts, message, context)];
  const answers = results.filter(isAnswer);
  const others = [...rest, ...results.filter((part) => !isAnswer(part))];
  return [
    ...(answers.length > 0 ? [listMessage('tool', answers, message, context)] : []),
    ...(others.length > 0 ? dialogueMessage(message, others, context) : []),
  ];
}

function isAnswer(part: Part): boolean {
  return part.type === 'tool_result';
}

function listMessage(role: Role, parts: readonly Part[], message: MessageContent, context: RenderContext): JsonObject {
  const content = parts.flatMap((part) => blocksFor(part, role, message, context));
  return messageExactly({ role, content }, message, NAME);
}

function dialogueMessage(
  message: MessageContent,
  parts: readonly Part[],
  context: RenderContext,
): readonly JsonObject[] {
  const role = message.role === 'tool' ? 'user' : message.role === 'developer' ? 'system' : message.role;
  const blocks = parts.flatMap((part) => blocksFor(part, role, message, context));
  if (blocks.length === 0) return [];
  if (role === 'system') {
    const content = blocks.map((block) => textAt(block, 'text') ?? '').join('\n');
    return [messageExactly({ role, content }, message, NAME)];
  }
  const [only] = blocks;
  const isText = blocks.length === 1 && only?.['type'] === 'text' && Object.keys(only).length === 2;
  return [messageExactly({ role, content: isText ? only['text'] : blocks }, message, NAME)];
}

function blocksFor(part: Part, role: Role, message: MessageContent, context: RenderContext): readonly JsonObject[] {
  if (leavesPrivate(part, NAME, context)) return [];
  // A block that was read; what the system says has none.
  if (part.type === 'opaque' && role !== 'system') return [part.value as JsonObject];
  if (isProvided(part, message) || isForeignReasoning(part)) {
    context.leave(part.type, 'private');
    return [];
  }
  const block = role === 'system' && part.type !== 'text' ? undefined : blockOf(part, context);
  if (!block) return [{ type: 'text', text: standIn(part, context) }];
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context);
  return [said];
}

/** True for the call and the result of a tool that a provider ran, where the message did not come from here. */
function isProvided(part: Part, message: MessageContent): boolean {
  if (part.type !== 'tool_call' && part.type !== 'tool_result') return false;
  return message.parts.some(
    (call) =>
      call.type === 'tool_call' &&
      call.callId === part.callId &&
      call.executedBy === 'provider' &&
      keptBy(call, NAME)['own'] !== true,
  );
}

/** Reasoning that a provider signed for itself is taken back by that provider only. */
function isForeignReasoning(part: Part): boolean {
  return part.type === 'reasoning' && (part.signature !== undefined || part.redacted === true);
}

function blockOf(part: Part, context: RenderContext = QUIET): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text };
    case 'refusal':
      return undefined;
    case 'tool_call':
      return callBlock(part, context);
    case 'tool_result':
      return resultBlock(part, context);
    case 'file':
      return fileBlock(part, context);
    default:
      return undefined;
  }
}

function callBlock(part: ToolCallPart, context: RenderContext): JsonObject {
  const providerExecuted = part.executedBy === 'provider' ? true : undefined;
  return present({
    type: 'tool-call',
    toolCallId: part.callId,
    toolName: part.name,
    input: inputValue(part, context),
    providerExecuted,
  });
}

function resultBlock(part: ToolResultPart, context: RenderContext): JsonObject {
  const toolName = toolNameOf(part, context);
  return { type: 'tool-result', toolCallId: part.callId, toolName, output: outputOf(part, context) };
}

function outputOf(part: ToolResultPart, context: RenderContext): JsonObject {
  const { output, content, status } = part;
  if (status === 'denied')
    return present({ type: 'execution-denied', reason: resultWords(part, context) || undefined });
  const isError = status !== 'ok';
  if (content && !isError) return { type: 'content', value: content.map((inner) => innerSaid(inner, context)) };
  if (output === undefined || (typeof output === 'string' && keptBy(part, NAME)['as'] !== 'json')) {
    return { type: isError ? 'error-text' : 'text', value: resultText(part, context) };
  }
  return { type: isError ? 'error-json' : 'json', value: output };
}

function innerSaid(part: Part, context: RenderContext): JsonObject {
  if (part.type === 'opaque' && part.kind.startsWith(`${NAME}.`)) return part.value as JsonObject; // a block that was read
  const block = innerBlock(part, context);
  if (!block) return { type: 'text', text: standIn(part, context) };
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context);
  return said;
}

function innerBlock(part: Part, context: RenderContext = QUIET): JsonObject | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type !== 'file') return undefined;
  const url = urlOf(part, context);
  if (url === undefined) return undefined;
  const { as } = keptBy(part, NAME);
  const inline = as === 'file-url' || as === 'image-url' ? undefined : parseDataUrl(url);
  if (!inline) return { type: as ?? 'file-url', url };
  return { type: as ?? 'file-data', data: inline.data, mediaType: part.mediaType };
}

function fileBlock(part: FilePart, context: RenderContext): JsonObject | undefined {
  const url = urlOf(part, context);
  if (url === undefined) return undefined;
  const { as, says, tag } = keptBy(part, NAME);
  const data = as === 'url' || as === 'image-url' ? url : (parseDataUrl(url)?.data ?? url);
  const mediaType = says === false ? undefined : part.mediaType;
  if (as === 'image' || as === 'image-url') return present({ type: 'image', image: data, mediaType });
  const said = tag === 'url' || tag === 'data' ? { type: tag, [tag]: data } : data;
  return present({ type: 'file', data: said, mediaType, filename: part.name });
}
