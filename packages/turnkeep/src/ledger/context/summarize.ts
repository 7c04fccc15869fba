import type { SummaryCommit } from '../../core/change.ts';
import { isTurnkeepError, TurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Fence } from '../../core/message.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { assertNotAborted, orAborted } from '../../core/abort.ts';
import { abortSignal, anything, assertChecked, assertFits, callback, text, withFields } from '../given.ts';
import type { Checks } from '../given.ts';
import { contextOf } from './context.ts';
import type { ContextAnswer, SummaryRequired } from './context.ts';
import type { ContextPolicy } from './policy.ts';
import { counterOnce, defaultCounter } from './tokens.ts';

/**
 * Writes a summary of the previous one and the messages after it. A blank one is `invalid_value`, one longer than `maxTokens`
 * is `context_too_large`.
 */
export type Summarizer = (ask: SummaryRequired, signal: AbortSignal | undefined) => Promise<string>;

export interface SummarizeOptions {
  /** The most summaries that one call makes. 8 when absent. */
  readonly passes?: number | undefined;
  /** The claim of the attempt that writes, if one holds the turn. */
  readonly fence?: Fence | undefined;
  readonly signal?: AbortSignal | undefined;
}

// The commit checks the fence.
const SUMMARIZE: Checks<SummarizeOptions> = { passes: anything, fence: anything, signal: abortSignal };

/**
 * The context, with summaries made and committed until it fits. If the passes are not enough, the last answer is returned as
 * it is: `summary_required`. If another writer was faster, its summary is kept and the next one is asked for anew.
 */
export async function summarized(
  access: ConversationAccess,
  policy: ContextPolicy,
  summarizer: Summarizer,
  options: SummarizeOptions = {},
): Promise<ContextAnswer> {
  const own = withFields(policy, 'policy', {});
  assertFits(summarizer, callback, 'summarizer');
  assertChecked(options, SUMMARIZE);
  const asking: ContextPolicy = { ...own, whenFull: 'summarize' };
  const { passes = 8, signal, fence } = options;
  if (!Number.isSafeInteger(passes) || passes < 1) {
    throw new TurnkeepError('invalid_value', { path: 'options.passes', reason: 'a whole number from 1 on' });
  }
  assertNotAborted(signal);
  let answer = await contextOf(access, asking);
  for (let pass = 0; pass < passes && answer.status === 'summary_required'; pass++) {
    assertNotAborted(signal);
    const words = await orAborted(summarizer(answer, signal), signal);
    assertFits(words, text, 'summarizer');
    await assertShort(words, answer, own);
    await commitSummary(access, { answer, text: words, leaf: own.leaf, fence });
    answer = await contextOf(access, asking);
  }
  return answer;
}

/** A summary that fills the room could never be shortened: the next one has to cover more. */
async function assertShort(words: string, { maxTokens }: SummaryRequired, policy: ContextPolicy): Promise<void> {
  const counter = counterOnce(policy.counter ?? (await defaultCounter()));
  const neededTokens = counter.count(words);
  if (neededTokens <= maxTokens) return;
  throw new TurnkeepError('context_too_large', { what: 'summary', budgetTokens: maxTokens, neededTokens });
}

interface NewSummary {
  readonly answer: SummaryRequired;
  readonly text: string;
  readonly leaf: TurnId | null | undefined;
  readonly fence: Fence | undefined;
}

async function commitSummary(access: ConversationAccess, { answer, text, leaf, fence }: NewSummary): Promise<void> {
  const { upTo, expect } = answer;
  const place: Pick<SummaryCommit, 'turnId'> = leaf === undefined || leaf === null ? {} : { turnId: leaf };
  try {
    await access.write([{ kind: 'summary.commit', upTo, text, ...place }], { expect, fence });
  } catch (error) {
    if (!isTurnkeepError(error, 'conflict') && !isTurnkeepError(error, 'summary_not_longer')) throw error;
  }
}
