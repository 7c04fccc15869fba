import type { ConversationInfo } from '../../core/read/listing.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { tableLines } from '../table.ts';
import { clip, counted, grouped, minuteOf, safeLine } from '../terminal-text.ts';

export interface LsOptions extends CommonOptions {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly order?: 'activity' | 'created' | undefined;
  readonly archived?: boolean | undefined;
  readonly all?: boolean | undefined;
  readonly owner?: string | undefined;
  readonly label?: string | undefined;
}

const LIMIT = 50;

/** `turnkeep ls`: one page of conversations, newest first. */
export async function runLs(shell: Shell, options: LsOptions): Promise<ExitCode> {
  const { limit = LIMIT, after, order, owner, label } = options;
  const archived = options.all ? undefined : (options.archived ?? false);
  const page = await readStore(shell, options, (namespace) =>
    namespace.page({ limit, after, order, owner, label, archived }),
  );
  if (options.json) await shell.out.json({ conversations: page.items, next: page.next });
  else await print(shell, page.items, page.next);
  return EXIT.ok;
}

/** Columns that a title has at least; where the terminal has no room for them, each conversation is a block of lines. */
const TITLE_COLUMNS = 24;

async function print({ out }: Shell, items: readonly ConversationInfo[], next: string | null): Promise<void> {
  const { colors } = out;
  if (items.length === 0) return out.line('No conversations.');
  const columns = [
    { head: 'CONVERSATION' },
    { head: 'LAST ACTIVITY' },
    { head: 'TURNS', align: 'right' as const },
    { head: 'MESSAGES', align: 'right' as const },
    { head: 'TITLE AND LAST MESSAGE' },
  ];
  const [head = '', ...rows] = tableLines(columns, items.map(cells), (text) => text);
  const titleAt = head.indexOf('TITLE');
  if (titleAt + TITLE_COLUMNS > (out.columns ?? Infinity)) await printBlocks(out, items);
  else {
    const room = (out.columns ?? 160) - titleAt;
    await out.line(colors.bold(head));
    for (const [at, info] of items.entries()) {
      const id = safeLine(info.conversationId);
      const row = colors.cyan(id) + (rows[at] ?? '').slice(id.length);
      await out.line(`${row}  ${clip(titleOf(info), Math.max(TITLE_COLUMNS, room))}${marksOf(info)}`);
      if (info.lastMessage) await out.line(' '.repeat(titleAt) + colors.dim(clip(lastOf(info.lastMessage), room)));
    }
  }
  if (next !== null) await out.line(colors.dim(`More: --after ${next}`));
}

async function printBlocks(out: Output, items: readonly ConversationInfo[]): Promise<void> {
  const { colors, columns = Infinity } = out;
  const room = Math.max(TITLE_COLUMNS, columns - BLOCK_INDENT.length);
  for (const info of items) {
    const { conversationId, lastActivityAt, turnCount, messageCount, lastMessage } = info;
    const amount = `${counted(turnCount, 'turn')}, ${counted(messageCount, 'message')}`;
    await out.line(colors.cyan(safeLine(conversationId)));
    await out.line(`${BLOCK_INDENT}${minuteOf(lastActivityAt)} · ${amount}${marksOf(info)}`);
    await out.line(BLOCK_INDENT + clip(titleOf(info), room));
    if (lastMessage) await out.line(BLOCK_INDENT + colors.dim(clip(lastOf(lastMessage), room)));
  }
}

const BLOCK_INDENT = '    ';

/** All but the title, which stands last and has a line below it. */
function cells(info: ConversationInfo): readonly string[] {
  const { conversationId, lastActivityAt, turnCount, messageCount } = info;
  return [safeLine(conversationId), minuteOf(lastActivityAt), grouped(turnCount), grouped(messageCount), ''];
}

function titleOf({ title }: ConversationInfo): string {
  return title === null ? '(no title)' : safeLine(title);
}

function marksOf({ labels, pinned, archived, state, source }: ConversationInfo): string {
  const marks = [
    ...labels.map((label) => `#${clip(safeLine(label), 32)}`),
    ...(pinned ? ['pinned'] : []),
    ...(archived ? ['archived'] : []),
    ...(state === 'busy' ? ['busy'] : []),
    ...(source === null ? [] : [`fork of ${safeLine(source)}`]),
  ];
  return marks.length === 0 ? '' : `  ${marks.join(' ')}`;
}

function lastOf({ role, preview }: { readonly role: string; readonly preview: string }): string {
  return `${role}: ${safeLine(preview)}`;
}
