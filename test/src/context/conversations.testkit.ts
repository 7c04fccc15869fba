import * as fc from 'fast-check';
import type { Conversation, Ledger, NewMessage, Part } from 'turnkeep';

/** A conversation as it is told: turns on branches, with all that goes wrong with calls. */
export interface Told {
  readonly turns: readonly ToldTurn[];
}

export interface ToldTurn {
  /** Goes back to this earlier turn first, counted from the newest; 0 goes on. */
  readonly back: number;
  readonly question: number;
  readonly steps: readonly ToldStep[];
  /** Ends with an answer in words. */
  readonly answers: boolean;
  /** A summary of all so far is made after the turn. */
  readonly summarizes: boolean;
  /** A call of the turn gets its result only after the turn has ended. */
  readonly late: boolean;
}

export interface ToldStep {
  readonly says: 'nothing' | 'text' | 'reasoning' | 'signed' | 'blank';
  /** One character each: how many calls, and what becomes of their results. */
  readonly calls: readonly ('answered' | 'missing' | 'failed' | 'parts')[];
  readonly order: 'forwards' | 'backwards' | 'together' | 'interrupted' | 'inside';
  /** The calls' ids are those of the turn before. */
  readonly repeatsIds: boolean;
  readonly aside: 'none' | 'system' | 'hidden' | 'image' | 'file' | 'opaque';
}

const step: fc.Arbitrary<ToldStep> = fc.record({
  says: fc.constantFrom('nothing', 'text', 'reasoning', 'signed', 'blank'),
  calls: fc.array(fc.constantFrom('answered', 'answered', 'missing', 'failed', 'parts'), { maxLength: 3 }),
  order: fc.constantFrom('forwards', 'backwards', 'together', 'interrupted', 'inside'),
  repeatsIds: fc.boolean(),
  aside: fc.constantFrom('none', 'none', 'none', 'system', 'hidden', 'image', 'file', 'opaque'),
});

