import { sameJson } from '../core/encoding.ts';
import { parseExact, withText } from '../core/exact.ts';
import type { ExactJson } from '../core/exact.ts';
import type { Json } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';
import type { FilePart, Part, ToolCallPart, ToolResultPart } from '../core/message.ts';
import type { FormatName, RenderContext } from './format.ts';
import { isObject } from './patch.ts';

/** The text of a tool call's input. */
export function inputText(call: ToolCallPart): string {
  return call.inputText ?? JSON.stringify(call.input ?? {});
}

/** The most nesting of an input that is given as a value: what stands around it has to fit below the limit, too. */
const MAX_INPUT_DEPTH = LIMITS.jsonDepth - 20;

/**
 * The input of a tool call as a value; what is not JSON stays text. A number that no value of JavaScript says becomes its
 * own text, and a key that stands twice has its last value: both are reported.
 */
export function inputValue(call: ToolCallPart, context: RenderContext): Json {
  const { inputText: text } = call;
  if (text === undefined) return call.input ?? {};
  const exact = parsedInput(text);
  if (!exact) return text;
  const { value, inexact, hasRepeatedKeys, depth } = exact;
  if (inexact.length === 0 && !hasRepeatedKeys && depth <= MAX_INPUT_DEPTH) return value;
  context.leave('tool_call.inputText', 'stand_in');
  if (depth > MAX_INPUT_DEPTH || (hasRepeatedKeys && inexact.length > 0)) return text;
  return inexact.reduce((all, number) => withText(all, number.path, number.text), value);
}

function parsedInput(text: string): ExactJson | undefined {
  try {
    return parseExact(text);
  } catch {
    // A model's arguments need not be JSON: they stay what they are.
    return undefined;
  }
}

/** A call's input as JSON where its text comes back from it exactly, and as text where it does not. */
export function inputFrom(text: string): Pick<ToolCallPart, 'input' | 'inputText'> {
  const exact = parsedInput(text);
  const isValue =
    exact && isObject(exact.value) && exact.depth <= MAX_INPUT_DEPTH && JSON.stringify(exact.value) === text;
  return isValue ? { input: exact.value } : { inputText: text };
}

/** The name of the tool that a result is of; the call's id where nobody says it. */
export function toolNameOf(result: ToolResultPart, context: RenderContext): string {
  return result.name ?? context.callOf(result)?.name ?? result.callId;
}

/** Reports that a result failed, where a format says only its words; without words it says `[error]`, and a denial always. */
export function reportStatus({ status }: ToolResultPart, said: Json | undefined, context: RenderContext): void {
  if (status === 'error' && said !== '[error]') context.leave('status', 'private');
}

/** A result in words, for providers that take text alone. */
export function resultText(result: ToolResultPart, context: RenderContext): string {
  const text = resultWords(result, context);
  if (result.status === 'denied') return deniedText(text);
  return text === '' && result.status !== 'ok' ? `[${result.status}]` : text;
}

/** What a result says, however its call ended. */
export function resultWords({ content, output }: ToolResultPart, context: RenderContext): string {
  return content ? content.map((part) => wordsOf(part, context)).join('\n') : outputText(output);
}

/** That a call was denied, for providers that cannot say so: the reason alone could be taken for what the tool answered. */
export function deniedText(reason: string): string {
  return reason === '' ? '[denied]' : `[denied] ${reason}`;
}

export function outputText(output: Json | undefined): string {
  if (output === undefined) return '';
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function wordsOf(part: Part, context: RenderContext): string {
  if (part.type !== 'text' && part.type !== 'refusal') return standIn(part, context);
  reportUnsaid(part, part.text, context);
  return part.text;
}

/** A refusal as text, for places in which nobody but a model refuses. */
export function asWords(part: Part): Part {
  if (part.type !== 'refusal') return part;
  const { text, providerMetadata } = part;
  return providerMetadata ? { type: 'text', text, providerMetadata } : { type: 'text', text };
}

/** A line of text in the place of what a format has no words for; it is reported. */
export function standIn(part: Part, context: RenderContext): string {
  context.leave(part.type === 'opaque' ? part.kind : part.type, 'stand_in');
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'file':
      return `[file ${part.name ?? ''} (${part.mediaType}) is not shown]`.replace('  ', ' ');
    case 'source':
      return `[source: ${part.title ?? part.url ?? part.sourceId}]`;
    case 'data':
      return `[${part.name}: ${JSON.stringify(part.data)}]`;
    case 'tool_call':
      return `[call of ${part.name}: ${inputText(part)}]`;
    case 'tool_result':
      return `[result of ${toolNameOf(part, context)}: ${resultText(part, context)}]`;
    default:
      return `[${part.type === 'opaque' ? part.kind : part.type}]`;
  }
}

/** True for what means something to its provider only: it is left out for every other, and reported. */
export function leavesPrivate(part: Part, format: FormatName, context: RenderContext): boolean {
  if (part.type === 'opaque' && !part.kind.startsWith(`${format}.`)) {
    context.leave(part.kind, 'private');
    return true;
  }
  return false;
}

/**
 * Reports what a part has and its block does not say, because the format has no place for it: citations, a file's name.
 * `phase` as well, where the format tells none.
 */
export function reportUnsaid(
  part: Part,
  said: Json,
  context: RenderContext,
  phase: 'phase' | 'no phase' = 'no phase',
): void {
  if (part.type === 'text') {
    const { citations } = part;
    if (citations && citations.length > 0 && !holds(said, citations)) context.leave('citations', 'private');
    if (part.phase !== undefined && phase === 'no phase') context.leave('phase', 'private');
  }
  if (part.type === 'file' && part.name !== undefined && !holds(said, part.name)) context.leave('file.name', 'private');
}

/** True where a value is one of the members of another, however deep. */
function holds(value: Json | undefined, wanted: Json): boolean {
  if (typeof value !== 'object' || value === null) return value === wanted;
  if (typeof wanted === 'object' && sameJson(value, wanted)) return true;
  return Object.values(value).some((member: Json | undefined) => holds(member, wanted));
}

/** Where a provider finds the file; `undefined` where only its name can be told. */
export function urlOf(part: FilePart, context: RenderContext): string | undefined {
  if ('url' in part.source) return part.source.url;
  return 'attachment' in part.source ? context.attachmentUrl(part.source.attachment) : undefined;
}

/** The provider's own id of a file. */
export function providerFileOf(part: FilePart, provider: string): string | undefined {
  return 'providerFile' in part.source ? part.source.providerFile[provider] : undefined;
}
