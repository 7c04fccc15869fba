import type { Memory } from '../../core/read/memories.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { minuteOf, safeLine, safeText } from '../terminal-text.ts';

export interface MemoriesOptions extends CommonOptions {
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  readonly limit?: number | undefined;
}

/** `turnkeep memories`: all memories of a namespace in the order in which they were made, or those that answer a query best. */
export async function runMemories(
  shell: Shell,
  query: string | undefined,
  options: MemoriesOptions,
): Promise<ExitCode> {
  const { type, subject, limit } = options;
  const memories = await readStore(shell, options, async ({ memories: all }) => {
    if (query !== undefined) return all.search(query, { type, subject, limit });
    const found = await all.list({ type, subject });
    return limit === undefined ? found : found.slice(-limit);
  });
  if (options.json) await shell.out.json({ memories });
  else if (memories.length === 0) await shell.out.line('No memories.');
  else for (const memory of memories) await print(shell, memory);
  return EXIT.ok;
}

async function print({ out }: Shell, memory: Memory): Promise<void> {
  const { memoryId, revision, text, type, subject, updatedAt, conversationId } = memory;
  const facts = [
    ...(type === undefined ? [] : [type]),
    ...(subject === undefined ? [] : [`about ${subject}`]),
    ...(revision === 0 ? [] : [`revision ${revision}`]),
    minuteOf(updatedAt),
    `from ${conversationId}`,
  ];
  await out.line(`${out.colors.cyan(safeLine(memoryId))}  ${out.colors.dim(safeLine(facts.join(' · ')))}`);
  for (const line of safeText(text).split('\n')) await out.line(line === '' ? '' : `    ${line}`);
}
