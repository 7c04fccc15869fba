import type { Expect } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { MessageId, TurnId } from '../../core/ids.ts';
import type { MessageContent } from '../../core/message.ts';
import { lateResults } from '../../core/read/late.ts';
import { readMessage } from '../../core/read/message.ts';
import type { Message } from '../../core/read/message.ts';
import { readCommitments, readState, readSummary } from '../../core/read/state.ts';
import type { Summary } from '../../core/read/state.ts';
import { lastSequenceOn } from '../../core/tree/messages.ts';
import { pathTo } from '../../core/tree/path.ts';
import type { View } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { countedTokens } from './count.ts';
import { cutsOf, startOf } from './cuts.ts';
import { modelView, toldInWords } from './model-view.ts';
import type { ModelView } from './model-view.ts';
import { notesOf } from './notes.ts';
import type { NoteSources, Notes } from './notes.ts';
import { attachmentUrls, memoriesFor } from './outside.ts';
import { fullPolicy } from './policy.ts';
import type { ContextPolicy, FullPolicy } from './policy.ts';
import type { ContextLeftOut, ContextRepair, ContextReport } from './report.ts';
import { beginsWithAnswer, builtRequest, userText } from './request.ts';
import type { BuiltRequest, ContextRequest } from './request.ts';
import { firstAfter } from './summary-batch.ts';
import { counterOnce, defaultCounter, tokensOf } from './tokens.ts';
import type { TokenCounter } from './tokens.ts';
import { Transcript } from './transcript.ts';
import type { Line } from './transcript.ts';

/** A request that fits its budget. */
export interface ReadyContext {
  readonly status: 'ready';
  /** What the provider's API takes; the caller adds the model and its settings. */
  readonly request: ContextRequest;
  readonly report: ContextReport;
  /**
   * Indexes into the request's messages, in rising order: the next request begins with the same messages up to and including
   * each, until the transcript's start moves. If a provider's cache can be marked, mark these.
   */
  readonly cacheBreakpoints: readonly number[];
  /** What the request was made from, for the `expect` of the turn's commits. */
  readonly transcript: NonNullable<Expect['transcript']>;
}

/** Not everything fits, and the policy asks for a summary of the oldest messages. `summarize` makes it. */
export interface SummaryRequired {
  readonly status: 'summary_required';
  /** The present summary, for the new one to continue; `null` if there is none. */
  readonly previous: Summary | null;
  /** What the new summary adds: results that came too late for the last one, then the messages after it, oldest first. */
  readonly messages: readonly Message[];
  /** The last message that the new summary covers: `upTo` of its commit. */
  readonly upTo: MessageId;
  /** The `expect` of its commit. */
  readonly expect: { readonly transcript: NonNullable<Expect['transcript']> };
  /** The most tokens of the new summary. */
  readonly maxTokens: number;
}

export type ContextAnswer = ReadyContext | SummaryRequired;

const LEFT_OUT = '[Earlier messages of this conversation are left out.]';
const BEGINNING = '[The conversation begins.]';

/** What one reading of the conversation finds, apart from the transcript. */
interface Facts extends Omit<NoteSources, 'memories'> {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  readonly transcript: NonNullable<Expect['transcript']>;
  readonly summary: Summary | undefined;
  /** Results that came after the summary of their calls. */
  readonly late: readonly Message[];
}

/**
 * What to give a model: instructions, summary, transcript and notes, within a budget. It only reads; the same conversation
 * and policy give the same result. `context_too_large` if not even the last message fits.
 */
export async function contextOf(access: ConversationAccess, policy: ContextPolicy): Promise<ContextAnswer> {
  const full = fullPolicy(policy);
  const counter = counterOnce(policy.counter ?? (await defaultCounter()));
  const facts = await access.view((view) => factsOf(view, full));
  return new Assembly(access, policy, full, counter, facts).answer();
}

function factsOf(view: View, policy: FullPolicy): Facts {
  const { tree, bodies } = view;
  const leaf = policy.leaf === undefined ? tree.head.leaf : policy.leaf;
  const path = () => pathTo(tree, leaf);
  const summary = readSummary(tree, bodies, path);
  const late = summary ? lateResults(tree, leaf, summary.upTo, summary.seen) : [];
  return {
    leaf,
    lastSequence: tree.head.lastSequence,
    transcript: { turn: leaf, lastSequence: lastSequenceOn(tree, path()) },
    summary,
    late: late.map((placed) => readMessage(tree, bodies, placed)),
    state: readState(tree, bodies, path),
    commitments: readCommitments(tree, bodies, path),
  };
}

class Assembly {
  readonly #access: ConversationAccess;
  readonly #asked: ContextPolicy;
  readonly #policy: FullPolicy;
  readonly #counter: TokenCounter;
  readonly #facts: Facts;
  readonly #costs = new Map<MessageId, number>();
  readonly #transcript: Transcript;
  readonly #instructions: number;
  readonly #tools: number;
  /** The late results that are shown. */
  #late: readonly Message[];
  #urls: ReadonlyMap<string, string> = new Map();