export const told: fc.Arbitrary<Told> = fc.record({
  turns: fc.array(
    fc.record({
      back: fc.constantFrom(0, 0, 0, 1, 2),
      question: fc.nat({ max: 40 }),
      steps: fc.array(step, { maxLength: 3 }),
      answers: fc.boolean(),
      summarizes: fc.constantFrom(false, false, false, true),
      late: fc.constantFrom(false, false, true),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

/** The text that marks what was said in a turn: it enters a context on that turn's path only. */
export function markOf(turn: number): string {
  return `<turn-${turn}>`;
}

/** Tells a conversation to a store. Answers the turns of its active path. */
export async function tell(ledger: Ledger, id: string, { turns }: Told): Promise<{ readonly path: readonly number[] }> {
  const conversation = ledger.namespace('n').conversation(id);
  const paths: number[][] = [];
  for (const [at, turn] of turns.entries()) {
    const parent = turn.back === 0 ? at - 1 : at - 1 - turn.back;
    await recordTurn(conversation, at, turn, parent, paths);
    paths.push([...(paths[parent] ?? []), at]);
    if (turn.late) await recordLate(conversation, at);
    if (turn.summarizes) await summarize(conversation, at);
  }
  return { path: paths.at(-1) ?? [] };
}

async function recordTurn(
  conversation: Conversation,
  at: number,
  turn: ToldTurn,
  parent: number,
  paths: readonly unknown[],
): Promise<void> {
  const messages = messagesOf(at, turn);
  const isNew = at === 0;
  const goesOn = turn.back === 0 || isNew;
  const revision = isNew ? 0 : (await conversation.info()).graphRevision;
  const under = goesOn ? {} : { parent: parent >= 0 && paths[parent] ? { turnId: `t${parent}` } : null };
  const options = goesOn ? {} : { expect: { graphRevision: revision } };
  await conversation.record({ turnId: `t${at}`, origin: 'told', ...under, messages }, options);
}

/** A turn's messages. */
export function messagesOf(at: number, turn: ToldTurn): readonly NewMessage[] {
  const question = `${markOf(at)} ${'word '.repeat(turn.question)}?`;
  const late: NewMessage[] = turn.late ? [{ role: 'assistant', parts: [call(lateId(at))] }] : [];
  const answer: NewMessage[] = turn.answers ? [{ role: 'assistant', parts: [text(`${markOf(at)} done`)] }] : [];
  return [
    { role: 'user', parts: [text(question)] },
    ...turn.steps.flatMap((one, index) => stepMessages(at, index, one)),
    ...late,
    ...answer,
  ];
}

function stepMessages(at: number, index: number, one: ToldStep): readonly NewMessage[] {
  const ids = one.calls.map((_call, place) =>
    one.repeatsIds ? `call.${index}:${place}` : `call-${at}-${index}-${place}`,
  );
  const calls = ids.map(call);
  const results = one.calls.flatMap((kind, place) =>
    kind === 'missing' ? [] : [result(at, ids[place] as string, kind)],
  );
  const ordered = one.order === 'backwards' ? results.toReversed() : results;
  const said = saidIn(at, one);
  if (one.order === 'inside') return [...asideOf(at, one), ...some('assistant', [...said, ...calls, ...results])];
  const answers =
    one.order === 'together' || one.order === 'interrupted'
      ? some(one.order === 'together' ? 'tool' : 'user', ordered)
      : ordered.map((part): NewMessage => ({ role: 'tool', parts: [part] }));
  const interruption: NewMessage[] =
    one.order === 'interrupted' ? [{ role: 'user', parts: [text(`${markOf(at)} wait`)] }] : [];
  return [...asideOf(at, one), ...some('assistant', [...said, ...calls]), ...interruption, ...answers];
}

function some(role: NewMessage['role'], parts: readonly Part[]): readonly NewMessage[] {
  return parts.length === 0 ? [] : [{ role, parts }];
}

function saidIn(at: number, { says }: ToldStep): readonly Part[] {
  switch (says) {
    case 'nothing':
      return [];
    case 'blank':
      return [text('  ')];
    case 'reasoning':
      return [{ type: 'reasoning', text: 'Let me see' }];
    case 'signed':
      return [{ type: 'reasoning', text: 'Let me see', signature: 'c2ln' }];
    default:
      return [text(`${markOf(at)} I look`)];
  }
}

function asideOf(at: number, { aside }: ToldStep): readonly NewMessage[] {
  switch (aside) {
    case 'none':
      return [];
    case 'system':
      return [{ role: 'system', parts: [text(`${markOf(at)} be kind`)] }];
    case 'hidden':
      return [{ role: 'assistant', visibility: 'user', parts: [text('hidden')] }];
    case 'image':
      return [{ role: 'user', parts: [file('image/png', 'data:image/png;base64,AAAA')] }];
    case 'file':
      return [{ role: 'assistant', parts: [file('text/csv', 'https://a.example/t.csv')] }];
    default:
      return [{ role: 'assistant', parts: [{ type: 'opaque', kind: 'acme.thing', value: { a: 1 } }] }];
  }
}

function file(mediaType: string, url: string): Part {
  return { type: 'file', mediaType, source: { url } };
}

function text(words: string): Part {
  return { type: 'text', text: words };
}

function call(callId: string): Part {
  return { type: 'tool_call', callId, name: 'look', input: { at: 'Oslo' } };
}

function result(at: number, callId: string, kind: 'answered' | 'failed' | 'parts'): Part {
  const base = { type: 'tool_result', callId, status: kind === 'failed' ? 'error' : 'ok' } as const;
  return kind === 'parts'
    ? { ...base, content: [text(`${markOf(at)} sun`)] }
    : { ...base, output: `${markOf(at)} sun` };
}

function lateId(at: number): string {
  return `late-${at}`;
}

async function recordLate(conversation: Conversation, at: number): Promise<void> {
  await conversation.append({ role: 'tool', parts: [result(at, lateId(at), 'answered')] });
}

async function summarize(conversation: Conversation, at: number): Promise<void> {
  const { messages } = await conversation.window(1, { leaf: `t${at}` }).catch(() => ({ messages: [] }));
  const last = messages.at(-1);
  if (!last) return;
  const page = await conversation.page({ limit: 1_000 });
  const lastSequence = Math.max(0, ...page.messages.map((message) => message.sequence));
  const expect = { transcript: { turn: `t${at}`, lastSequence } };
  await conversation.commitSummary({ upTo: last.messageId, text: `summary up to turn ${at}` }, { expect });
}
