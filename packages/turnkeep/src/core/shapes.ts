import { z } from 'zod';
import { DIGEST } from './attachments/rows.ts';
import { TurnkeepError } from './errors.ts';
import { idProblem, utf8Length } from './ids.ts';
import { memberPath } from './json.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import type { LimitName } from './limits.ts';
import type { Author, MessageNotes, NewMessage, Part, Role, ToolResultPart } from './message.ts';
import { callsOf, ROLES } from './message.ts';

/**
 * Shapes of the parts that changes are made of. A shape only checks: the original value is used, never
 * zod's copy of it, which loses own `__proto__` keys. JSON inside is checked beforehand by `parseJson`.
 */

export const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, 'expected a JSON value');

export const id: z.ZodType<string> = z.string().superRefine((value, context) => {
  const problem = idProblem(value);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

/** Text of bounded size. */
export function textUpTo(limit: LimitName): z.ZodType<string> {
  return z.string().superRefine((value, context) => {
    // At most three bytes per unit: a short text need not be measured.
    if (value.length * 3 <= LIMITS[limit]) return;
    const actual = utf8Length(value);
    if (actual > LIMITS[limit]) context.addIssue({ code: 'custom', message: 'too long', params: { limit, actual } });
  });
}

export const shortText: z.ZodType<string> = textUpTo('shortTextBytes');

/** The id that a person has elsewhere: any bounded text that every store can look up (SQL text has no NUL). */
export const personId: z.ZodType<string> = shortText.refine(
  (value) => value.isWellFormed() && !value.includes('\0'),
  'the id of a person has no lone surrogates and no NUL',
);

/** Text that says something: not empty and not only white space. */
export const meaningfulText: z.ZodType<string> = z
  .string()
  .refine((value) => value.trim() !== '', 'blank text says nothing');

/** A list of bounded length. */
export function listUpTo<Item>(item: z.ZodType<Item>, limit: LimitName): z.ZodType<readonly Item[]> {
  return z.array(item).superRefine((value, context) => {
    if (value.length > LIMITS[limit]) {
      context.addIssue({ code: 'custom', message: 'too many', params: { limit, actual: value.length } });
    }
  });
}

export const count: z.ZodType<number> = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A code: `snake_case`, dots allowed. */
export const code: z.ZodType<string> = z
  .string()
  .regex(/^[a-z0-9_]+(?:[.-][a-z0-9_]+)*$/, 'a code is snake_case')
  .max(128);

const providerMetadata = z.record(z.string(), json).optional();
const partBase = { id: z.string().optional(), providerMetadata };

const textPart = z.strictObject({
  ...partBase,
  type: z.literal('text'),
  text: z.string(),
  citations: z.array(json).optional(),
  phase: z.string().optional(),
});

const reasoningPart = z.strictObject({
  ...partBase,
  type: z.literal('reasoning'),
  text: z.string(),
  signature: z.string().optional(),
  redacted: z.boolean().optional(),
});

const refusalPart = z.strictObject({ ...partBase, type: z.literal('refusal'), text: z.string() });

const toolCallPart = z
  .strictObject({
    ...partBase,
    type: z.literal('tool_call'),
    callId: id,
    name: z.string(),
    input: json.optional(),
    inputText: z.string().optional(),
    executedBy: z.enum(['client', 'provider']).optional(),
  })
  .refine((part) => part.input === undefined || part.inputText === undefined, 'input or inputText, not both');

/** Parts within a part: checked by a separate call, since zod compiles no recursive shapes. */
const contentOfResult: z.ZodType<readonly Part[]> = z.custom<readonly Part[]>().superRefine((value, context) => {
  const result = z.array(part).safeParse(value);
  if (result.success) return;
  const issue = deepest(result.error.issues);
  const params = issue.code === 'custom' ? issue.params : undefined;
  context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message, params });
});

const toolResultPart: z.ZodType<ToolResultPart> = z
  .strictObject({
    ...partBase,
    type: z.literal('tool_result'),
    callId: id,
    name: z.string().optional(),
    status: z.enum(['ok', 'error', 'denied', 'interrupted']),
    output: json.optional(),
    content: contentOfResult.optional(),
  })
  .refine((result) => result.output === undefined || result.content === undefined, 'output or content, not both');

const filePart = z.strictObject({
  ...partBase,
  type: z.literal('file'),
  mediaType: z.string(),
  name: z.string().optional(),
  source: z.union(
    [
      z.strictObject({ attachment: z.string().regex(DIGEST, 'an attachment is named by the SHA-256 of its bytes') }),
      z.strictObject({ url: z.string() }),
      z.strictObject({ providerFile: z.record(z.string(), z.string()) }),
    ],
    'expected { attachment }, { url } or { providerFile }',
  ),
});