  constructor(
    access: ConversationAccess,
    asked: ContextPolicy,
    policy: FullPolicy,
    counter: TokenCounter,
    facts: Facts,
  ) {
    this.#access = access;
    this.#asked = asked;
    this.#policy = { ...policy, attachmentUrl: (digest) => this.#urls.get(digest) };
    this.#counter = counter;
    this.#facts = facts;
    this.#late = facts.late;
    this.#transcript = new Transcript(access, facts, facts.summary?.upTo);
    this.#instructions =
      policy.instructions === '' ? 0 : tokensOf({ role: 'system', content: policy.instructions }, counter);
    this.#tools = tokensOf(policy.tools, counter);
  }

  async answer(): Promise<ContextAnswer> {
    const room = this.#room();
    const hurry = await this.#fitLate(room);
    if (hurry) return hurry;
    const widest = room - this.#openingTokens();
    await this.#transcript.readUntil((lines) => lines.length > this.#policy.window || this.#costOf(lines) > widest);
    const { lines } = this.#transcript;
    this.#urls = await attachmentUrls(this.#asked, [...this.#late, ...lines.map(({ message }) => message)]);
    if (this.#urls.size > 0) this.#costs.clear();
    const sources = { ...this.#facts, memories: await memoriesFor(this.#access, this.#asked, lines) };
    const share = Math.min(room, this.#policy.notesTokens ?? Math.floor(room / 4));
    const notes = notesOf(sources, this.#policy, share, this.#counter);
    // The notes' whole share stays free for them, so that the start does not follow their length. If not even the last
    // messages fit then, they take what the notes leave, and finally the notes' own room.
    const none = notesOf(sources, this.#policy, 0, this.#counter);
    for (const [told, kept] of [
      [notes, share],
      [notes, notes.tokens],
      [none, 0],
    ] as const) {
      const answer = await this.#within(widest - kept, told);
      if (answer) return answer;
    }
    throw this.#nothingFits(widest);
  }

  /** Tokens for summary, transcript and notes. */
  #room(): number {
    const { budgetTokens, reserveOutputTokens } = this.#policy;
    const fixed = reserveOutputTokens + this.#instructions + this.#tools;
    if (fixed >= budgetTokens) throw this.#tooLarge('instructions', fixed + 1);
    return budgetTokens - fixed;
  }

  /**
   * Late results are shown as far as the last messages leave room for them, newest first; if a summary may be asked for, it
   * includes them. `context_too_large` if the summary itself is too large.
   */
  async #fitLate(room: number): Promise<SummaryRequired | undefined> {
    const { lines } = this.#transcript;
    if (this.#late.length > 0) await this.#transcript.readUntil((read) => read.length > 0);
    const last = this.#costOf(lines.slice(lastGroup(lines)));
    while (this.#late.length > 0 && this.#openingTokens() + last > room) this.#late = this.#late.slice(1);
    const opening = this.#openingTokens();
    if (opening >= room) throw this.#tooLarge('summary', this.#policy.budgetTokens - room + opening + 1);
    const isShort = this.#late.length < this.#facts.late.length;
    if (!isShort || this.#policy.whenFull !== 'summarize') return undefined;
    // A summary covers more than the last one did, and never what was just said.
    const isLastAlone = lastGroup(lines) === 0 && this.#transcript.isWhole;
    return isLastAlone ? undefined : this.#summaryRequired(lines[lastGroup(lines)]);
  }

  #tooLarge(what: 'instructions' | 'summary' | 'messages', neededTokens: number): TurnkeepError<'context_too_large'> {
    return new TurnkeepError('context_too_large', { what, budgetTokens: this.#policy.budgetTokens, neededTokens });
  }

  async #within(room: number, notes: Notes): Promise<ContextAnswer | undefined> {
    const { lines } = this.#transcript;
    const { window, batchTurns } = this.#policy;
    const costs = lines.map((line) => this.#cost(line.message));
    let start = lines.length === 0 ? 0 : startOf(lines, costs, { room, window, batchTurns });
    if (start === undefined || room < 0) return undefined;
    const isCut = start > 0 || !this.#transcript.isWhole;
    if (isCut && this.#policy.whenFull === 'summarize') return this.#summaryRequired(lines[start]);
    const cuts = cutsOf(lines.map((line) => line.message));
    for (; start >= 0; start = cuts.findIndex((isCutHere, at) => isCutHere && at > (start as number))) {
      const ready = this.#ready(lines, start, notes);
      if (ready.report.tokens.total <= this.#policy.budgetTokens) return ready;
    }
    return undefined;
  }

  #ready(lines: readonly Line[], start: number, notes: Notes): ReadyContext {
    const shown = lines.slice(start).map((line) => line.message);
    const isCut = start > 0 || !this.#transcript.isWhole;
    const view = modelView(shown, this.#policy.format);
    const opening = this.#opening(isCut, view);
    const parts = { opening, view, notes: notes.text };
    const built = builtRequest(this.#policy, parts);
    const tokens = countedTokens(this.#policy, parts, this.#counter);
    const reserved = this.#policy.reserveOutputTokens;
    const openingTokens = opening.length === 0 ? 0 : this.#openingTokens();
    const instructions = this.#instructions;
    const total = reserved + instructions + this.#tools + tokens;
    return {
      status: 'ready',
      request: built.request,
      cacheBreakpoints: built.cacheBreakpoints,
      transcript: this.#facts.transcript,
      report: {
        tokens: {
          budget: this.#policy.budgetTokens,
          reserved,
          instructions,
          tools: this.#tools,
          summary: openingTokens,
          transcript: Math.max(0, tokens - openingTokens - notes.tokens),
          notes: notes.tokens,
          total,
        },
        start: shown[0]?.messageId ?? null,
        shown: shown.length,
        leftOut: this.#leftOut(isCut ? shown[0] : undefined, view.leftOut, built, notes),
        repairs: [...this.#lateRepairs(), ...view.repairs],
      },
    };
  }

  #leftOut(
    start: Message | undefined,
    ofView: readonly ContextLeftOut[],
    built: BuiltRequest,
    notes: Notes,
  ): readonly ContextLeftOut[] {
    const why = this.#transcript.lines.length > this.#policy.window ? 'window' : 'budget';
    const before: readonly ContextLeftOut[] = start
      ? [{ what: 'messages_before', messageId: start.messageId, why }]
      : [];
    const late = this.#facts.late.slice(0, -this.#late.length || undefined);
    const unsaid = late.map(({ messageId }): ContextLeftOut => ({ what: 'message', messageId, why: 'budget' }));
    return [...before, ...unsaid, ...ofView, ...built.leftOut, ...notes.leftOut];
  }

  /** The summary with what came late to it; without a summary, a line that says that something is missing. */
  #opening(isCut: boolean, view?: ModelView): readonly MessageContent[] {
    const { summary } = this.#facts;
    if (summary) return [userText(`[Summary of the conversation so far]\n${summary.text}`), ...this.#lateInWords()];
    if (isCut) return [userText(LEFT_OUT)];
    return view && beginsWithAnswer(this.#policy, view) ? [userText(BEGINNING)] : [];
  }

  #lateInWords(): readonly MessageContent[] {
    return this.#late.flatMap((message) =>
      message.parts.flatMap((part) => (part.type === 'tool_result' ? [toldInWords(part)] : [])),
    );
  }

  #lateRepairs(): readonly ContextRepair[] {
    return this.#late.flatMap(({ messageId, parts }) =>
      parts.flatMap((part) =>
        part.type === 'tool_result' ? [{ what: 'late_result' as const, messageId, callId: part.callId }] : [],
      ),
    );
  }

  #openingTokens(): number {
    const opening = this.#opening(true);
    return countedTokens(this.#policy, { opening, view: modelView([], this.#policy.format), notes: '' }, this.#counter);
  }

  /** What a message costs as it stands. Repairs may cost more: the whole request is counted again before it is returned. */
  #cost(message: Message): number {
    const known = this.#costs.get(message.messageId);
    if (known !== undefined) return known;
    const messages = message.visibility === 'user' ? [] : [{ content: message, from: message.messageId }];
    const view = { messages, leftOut: [], repairs: [] };
    const cost = countedTokens(this.#policy, { opening: [], view, notes: '' }, this.#counter);
    this.#costs.set(message.messageId, cost);
    return cost;
  }

  #costOf(lines: readonly Line[]): number {
    return lines.reduce((sum, line) => sum + this.#cost(line.message), 0);
  }

  /** Not even the last group of the transcript fits: the window, or the budget. */
  #nothingFits(widest: number): TurnkeepError {
    const { lines } = this.#transcript;
    const last = lastGroup(lines);
    const count = lines.length - last;
    if (count > this.#policy.window) return new TurnkeepError('group_too_large', { count });
    const least = Math.max(widest + 1, this.#costOf(lines.slice(last)));
    return this.#tooLarge('messages', this.#policy.budgetTokens - widest + least);
  }

  async #summaryRequired(start: Line | undefined): Promise<SummaryRequired> {
    const { summary, late, transcript } = this.#facts;
    const room = this.#room();
    const options = {
      end: start?.message.messageId,
      most: this.#policy.summaryMessages,
      room,
      cost: (one: Message) => this.#cost(one),
    };
    const batch = await firstAfter(this.#access, this.#facts, summary?.upTo, options);
    return {
      status: 'summary_required',
      previous: summary ?? null,
      messages: [...late, ...batch],
      upTo: (batch.at(-1) as Message).messageId, // something is left out, so there is a first message
      expect: { transcript },
      maxTokens: Math.max(1, Math.floor(room / 4)),
    };
  }
}

/** Where the last group, which no cut splits, starts. */
function lastGroup(lines: readonly Line[]): number {
  return Math.max(0, cutsOf(lines.map((line) => line.message)).lastIndexOf(true));
}
