import type { UsageRecord } from 'turnkeep/core';
import type { Spent } from './model.ts';

const COUNTS = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'latencyMs',
] as const;

/** What calls used together, and what those of each model did. */
export function usageTotal(all: readonly Spent[]): object {
  const names = [...new Set(all.map(({ words }) => JSON.stringify([words['provider'], words['model']])))];
  const models = names.map((name) => {
    const [provider, model] = JSON.parse(name) as [string, string];
    const theirs = all.filter(({ words }) => words['provider'] === provider && words['model'] === model);
    return { provider, model, ...together(theirs) };
  });
  return { ...together(all), models: models.sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1)) };
}

/** The same by day, in UTC. */
export function usageByDay(all: readonly Spent[]): readonly object[] {
  const days = [...new Set(all.map(dayOf))].sort();
  return days.map((day) => ({ day, ...usageTotal(all.filter((one) => dayOf(one) === day)) }));
}

function dayOf({ at }: Spent): string {
  return new Date(at).toISOString().split('T')[0] ?? '';
}

function together(all: readonly Spent[]): object {
  const said = all.map(({ words }) => words as unknown as UsageRecord);
  const counts = COUNTS.map((count) => [count, said.reduce((all, one) => all + (one[count] ?? 0), 0)] as const);
  const currencies = [...new Set(said.flatMap((one) => one.cost?.currency ?? []))];
  const inCurrency = (currency: string) =>
    said.flatMap((one) => (one.cost?.currency === currency ? one.cost.amount : []));
  const cost = currencies.map((currency) => [currency, sum(inCurrency(currency))] as const);
  return { calls: all.length, ...Object.fromEntries(counts), cost: Object.fromEntries(cost) };
}

/** Whole units of the smallest place that anybody wrote. */
function sum(amounts: readonly string[]): string {
  const places = Math.max(...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
  let units = 0n;
  for (const amount of amounts) {
    const [whole = '', fraction = ''] = amount.split('.');
    units += BigInt(whole) * 10n ** BigInt(places) + BigInt(`0${fraction.padEnd(places, '0')}`);
  }
  const unit = 10n ** BigInt(places);
  return places === 0 ? `${units}` : `${units / unit}.${`${units % unit}`.padStart(places, '0')}`;
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} ${model}`;
}
