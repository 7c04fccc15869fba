import type { Json, JsonObject } from '../core/json.ts';
import type {
  MessageContent,
  NewMessage,
  Part,
  Role,
  SourcePart,
  ToolCallPart,
  ToolResultPart,
} from '../core/message.ts';
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
  opaqueOf,
  storable,
  textAt,
} from './kept.ts';
import { isObject, present } from './patch.ts';
import { inputValue, leavesPrivate, reportUnsaid, resultText, resultWords, standIn, urlOf } from './words.ts';

const NAME = 'ai-sdk-ui';

/**
 * The messages of the AI SDK that a screen shows (`UIMessage`). A tool part of theirs is a call of ours and its result;
 * where the result stands in a message of its own it is shown in the part of its call.
 */
export const aiSdkUi: Format = formatOf({ name: NAME, roleOf, parse, render });

function roleOf(native: JsonObject): Role {
  const { role } = native;
  return role === 'assistant' || role === 'system' ? role : 'user';
}

// ---- Reading

function parse(native: JsonObject): NewMessage | undefined {
  const { parts } = native;
  if (!Array.isArray(parts)) return undefined;
  const read = parts.map((block: Json) => ({ block, own: partsOf(block) }));
  const natives = read.flatMap(({ block, own }) => own.map(() => block));
  const own = read.flatMap((one) => one.own);
  // A tool part that stands twice has two calls of one id: its blocks stay whole.
  const isStorable = storable(own, natives, NAME).every((part, at) => part === own[at]);
  const message = { role: roleOf(native), parts: isStorable ? own : parts.map((block: Json) => opaqueOf(block, NAME)) };
  return exactMessage(message, native, NAME, render(message, alone(message))[0]);
}

function partsOf(block: Json): readonly Part[] {
  const type = (isObject(block) && textAt(block, 'type')) || '';
  if (isObject(block) && (type === 'dynamic-tool' || type.startsWith('tool-'))) return toolParts(block, type);
  return [exactPart(isObject(block) ? knownPart(block, type) : undefined, block, NAME, (part) => blockOf(part, QUIET))];
}

function toolParts(block: JsonObject, type: string): readonly Part[] {
  const callId = textAt(block, 'toolCallId');
  const { input, state } = block;
  if (callId === undefined || typeof state !== 'string') return [opaqueOf(block, NAME)];
  const name = type === 'dynamic-tool' ? (textAt(block, 'toolName') ?? '') : type.slice('tool-'.length);
  const bare: ToolCallPart = { type: 'tool_call', callId, name };
  const called = input === undefined ? bare : { ...bare, input };
  const executed: ToolCallPart = block['providerExecuted'] === true ? { ...called, executedBy: 'provider' } : called;
  const result = resultOf(block, callId, name, state);
  const { approval } = block;
  const call = marked(executed, NAME, {
    as: type === 'dynamic-tool' ? type : 'tool',
    state,
    own: true,
    input: input !== undefined,
    ...(isObject(approval) ? { approval } : {}),
  });
  const exact = exactPart(call, block, NAME, (part) =>
    part.type === 'tool_call' ? toolBlock(part, result, QUIET) : undefined,
  );
  return exact.type === 'opaque' || !result ? [exact] : [exact, result];
}

function resultOf(block: JsonObject, callId: string, name: string, state: string): ToolResultPart | undefined {
  const result = { type: 'tool_result', callId, name } as const;
  const { output } = block;
  if (state === 'output-available' && output !== undefined) return { ...result, status: 'ok', output };
  if (state === 'output-error') return { ...result, status: 'error', output: textAt(block, 'errorText') ?? '' };
  if (state !== 'output-denied') return undefined;
  const { approval } = block;
  return present<ToolResultPart>({
    ...result,
    status: 'denied',
    output: isObject(approval) ? textAt(approval, 'reason') : undefined,
  });
}

