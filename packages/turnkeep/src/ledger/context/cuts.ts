import type { MessageContent } from '../../core/message.ts';
import { isOtherTurn } from './transcript.ts';
import type { Line } from './transcript.ts';

type Said = Pick<MessageContent, 'role' | 'parts'>;

/**
 * Where a transcript may start: `true` at each message that no group crosses. A group is a call with its results, and
 * reasoning with what it led to.
 */
export function cutsOf(messages: readonly Said[]): readonly boolean[] {
  const cuts = messages.map(() => true);
  const calls = new Map<string, number>();
  for (const [at, message] of messages.entries()) {
    for (const part of message.parts) {
      if (part.type === 'tool_call') calls.set(part.callId, at);
      if (part.type !== 'tool_result') continue;
      const from = calls.get(part.callId);
      if (from === undefined) continue;
      calls.delete(part.callId);
      cuts.fill(false, from + 1, at + 1);
    }
    if (leadsOn(message) && at + 1 < cuts.length) cuts[at + 1] = false;
  }
  return cuts;
}

/** Reasoning alone: a provider refuses it without what it led to, and that without it. */
function leadsOn({ role, parts }: Said): boolean {
  return role === 'assistant' && parts.length > 0 && parts.every((part) => part.type === 'reasoning');
}

/** What a start must keep to. */
export interface StartOptions {
  readonly room: number;
  readonly window: number;
  readonly batchTurns: number;
}

/**
 * Where to start so that the rest fits: with the oldest line if everything fits, else at a turn whose place on the path
 * is a multiple of the batch, of half of it, of a quarter … — the coarsest that keeps at least half of what would fit. As the
 * conversation grows the start stays, and then moves by many turns at once. `undefined` if not even the last group fits.
 */
export function startOf(lines: readonly Line[], costs: readonly number[], options: StartOptions): number | undefined {
  const cuts = cutsOf(lines.map((line) => line.message));
  const after = costsAfter(costs);
  const fits = (at: number) => cuts[at] && (after[at] as number) <= options.room && lines.length - at <= options.window;
  const finest = lines.findIndex((_line, at) => fits(at));
  if (finest <= 0) return finest < 0 ? undefined : finest;
  for (let batch = options.batchTurns; batch >= 1; batch = Math.floor(batch / 2)) {
    const start = lines.findIndex((_line, at) => at >= finest && fits(at) && isBatchStart(lines, at, batch));
    if (start >= 0 && (after[start] as number) * 2 >= (after[finest] as number)) return start;
  }
  return finest;
}

function isBatchStart(lines: readonly Line[], at: number, batch: number): boolean {
  const line = lines[at] as Line;
  const before = lines[at - 1];
  return before !== undefined && isOtherTurn(before, line) && line.placed.depth % batch === 0;
}

/** What each line costs together with all lines after it. */
function costsAfter(costs: readonly number[]): readonly number[] {
  const sums = [...costs];
  for (let at = sums.length - 2; at >= 0; at--) sums[at] = (sums[at] as number) + (sums[at + 1] as number);
  return sums;
}
