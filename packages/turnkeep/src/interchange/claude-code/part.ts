import { idProblem } from '../../core/ids.ts';
import { setOwn } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { FilePart, Part, ProviderMetadata, ToolResultPart } from '../../core/message.ts';
import { equalJson } from '../equal.ts';
import { importedId } from '../ids.ts';
import { isObject, textOf } from './row.ts';

/** Under this name parts keep what their block holds and no part can say. */
const PROVIDER = 'claude-code';
/** The kind of an opaque part that holds a block which does not come back through its JavaScript value. */
const BLOCK_TEXT = 'claude-code.block_text';

/** How a block is to be read. */
export interface BlockContext {
  /** True where the block makes a call, or answers one: the tree knows it, and no block before it was the same. */
  readonly pairs: boolean;
  /** The block's own text, where its value is not exact. */
  readonly exactText?: (() => string) | undefined;
  /** The text of a call's input, where that is what is not exact. */
  readonly inputText?: (() => string) | undefined;
}

/** A block of a message as a part. {@link blockOfPart} gives the same block back. */
export function partOfBlock(block: Json, context: BlockContext): Part {
  if (context.exactText) return textPartOf(block, context, context.exactText());
  const part = knownPart(block, context) ?? opaque(block);
  return context.inputText ? part : (withRest(part, block) ?? opaque(block));
}

/** A block as its own text; a result still answers its call. */
function textPartOf(block: Json, context: BlockContext, text: string): Part {
  const id = textOf(block, 'type') === 'tool_result' ? textOf(block, 'tool_use_id') : undefined;
  if (id === undefined || !context.pairs) return { type: 'opaque', kind: BLOCK_TEXT, value: text };
  return { type: 'tool_result', callId: callIdOf(id), status: 'ok', output: text };
}

function opaque(block: Json): Part {
  return { type: 'opaque', kind: `${PROVIDER}.${textOf(block, 'type') || 'block'}`, value: block };
}

/** The part with those members of its block beside it that it cannot say; `undefined` where it says too much. */
function withRest(part: Part, block: Json): Part | undefined {
  const said = blockOfPart(part);
  if (said === block || !isObject(said) || !isObject(block)) return said === block ? part : undefined;
  if (Object.keys(said).some((key) => said[key] !== undefined && !Object.hasOwn(block, key))) return undefined;
  const rest: Record<string, Json> = {};
  for (const [key, value] of Object.entries(block)) {
    if (value !== undefined && !(Object.hasOwn(said, key) && equalJson(said[key], value))) setOwn(rest, key, value);
  }
  if (Object.keys(rest).length === 0) return part;
  const kept = part.providerMetadata?.[PROVIDER];
  return { ...part, providerMetadata: { [PROVIDER]: { ...(isObject(kept) ? kept : {}), rest } } };
}

function knownPart(block: Json, context: BlockContext): Part | undefined {
  if (!isObject(block)) return undefined;
  const type = textOf(block, 'type');
  if (type === 'text') return textPart(block);
  if (type === 'thinking') return reasoning(block);
  if (type === 'redacted_thinking') return redacted(block);
  if (type === 'tool_use') return toolCall(block, context);
  if (type === 'tool_result') return toolResult(block, context);
  return type === 'image' || type === 'document' ? file(block, type) : undefined;
}

function textPart(block: JsonObject): Part | undefined {
  const text = textOf(block, 'text');
  if (text === undefined) return undefined;
  const { citations } = block;
  return Array.isArray(citations)
    ? { type: 'text', text, citations: citations as readonly Json[] }
    : { type: 'text', text };
}

function reasoning(block: JsonObject): Part | undefined {
  const text = textOf(block, 'thinking');
  const signature = textOf(block, 'signature');
  if (text === undefined) return undefined;
  return signature === undefined ? { type: 'reasoning', text } : { type: 'reasoning', text, signature };
}

function redacted(block: JsonObject): Part | undefined {
  const data = textOf(block, 'data');
  return data === undefined ? undefined : { type: 'reasoning', text: '', signature: data, redacted: true };
}

/** A call's id is the provider's own; one that cannot be an id of ours is replaced, and kept beside. */
export function callIdOf(id: string): string {
  return idProblem(id) === undefined ? id : importedId('call', id);
}

function originalId(id: string): { readonly providerMetadata?: ProviderMetadata | undefined } {
  return idProblem(id) === undefined ? {} : { providerMetadata: { [PROVIDER]: { id } } };
}

