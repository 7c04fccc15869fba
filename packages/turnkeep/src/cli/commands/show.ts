import { isTurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ConversationInfo } from '../../core/read/listing.ts';
import type { Message } from '../../core/read/message.ts';
import type { Conversation } from '../../ledger/conversation.ts';
import type { MessagePage, MessageWindow } from '../../ledger/readings.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { messageLines } from '../message-lines.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { safeLine } from '../terminal-text.ts';

export interface ShowOptions extends CommonOptions {
  readonly leaf?: string | undefined;
  readonly at?: number | undefined;
  readonly limit?: number | undefined;
  readonly full?: boolean | undefined;
}

/** A message with whether its turn has yet to start. */
interface Shown {
  readonly message: Message;
  readonly pending: boolean;
}

/** `turnkeep show`: the transcript of a path, root first. A damaged message stands there, marked, and the exit code says so. */
export async function runShow(shell: Shell, conversationId: string, options: ShowOptions): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  await readStore(shell, options, async (namespace) => {
    const conversation = namespace.conversation(conversationId);
    const info = await conversation.info();
    if (options.at !== undefined) await conversation.at(options.at);
    let count = 0;
    for await (const shown of messagesOf(conversation, options)) {
      shell.signal.throwIfAborted();
      // Not before the first message: a path that is not there has no head either.
      if (count === 0 && !options.json) await printHead(shell, info, options);
      await print(shell, shown, options);
      if (shown.message.damage) exit = EXIT.damage;
      count++;
    }
    if (!options.json && count === 0) await shell.out.line('No messages on this path.');
    await shell.out.flush();
  });
  return exit;
}

async function printHead({ out }: Shell, info: ConversationInfo, { leaf, at }: ShowOptions): Promise<void> {
  await out.line(out.colors.bold(safeLine(info.title ?? '(no title)')));
  const which = leaf === undefined ? 'the active path' : `the path to ${leaf}`;
  const when = at === undefined ? `version ${info.version}` : `version ${at} of ${info.version}`;
  await out.line(out.colors.dim(safeLine(`${info.conversationId} · ${which} · ${when}`)));
}

async function print({ out }: Shell, { message, pending }: Shown, { json, full }: ShowOptions): Promise<void> {
  if (json) return out.json(pending ? { ...message, pending } : message);
  await out.line();
  await out.lines(messageLines(message, { colors: out.colors, full: full ?? false }));
  if (pending) await out.line(out.colors.dim('    (this turn has not started)'));
}

async function* messagesOf(conversation: Conversation, options: ShowOptions): AsyncGenerator<Shown> {
  const { limit, at } = options;
  if (limit === undefined) yield* pathMessages(conversation, options);
  else if (at === undefined) yield* newestMessages(conversation, limit, options.leaf);
  else yield* lastOf(pathMessages(conversation, options), limit);
}

async function* pathMessages(conversation: Conversation, { leaf, at }: ShowOptions): AsyncGenerator<Shown> {
  let after: string | undefined;
  do {
    const path = { leaf, atVersion: at, damaged: 'mark' as const };
    const page: MessagePage = await conversation.page({ ...path, ...(after === undefined ? {} : { after }) });
    for (const message of page.messages) yield { message, pending: false };
    for (const message of page.pending) yield { message, pending: true };
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/**
 * The newest messages of a path, read from its end: a long conversation costs no more than a short one. A tool call and
 * its results that alone are more than the limit are shown whole.
 */
async function* newestMessages(
  conversation: Conversation,
  limit: number,
  leaf: string | undefined,
): AsyncGenerator<Shown> {
  const windows: (readonly Message[])[] = [];
  let missing = limit;
  let before: string | undefined;
  do {
    const window = await windowOf(conversation, missing, windows.length === 0, {
      ...(leaf === undefined ? {} : { leaf }),
      ...(before === undefined ? {} : { before }),
    });
    windows.unshift(window.messages);
    missing -= window.messages.length;
    before = window.before ?? undefined;
  } while (missing > 0 && before !== undefined);
  for (const message of windows.flat()) yield { message, pending: false };
}

/** A window of at most so many messages; where the first group is larger, that group if it is the first of all. */
async function windowOf(
  conversation: Conversation,
  count: number,
  isFirst: boolean,
  where: { readonly leaf?: TurnId; readonly before?: string },
): Promise<MessageWindow> {
  try {
    return await conversation.window(Math.min(count, LIMITS.pageMessages), { ...where, damaged: 'mark' });
  } catch (error) {
    if (!isTurnkeepError(error, 'group_too_large')) throw error;
    return isFirst
      ? conversation.window(error.details.count, { ...where, damaged: 'mark' })
      : { messages: [], before: null };
  }
}

async function* lastOf(all: AsyncIterable<Shown>, limit: number): AsyncGenerator<Shown> {
  let kept: Shown[] = [];
  for await (const shown of all) {
    kept.push(shown);
    if (kept.length >= limit * 2) kept = kept.slice(-limit);
  }
  yield* kept.slice(-limit);
}
