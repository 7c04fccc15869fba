import { canonical } from '../../core/encoding.ts';
import type { Json } from '../../core/json.ts';
import type { Answered } from '../../ledger/interrupts.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import { changeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { safeLine } from '../terminal-text.ts';

export interface AnswerCommandOptions extends CommonOptions {
  readonly by?: string | undefined;
  readonly conversation?: string | undefined;
  readonly value?: boolean | undefined;
}

/** `turnkeep answer`: answers an interrupt. The first answer stands; who comes later with another one is told so. */
export async function runAnswer(
  shell: Shell,
  interruptId: string,
  text: string,
  options: AnswerCommandOptions,
): Promise<ExitCode> {
  const by = options.by ?? (shell.env['USER'] || shell.env['LOGNAME'] || undefined);
  if (by === undefined) throw usageError('--by', 'expected a name: who answers');
  const response = options.value ? jsonOf(text) : text;
  const { conversation: conversationId } = options;
  const { answered, stands } = await changeStore(shell, options, async (namespace) => {
    const sent = { by, response, conversationId, signal: shell.signal };
    const done = await namespace.answer(interruptId, sent);
    return { answered: done, stands: done.first || (await isSaid(namespace, interruptId, done, { by, response })) };
  });
  if (options.json) await shell.out.json(answered);
  else await print(shell, interruptId, answered);
  return stands ? EXIT.ok : EXIT.conflict;
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw usageError('response', 'expected JSON, because of --value');
  }
}

/** True where the answer that stands is this one: it was sent before. */
async function isSaid(
  namespace: Namespace,
  interruptId: string,
  { conversationId }: Answered,
  said: { readonly by: string; readonly response: Json },
): Promise<boolean> {
  const interrupt = await namespace.conversation(conversationId).interrupt(interruptId);
  const { answer } = interrupt ?? {};
  return answer?.by === said.by && canonical(answer.response) === canonical(said.response);
}

async function print({ out }: Shell, interruptId: string, { first, turnId, conversationId }: Answered): Promise<void> {
  const place = out.colors.dim(safeLine(`${conversationId} · ${turnId}`));
  const says = first ? out.colors.green('✓ answered') : out.colors.yellow('answered before, and that answer stands:');
  await out.line(`${says} ${safeLine(interruptId)}  ${place}`);
}
