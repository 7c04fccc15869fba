import type { Cost, DayUsage, UsageTotal } from '../../core/read/usage.ts';
import type { UsageCounts } from '../../core/usage-sum.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { tableLines } from '../table.ts';
import { grouped, safeLine } from '../terminal-text.ts';

export interface UsageOptions extends CommonOptions {
  readonly turn?: string | undefined;
  readonly days?: boolean | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** `turnkeep usage`: what the model calls of a conversation, of one of its turns, or of the namespace used. */
export async function runUsage(
  shell: Shell,
  conversationId: string | undefined,
  options: UsageOptions,
): Promise<ExitCode> {
  const { turn, days, from, to } = options;
  const isByDay = days === true || from !== undefined || to !== undefined;
  if (turn !== undefined && conversationId === undefined)
    throw usageError('--turn', 'expected its conversation as well');
  if (turn !== undefined && isByDay) throw usageError('--turn', 'a turn has a total, no days');
  if (isByDay) await showDays(shell, conversationId, options);
  else await showTotal(shell, conversationId, options);
  return EXIT.ok;
}

async function showDays(shell: Shell, conversationId: string | undefined, options: UsageOptions): Promise<void> {
  const { from, to } = options;
  const days = await readStore(shell, options, (namespace) => {
    const { usage } = conversationId === undefined ? namespace : namespace.conversation(conversationId);
    return usage.byDay({ from, to });
  });
  if (options.json) return shell.out.json({ days });
  if (days.length === 0) return shell.out.line('No usage.');
  return shell.out.lines(usageTable(shell, 'DAY', days.map(dayCells)));
}

async function showTotal(shell: Shell, conversationId: string | undefined, options: UsageOptions): Promise<void> {
  const { turn } = options;
  const total = await readStore(shell, options, (namespace) => {
    if (conversationId === undefined) return namespace.usage.total();
    const { usage } = namespace.conversation(conversationId);
    return turn === undefined ? usage.total() : usage.ofTurn(turn);
  });
  if (options.json) return shell.out.json(total);
  if (total.calls === 0) return shell.out.line('No usage.');
  return shell.out.lines(usageTable(shell, 'MODEL', modelCells(total)));
}

type Cells = readonly string[];

/** Each model's share, and the sum where there are several. */
function modelCells(total: UsageTotal): readonly Cells[] {
  const models = total.models.map((model) => cellsOf(`${model.provider} ${model.model}`, model));
  return models.length === 1 ? models : [...models, cellsOf('all', total)];
}

function dayCells(day: DayUsage): Cells {
  return cellsOf(day.day, day);
}

function cellsOf(name: string, counts: UsageCounts & { readonly cost: Cost }): Cells {
  const { calls, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens, cost } = counts;
  const numbers = [calls, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens];
  const amounts = Object.entries(cost).map(([currency, amount]) => `${amount} ${currency}`);
  return [safeLine(name), ...numbers.map(grouped), safeLine(amounts.join(', '))];
}

function usageTable({ out }: Shell, first: string, rows: readonly Cells[]): Generator<string> {
  const heads = ['CALLS', 'INPUT', 'CACHED', 'CACHE WRITES', 'OUTPUT', 'REASONING'];
  const numbers = heads.map((head) => ({ head, align: 'right' as const }));
  return tableLines([{ head: first, paint: out.colors.cyan }, ...numbers, { head: 'COST' }], rows, out.colors.bold);
}
