import type { Json } from '../core/json.ts';
import type { FilePart, Part, ToolCallPart, ToolResultPart } from '../core/message.ts';
import type { Message } from '../core/read/message.ts';
import { jsonText } from './json-text.ts';
import type { Colors } from './output.ts';
import { counted, grouped, minuteOf, safeLine, safeText } from './terminal-text.ts';

export interface MessageView {
  readonly colors: Colors;
  /** Shows tool inputs and outputs, reasoning and opaque values whole, not only their beginning. */
  readonly full: boolean;
}

const INDENT = '    ';
const CLIPPED_LINES = 8;
const CLIPPED_UNITS = 800;
/** Nested results are drawn to this depth; deeper ones are counted. */
const MAX_DEPTH = 8;

/** A message as a person reads it: a line that says who and when, then its parts, indented. All text is safe. */
export function* messageLines(message: Message, view: MessageView): Generator<string> {
  const { colors } = view;
  yield `${roleOf(message, colors)}  ${colors.dim(placeOf(message))}`;
  if (message.redaction) yield INDENT + colors.yellow(`redacted: ${safeLine(message.redaction.reason)}`);
  if (message.damage)
    yield INDENT + colors.red(safeLine(`damaged: ${message.damage.reason} (${message.damage.place})`));
  for (const part of message.parts) {
    for (const line of partLines(part, view, 0)) yield line === '' ? '' : INDENT + line;
  }
}

function roleOf({ role, author }: Message, colors: Colors): string {
  const paint = {
    user: colors.cyan,
    assistant: colors.green,
    system: colors.magenta,
    developer: colors.magenta,
    tool: colors.blue,
  };
  const name = author?.name ?? author?.id;
  return colors.bold(paint[role](role)) + (name === undefined ? '' : ` ${safeLine(name)}`);
}

function placeOf({ sequence, committedAt, occurredAt, status, visibility, finishReason, messageId }: Message): string {
  const marks = [
    `#${sequence}`,
    minuteOf(occurredAt ?? committedAt),
    status === 'incomplete' ? 'incomplete' : '',
    visibility === undefined || visibility === 'all' ? '' : `for the ${visibility} only`,
    finishReason === undefined ? '' : safeLine(finishReason),
    safeLine(messageId),
  ];
  return marks.filter((mark) => mark !== '').join(' · ');
}

function partLines(part: Part, view: MessageView, depth: number): Iterable<string> {
  const { colors } = view;
  switch (part.type) {
    case 'text':
      return safeText(part.text).split('\n');
    case 'reasoning':
      return [colors.dim(part.redacted ? '(reasoning, withheld)' : '(reasoning)'), ...clipped(part.text, view)];
    case 'refusal':
      return [colors.yellow('(refusal)'), ...safeText(part.text).split('\n')];
    case 'tool_call':
      return callLines(part, view);
    case 'tool_result':
      return resultLines(part, view, depth);
    case 'file':
      return [colors.dim(`[file ${safeLine([part.mediaType, part.name ?? '', fileSource(part)].join(' '))}]`)];
    case 'source':
      return [colors.dim(`[source ${safeLine([part.title ?? part.sourceId, part.url ?? ''].join(' '))}]`)];
    case 'data':
      return [colors.dim(`[data ${safeLine(part.name)}]`), ...clipped(valueText(part.data), view)];
    default:
      return [colors.dim(`[${safeLine(part.kind)}]`), ...(view.full ? clipped(valueText(part.value), view) : [])];
  }
}

function* callLines(part: ToolCallPart, view: MessageView): Generator<string> {
  yield `${view.colors.blue('→')} ${view.colors.bold(safeLine(part.name))} ${view.colors.dim(safeLine(part.callId))}`;
  yield* indented(clipped(part.inputText ?? valueText(part.input), view));
}

function* resultLines(part: ToolResultPart, view: MessageView, depth: number): Generator<string> {
  const { colors } = view;
  const status = part.status === 'ok' ? part.status : colors.red(part.status);
  yield `${colors.blue('←')} ${safeLine(part.name ?? 'result')} ${status} ${colors.dim(safeLine(part.callId))}`;
  if (part.content === undefined) yield* indented(clipped(valueText(part.output), view));
  else if (depth >= MAX_DEPTH) yield `  … ${counted(part.content.length, 'nested part')}`;
  else for (const nested of part.content) yield* indented(nestedLines(nested, view, depth + 1));
}

/** A result's text is as long as a tool made it: it is shown like other outputs, by its beginning. */
function* nestedLines(part: Part, view: MessageView, depth: number): Generator<string> {
  if (part.type === 'text') yield* clipped(part.text, view);
  else yield* partLines(part, view, depth);
}

function* indented(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield line === '' ? '' : `  ${line}`;
}

/** The beginning of a text that nobody may want whole, and how much more there is. */
function* clipped(text: string, { full, colors }: MessageView): Generator<string> {
  if (text === '') return;
  const shown = full ? text : beginningOf(text);
  yield* safeText(shown).split('\n');
  const more = text.length - shown.length;
  if (more > 0) yield colors.dim(`… ${grouped(more)} more characters (--full)`);
}

function beginningOf(text: string): string {
  let end = 0;
  for (let line = 0; line < CLIPPED_LINES && end !== -1; line++) end = text.indexOf('\n', end + 1);
  const units = Math.min(end === -1 ? text.length : end, CLIPPED_UNITS);
  // Half a pair at the cut would be shown as a lone surrogate, which it is not.
  const isPairCut = /[\ud800-\udbff]/.test(text[units - 1] ?? '') && /[\udc00-\udfff]/.test(text[units] ?? '');
  return text.slice(0, isPairCut ? units - 1 : units);
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : jsonText(value);
}

function fileSource({ source }: FilePart): string {
  if ('url' in source) return source.url.startsWith('data:') ? 'data URL' : source.url;
  return 'attachment' in source ? source.attachment : Object.keys(source.providerFile).join(' ');
}
