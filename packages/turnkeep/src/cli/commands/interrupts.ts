import type { OpenInterrupt } from '../../ledger/interrupts.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import { jsonText } from '../json-text.ts';
import { JsonList } from '../output.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { clip, minuteOf, safeLine } from '../terminal-text.ts';

export interface InterruptsOptions extends CommonOptions {
  readonly turn?: string | undefined;
}

/** `turnkeep interrupts`: the questions that turns wait on, of the namespace or a conversation; of a turn, all that it asked. */
export async function runInterrupts(
  shell: Shell,
  conversationId: string | undefined,
  options: InterruptsOptions,
): Promise<ExitCode> {
  const { out, signal } = shell;
  if (options.turn !== undefined && conversationId === undefined)
    throw usageError('--turn', 'expected its conversation as well');
  await readStore(shell, options, async (namespace) => {
    let count = 0;
    const list = options.json ? new JsonList(out, 'interrupts') : undefined;
    for await (const interrupt of interruptsOf(namespace, conversationId, options, signal)) {
      signal.throwIfAborted();
      if (list) await list.add(interrupt);
      else await print(shell, interrupt);
      count += 1;
    }
    if (list) await list.end();
    else if (count === 0) await out.line(options.turn === undefined ? 'No open interrupts.' : 'No interrupts.');
    await out.flush();
  });
  return EXIT.ok;
}

async function* interruptsOf(
  namespace: Namespace,
  conversationId: string | undefined,
  { turn }: InterruptsOptions,
  signal: AbortSignal,
): AsyncGenerator<OpenInterrupt> {
  if (conversationId === undefined) {
    yield* namespace.interrupts({ signal });
    return;
  }
  for (const interrupt of await namespace.conversation(conversationId).interrupts(turn)) {
    yield { ...interrupt, conversationId };
  }
}

async function print({ out }: Shell, interrupt: OpenInterrupt): Promise<void> {
  const { colors } = out;
  const { conversationId, interruptId, type, status, requestedAt, expiresAt, payload, answer } = interrupt;
  const paint = status === 'open' ? colors.yellow : colors.dim;
  const facts = [minuteOf(requestedAt), ...(expiresAt === null ? [] : [`until ${minuteOf(expiresAt)}`])];
  await out.line(
    `${paint(status)}  ${safeLine(type)}  ${colors.bold(safeLine(interruptId))}  ${colors.dim(`${safeLine(conversationId)} · ${facts.join(' · ')}`)}`,
  );
  const room = Math.max(24, (out.columns ?? 160) - 4);
  if (payload !== undefined) await out.line(`    ${clip(safeLine(jsonText(payload)), room)}`);
  if (answer) {
    const words = `← ${answer.by}: ${jsonText(answer.response)}`;
    await out.line(`    ${clip(safeLine(words), room)}`);
  }
}
