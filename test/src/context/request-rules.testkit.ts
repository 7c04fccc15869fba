import type { Json, JsonObject } from 'turnkeep';
import type { RequestFormat } from 'turnkeep';

/**
 * What each API demands of the order of messages beyond their shapes, as its documentation says. Each answers the faults that
 * it finds.
 */
export const RULES: { readonly [Format in RequestFormat]: (messages: readonly JsonObject[]) => readonly string[] } = {
  anthropic: anthropicFaults,
  'openai-chat': chatFaults,
  'openai-responses': responsesFaults,
  'ai-sdk': aiSdkFaults,
};

/** The list of messages of a request, and the rest of it. */
export function messagesOf(request: JsonObject): readonly JsonObject[] {
  return (request['messages'] ?? request['input'] ?? []) as readonly JsonObject[];
}

function blocksOf(message: JsonObject | undefined): readonly JsonObject[] {
  const content = message?.['content'];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}

function ids(blocks: readonly JsonObject[], type: string, key: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).map((block) => block[key] as string);
}

function repeated(all: readonly string[]): readonly string[] {
  return all.filter((id, at) => all.indexOf(id) !== at).map((id) => `the id ${id} stands twice`);
}

function emptyTexts(messages: readonly JsonObject[]): readonly string[] {
  return messages.flatMap((message, at) => {
    const blocks = blocksOf(message);
    const isEmpty = blocks.some((block) => typeof block['text'] === 'string' && block['text'].trim() === '');
    return isEmpty ? [`message ${at} has an empty text`] : [];
  });
}

/** Turns alternate from the user's on; a turn with calls is followed by all their results, before anything else. */
function anthropicFaults(messages: readonly JsonObject[]): readonly string[] {
  const faults: string[] = [...emptyTexts(messages)];
  const calls: string[] = [];
  if (messages.length > 0 && messages[0]?.['role'] !== 'user') faults.push('the first message is not the user’s');
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const before = messages[at - 1];
    if (blocks.length === 0) faults.push(`message ${at} has no content`);
    if (before && before['role'] === message['role']) faults.push(`message ${at} does not alternate`);
    const asked = before?.['role'] === 'assistant' ? ids(blocksOf(before), 'tool_use', 'id') : [];
    const answered = ids(blocks, 'tool_result', 'tool_use_id');
    if (!sameSet(asked, answered)) faults.push(`message ${at} answers ${answered.join()} and not ${asked.join()}`);
    const lastResult = blocks.findLastIndex((block) => block['type'] === 'tool_result');
    if (lastResult >= answered.length) faults.push(`message ${at} has results behind other content`);
    calls.push(...ids(blocks, 'tool_use', 'id'));
  }
  if (ids(blocksOf(messages.at(-1)), 'tool_use', 'id').length > 0)
    faults.push('the last message has calls without results');
  for (const id of calls) if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) faults.push(`the id ${id} is none`);
  return [...faults, ...repeated(calls)];
}

/** A message with calls is followed at once by one message for each of them; no other message has the role `tool`. */
function chatFaults(messages: readonly JsonObject[]): readonly string[] {
  const faults: string[] = [...emptyTexts(messages)];
  const calls: string[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as JsonObject;
    if (message['role'] === 'tool') faults.push(`message ${at} answers nothing`);
    const asked = ((message['tool_calls'] ?? []) as readonly JsonObject[]).map((call) => call['id'] as string);
    if (
      message['role'] === 'assistant' &&
      asked.length === 0 &&
      blocksOf(message).length === 0 &&
      !message['refusal']
    ) {
      faults.push(`message ${at} says nothing`);
    }
    calls.push(...asked);
    const answers = messages.slice(at + 1, at + 1 + asked.length);
    const answered = answers.map((answer) => answer['tool_call_id'] as string);
    if (!sameSet(asked, answered)) faults.push(`message ${at} asks ${asked.join()} and gets ${answered.join()}`);
    at += asked.length;
  }
  return [...faults, ...repeated(calls)];
}

/** Each call has one output after it, each output its call before it; reasoning is followed by what it led to. */
function responsesFaults(items: readonly JsonObject[]): readonly string[] {
  const faults: string[] = [...emptyTexts(items)];
  const place = (type: string) =>
    new Map(items.flatMap((item, at) => (item['type'] === type ? [[item['call_id'] as string, at]] : [])));
  const calls = place('function_call');
  const outputs = place('function_call_output');
  for (const [id, at] of calls) if ((outputs.get(id) ?? -1) < at) faults.push(`call ${id} has no output`);
  for (const [id, at] of outputs) if ((calls.get(id) ?? at) >= at) faults.push(`output ${id} has no call`);
  for (const [at, item] of items.entries()) {
    const next = items[at + 1];
    const isAnswer =
      next && (next['role'] === 'assistant' || next['type'] === 'function_call' || next['type'] === 'reasoning');
    if (item['type'] === 'reasoning' && !isAnswer) faults.push(`reasoning at ${at} leads to nothing`);
  }
  const all = items.filter((item) => item['type'] === 'function_call').map((item) => item['call_id'] as string);
  return [...faults, ...repeated(all)];
}

/** A message with calls is followed by one message with the results of all of them. */
function aiSdkFaults(messages: readonly JsonObject[]): readonly string[] {
  const faults: string[] = [...emptyTexts(messages)];
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    const asked = before?.['role'] === 'assistant' ? ids(blocksOf(before), 'tool-call', 'toolCallId') : [];
    const answered = message['role'] === 'tool' ? ids(blocksOf(message), 'tool-result', 'toolCallId') : [];
    if (!sameSet(asked, answered)) faults.push(`message ${at} answers ${answered.join()} and not ${asked.join()}`);
    if (message['role'] === 'system') faults.push(`message ${at} is the system’s`);
  }
  if (ids(blocksOf(messages.at(-1)), 'tool-call', 'toolCallId').length > 0)
    faults.push('the last calls have no results');
  return [...faults, ...repeated(messages.flatMap((message) => ids(blocksOf(message), 'tool-call', 'toolCallId')))];
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}

/** The characters of every text and key of a value: what a counter that counts characters says at least. */
export function charactersOf(value: Json | undefined): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + charactersOf(item), 0);
  return Object.entries(value).reduce((sum, [key, member]) => sum + key.length + charactersOf(member), 0);
}

/** The blocks of a request's messages one after the other, the notes aside: what is compared as a prefix. */
export function flattened(messages: readonly JsonObject[]): readonly string[] {
  const blocks = messages.flatMap((message) => {
    const { content, ...rest } = message;
    return [...blocksOf(message).map((block) => JSON.stringify([message['role'], block])), ...extra(rest, content)];
  });
  return blocks.filter((block) => !block.includes('<notes>'));
}

function extra(rest: JsonObject, content: Json | undefined): readonly string[] {
  const { role: _role, ...other } = rest;
  return Object.keys(other).length > 0 || content === undefined ? [JSON.stringify(other)] : [];
}