const sourcePart = z.strictObject({
  ...partBase,
  type: z.literal('source'),
  sourceId: z.string(),
  url: z.string().optional(),
  title: z.string().optional(),
  mediaType: z.string().optional(),
});

const dataPart = z.strictObject({
  ...partBase,
  type: z.literal('data'),
  name: z.string(),
  schemaVersion: z.int().optional(),
  data: json,
});

const opaquePart = z.strictObject({
  ...partBase,
  type: z.literal('opaque'),
  kind: z.string().regex(/^[^.]+\..+$/s, 'an opaque kind is vendor.name'),
  value: json,
});

/** One part of a message. */
export const part: z.ZodType<Part> = z.discriminatedUnion('type', [
  textPart,
  reasoningPart,
  refusalPart,
  toolCallPart,
  toolResultPart as never,
  filePart,
  sourcePart,
  dataPart,
  opaquePart,
]);

/** The parts of a message, with its tool calls within the limit and none of them twice. */
export const parts: z.ZodType<readonly Part[]> = listUpTo(part, 'messageParts').superRefine((value, context) => {
  const { calls, answers } = callsOf(value);
  const actual = calls.length + answers.length;
  if (actual > LIMITS.messageCalls) {
    context.addIssue({ code: 'custom', message: 'too many', params: { limit: 'messageCalls', actual } });
  }
  const repeated = repeatedCall(value);
  if (repeated !== undefined) {
    context.addIssue({ code: 'custom', message: `call ${repeated} stands twice in one message` });
  }
});

/** The words of a prompt. A tool call in them would be one that nobody made, a result an answer to no call. */
export const promptParts: z.ZodType<readonly Part[]> = parts.refine(
  (value) => value.every(({ type }) => type !== 'tool_call' && type !== 'tool_result'),
  'a prompt has no tool calls and no results: append a message',
);

function repeatedCall(value: readonly Part[]): string | undefined {
  const seen = new Set<string>();
  for (const item of value) {
    if (item.type !== 'tool_call' && item.type !== 'tool_result') continue;
    const key = `${item.type} ${item.callId}`;
    if (seen.has(key)) return item.callId;
    seen.add(key);
  }
  return undefined;
}

export const author: z.ZodType<Author> = z.strictObject({
  id: shortText,
  kind: z.enum(['human', 'agent', 'system']),
  name: shortText.optional(),
});

const notes = {
  author: author.optional(),
  status: z.enum(['complete', 'incomplete']).optional(),
  finishReason: shortText.optional(),
  visibility: z.enum(['all', 'model', 'user']).optional(),
  metadata: json.optional(),
  occurredAt: shortText.optional(),
  taskId: id.optional(),
};

export const messageNotes: z.ZodType<MessageNotes> = z.strictObject(notes);

const role: z.ZodType<Role> = z.enum(ROLES);

/** What a message says, whatever else it holds; for messages that are stored already, so without limits. */
export const saidMessage: z.ZodType<Pick<NewMessage, 'role' | 'parts'>> = z.looseObject({
  role,
  parts: z.array(part),
});

export const newMessage: z.ZodType<NewMessage> = z.strictObject({
  role,
  parts,
  ...notes,
  messageId: id.optional(),
});

/** Shapes as zod compiles them: they only answer yes or no. */
const compiled = new WeakMap<z.ZodType, z.ZodType>();

/** Throws the first problem of `value` as `invalid_value` or `limit_exceeded`, with the path of the part at fault. */
export function assertShape<Value>(shape: z.ZodType<Value>, value: unknown, path: string): asserts value is Value {
  let fast = compiled.get(shape);
  if (!fast) compiled.set(shape, (fast = z.compile(shape)));
  if (fast.validate(value)) return;
  const result = shape.safeParse(value);
  if (!result.success) throw firstProblem(result.error.issues, path);
}

function firstProblem(issues: readonly z.core.$ZodIssue[], path: string): TurnkeepError {
  const issue = deepest(issues);
  const place = issue.path.reduce<string>(stepInto, path);
  const params =
    issue.code === 'custom' ? (issue.params as { limit?: LimitName; actual?: number } | undefined) : undefined;
  if (params?.limit !== undefined) {
    const { limit, actual } = params;
    return new TurnkeepError('limit_exceeded', { limit, max: LIMITS[limit], actual, path: place });
  }
  return new TurnkeepError('invalid_value', { path: place, reason: issue.message });
}

function stepInto(path: string, step: PropertyKey): string {
  return typeof step === 'number' ? `${path}[${step}]` : memberPath(path, String(step));
}

/** The most informative issue: inside a union, that of the member that got furthest. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  const issue = issues[0] as z.core.$ZodIssue;
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const inner = issue.errors.filter((list) => list.length > 0).map((list) => deepest(list));
  const best = inner.sort((left, right) => right.path.length - left.path.length)[0];
  return best && best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue;
}