function knownPart(block: JsonObject, type: string): Part | undefined {
  const title = textAt(block, 'title');
  const mediaType = textAt(block, 'mediaType');
  const url = textAt(block, 'url');
  const sourceId = textAt(block, 'sourceId');
  const name = textAt(block, 'filename');
  if (type === 'text' || type === 'reasoning') return { type, text: textAt(block, 'text') ?? '' };
  if (type === 'file' && url !== undefined) {
    return { type, mediaType: mediaType ?? '', source: { url }, ...(name === undefined ? {} : { name }) };
  }
  if (type === 'source-url' && sourceId !== undefined) return sourcePart({ sourceId, url, title });
  if (type === 'source-document' && sourceId !== undefined) return sourcePart({ sourceId, title, mediaType });
  if (!type.startsWith('data-') || block['data'] === undefined) return undefined;
  const id = textAt(block, 'id');
  return { type: 'data', name: type.slice('data-'.length), data: block['data'], ...(id === undefined ? {} : { id }) };
}

function sourcePart(fields: Omit<SourcePart, 'type'>): SourcePart {
  return present({ type: 'source', ...fields });
}

// ---- Writing

function render(message: MessageContent, context: RenderContext): readonly JsonObject[] {
  const role = message.role === 'developer' ? 'system' : message.role === 'tool' ? 'user' : message.role;
  const parts = message.parts.flatMap((part) => blocksFor(part, context));
  if (parts.length === 0 && message.parts.length > 0) return [];
  const native = present({ id: idOf(message), role, parts });
  return [messageExactly(native, message, NAME)];
}

/** A stored message has its own id; one that was read keeps the id it had. */
function idOf(message: MessageContent): string | undefined {
  const kept = isObject(keptOf(message, NAME)['patch']);
  return kept || !('messageId' in message) ? undefined : (message as { readonly messageId?: string }).messageId;
}

function blocksFor(part: Part, context: RenderContext): readonly JsonObject[] {
  if (leavesPrivate(part, NAME, context)) return [];
  if (part.type === 'opaque') return [part.value as JsonObject]; // a block that was read
  if (part.type === 'tool_result' && isShownWithCall(part, context)) return [];
  const block = part.type === 'tool_call' ? toolBlock(part, context.resultOf(part), context) : blockOf(part, context);
  if (!block) return [{ type: 'text', text: standIn(part, context) }];
  const said = exactly(block, part, NAME);
  reportUnsaid(part, said, context);
  return [said];
}

function isShownWithCall(result: ToolResultPart, context: RenderContext): boolean {
  const call = context.callOf(result);
  return call !== undefined && context.resultOf(call) === result;
}

function toolBlock(call: ToolCallPart, result: ToolResultPart | undefined, context: RenderContext): JsonObject {
  const { as, state, input: hasInput, approval } = keptBy(call, NAME);
  const type = as === 'tool' ? `tool-${call.name}` : 'dynamic-tool';
  const input = hasInput === false ? undefined : inputValue(call, context);
  const toolName = type === 'dynamic-tool' ? call.name : undefined;
  const said = { type, toolName, toolCallId: call.callId, state: state ?? 'input-available', input };
  if (!result) return present({ ...said, approval });
  if (result.status === 'denied')
    return present({ ...said, state: 'output-denied', approval: denial(call, approval, resultWords(result, context)) });
  // What was asked has been answered, since the tool ran.
  const allowed = isObject(approval) ? { ...approval, approved: true } : undefined;
  if (result.status !== 'ok')
    return present({ ...said, state: 'output-error', errorText: resultText(result, context), approval: allowed });
  const output = result.output ?? resultText(result, context);
  return present({ ...said, state: 'output-available', output, approval: allowed });
}

/** How a call was denied. Whoever shows it wants an id of what was asked; where nobody kept one, the call's is as good. */
function denial(call: ToolCallPart, asked: Json | undefined, reason: string): JsonObject {
  const { reason: _former, ...kept } = isObject(asked) ? asked : { id: call.callId };
  return { ...kept, approved: false, ...(reason === '' ? {} : { reason }) };
}

function blockOf(part: Part, context: RenderContext): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text };
    case 'file': {
      const url = urlOf(part, context);
      return url === undefined
        ? undefined
        : present({ type: 'file', mediaType: part.mediaType, filename: part.name, url });
    }
    case 'source':
      if (part.url !== undefined)
        return present({ type: 'source-url', sourceId: part.sourceId, url: part.url, title: part.title });
      return {
        type: 'source-document',
        sourceId: part.sourceId,
        mediaType: part.mediaType ?? 'application/octet-stream',
        title: part.title ?? part.sourceId,
      };
    case 'data':
      return present({ type: `data-${part.name}`, id: part.id, data: part.data });
    default:
      return undefined;
  }
}