function toolCall(block: JsonObject, context: BlockContext): Part | undefined {
  const id = textOf(block, 'id');
  const name = textOf(block, 'name');
  if (id === undefined || name === undefined || !context.pairs) return undefined;
  const call = { type: 'tool_call' as const, callId: callIdOf(id), name, ...originalId(id) };
  if (context.inputText) return { ...call, inputText: context.inputText() };
  return block['input'] === undefined ? call : { ...call, input: block['input'] };
}

function toolResult(block: JsonObject, context: BlockContext): Part | undefined {
  const id = textOf(block, 'tool_use_id');
  if (id === undefined || !context.pairs) return undefined;
  const result = { type: 'tool_result' as const, callId: callIdOf(id), status: statusOf(block), ...originalId(id) };
  const { content } = block;
  if (content === undefined) return result;
  if (!Array.isArray(content)) return { ...result, output: content };
  return { ...result, content: (content as readonly Json[]).map(partOfInner) };
}

/** Inside a result nothing can be called or answered. */
function partOfInner(block: Json): Part {
  return partOfBlock(block, { pairs: false });
}

const DENIED = "The user doesn't want to proceed with this tool use";
const INTERRUPTED = '[Request interrupted by user';

function statusOf(block: JsonObject): ToolResultPart['status'] {
  const { content } = block;
  const first = Array.isArray(content) ? textOf((content as readonly Json[])[0], 'text') : content;
  const text = typeof first === 'string' ? first : '';
  if (text.startsWith(INTERRUPTED)) return 'interrupted';
  if (block['is_error'] !== true) return 'ok';
  return text.startsWith(DENIED) ? 'denied' : 'error';
}

function file(block: JsonObject, type: 'image' | 'document'): Part | undefined {
  const { source } = block;
  if (!isObject(source)) return undefined;
  const name = textOf(block, 'title');
  const named = name === undefined ? {} : { name };
  const data = textOf(source, 'data');
  const mediaType = textOf(source, 'media_type');
  if (source['type'] === 'base64' && data !== undefined && mediaType !== undefined) {
    return { type: 'file', mediaType, ...named, source: { url: `data:${mediaType};base64,${data}` } };
  }
  const url = textOf(source, 'url');
  if (source['type'] !== 'url' || url === undefined) return undefined;
  return { type: 'file', mediaType: type === 'image' ? 'image/*' : 'application/pdf', ...named, source: { url } };
}

/** The block that a part was made of. */
export function blockOfPart(part: Part): Json {
  const kept = part.providerMetadata?.[PROVIDER];
  const said = blockSaid(part, kept);
  if (part.type === 'opaque' || !isObject(said)) return said;
  const rest = isObject(kept) && isObject(kept['rest']) ? kept['rest'] : {};
  return Object.fromEntries(Object.entries({ ...said, ...rest }).filter(([, value]) => value !== undefined));
}

function blockSaid(part: Part, kept: Json | undefined): Json {
  switch (part.type) {
    case 'text':
      return part.citations
        ? { type: 'text', text: part.text, citations: part.citations }
        : { type: 'text', text: part.text };
    case 'reasoning':
      if (part.redacted) return { type: 'redacted_thinking', data: part.signature };
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'tool_call':
      return { type: 'tool_use', id: textOf(kept, 'id') ?? part.callId, name: part.name, input: part.input };
    case 'tool_result':
      return blockOfResult(part, textOf(kept, 'id') ?? part.callId);
    case 'file':
      return blockOfFile(part);
    case 'opaque':
      return part.kind === BLOCK_TEXT ? (JSON.parse(part.value as string) as Json) : part.value;
    default:
      return null;
  }
}

function blockOfResult(part: ToolResultPart, id: string): Json {
  const content = part.content ? part.content.map(blockOfPart) : part.output;
  const isError = part.status === 'error' || part.status === 'denied' ? true : undefined;
  return { type: 'tool_result', tool_use_id: id, content, is_error: isError };
}

function blockOfFile(part: FilePart): Json {
  const url = 'url' in part.source ? part.source.url : '';
  const type = part.mediaType.startsWith('image/') ? 'image' : 'document';
  const start = `data:${part.mediaType};base64,`;
  const source = url.startsWith(start)
    ? { type: 'base64', media_type: part.mediaType, data: url.slice(start.length) }
    : { type: 'url', url };
  return { type, source, title: part.name };
}
