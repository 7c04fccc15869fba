import { randomUUID } from 'node:crypto';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import { changeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted, safeLine } from '../terminal-text.ts';

export interface EraseOptions extends CommonOptions {
  readonly subject?: string | undefined;
  readonly reason?: string | undefined;
  readonly yes?: boolean | undefined;
}

/** `turnkeep erase`: erases a conversation, or all that a person owns and wrote. */
export async function runErase(
  shell: Shell,
  conversationId: string | undefined,
  options: EraseOptions,
): Promise<ExitCode> {
  const { subject, yes } = options;
  if ((conversationId === undefined) === (subject === undefined))
    throw usageError('erase', 'expected a conversation, or --subject with the id of a person');
  if (!yes) throw usageError('--yes', 'what is erased cannot come back: say --yes as well');
  if (subject === undefined) await eraseConversation(shell, conversationId ?? '', options);
  else await erasePerson(shell, subject, options);
  return EXIT.ok;
}

async function eraseConversation(shell: Shell, conversationId: string, options: EraseOptions): Promise<void> {
  const { info, receipt } = await changeStore(shell, options, async (namespace) => {
    const conversation = namespace.conversation(conversationId);
    // An erasure of what is not there would leave a tombstone in its place.
    const before = await conversation.info();
    return { info: before, receipt: await conversation.erase({ reason: options.reason }) };
  });
  if (options.json) return shell.out.json(receipt);
  const amount = `${counted(info.turnCount, 'turn')}, ${counted(info.messageCount, 'message')}`;
  await shell.out.line(`${shell.out.colors.green('✓ erased')} ${safeLine(conversationId)}, ${amount}`);
  return printRest(shell);
}

async function erasePerson(shell: Shell, subjectId: string, options: EraseOptions): Promise<void> {
  const { reason } = options;
  // What a run left undone, the next one finds again: it need not know the key.
  const how = { idempotencyKey: `erase ${randomUUID()}`, reason, signal: shell.signal };
  const erased = await changeStore(shell, options, (namespace) => namespace.eraseSubject(subjectId, how));
  if (options.json) return shell.out.json(erased);
  const amount = [
    counted(erased.conversationsErased, 'conversation'),
    `${counted(erased.messagesRedacted, 'message')} redacted`,
    `${counted(erased.memoriesForgotten, 'memory', 'memories')} forgotten`,
  ];
  await shell.out.line(`${shell.out.colors.green('✓ erased')} ${safeLine(subjectId)}: ${amount.join(', ')}`);
  return printRest(shell);
}

/** Nothing reads the words any more; the files still hold them. */
async function printRest({ out }: Shell): Promise<void> {
  await out.line(
    out.colors.dim('The files hold the words until the store has collected them; turnkeep maintain does it now.'),
  );
}
