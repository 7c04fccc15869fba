import type { SearchHit } from '../../core/read/search.ts';
import type { SearchPage } from '../../ledger/search.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { safeText } from '../terminal-text.ts';
import { safeLine } from '../terminal-text.ts';

export interface SearchCommandOptions extends CommonOptions {
  readonly conversation?: string | undefined;
  readonly leaf?: string | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** `turnkeep search`: where a literal text stands, newest first. */
export async function runSearch(shell: Shell, text: string, options: SearchCommandOptions): Promise<ExitCode> {
  const { conversation, leaf, limit, after } = options;
  const how = { limit, after, signal: shell.signal };
  const page = await readStore(shell, options, (namespace) =>
    conversation === undefined
      ? namespace.search(text, how)
      : namespace.conversation(conversation).search(text, { ...how, ...(leaf === undefined ? {} : { leaf }) }),
  );
  if (options.json) await shell.out.json(page);
  else await print(shell, page);
  return page.damage.length > 0 ? EXIT.damage : EXIT.ok;
}

async function print({ out }: Shell, { hits, next, damage }: SearchPage): Promise<void> {
  const { colors } = out;
  if (hits.length === 0) await out.line('Nothing found.');
  for (const hit of hits) {
    const place = hit.messageId === undefined ? 'title' : `#${hit.sequence} ${safeLine(hit.messageId)}`;
    await out.line(`${colors.cyan(safeLine(hit.conversationId))}  ${colors.dim(place)}`);
    await out.line(`    ${snippetLine(hit, (match) => colors.bold(colors.yellow(match)))}`);
  }
  for (const { conversationId, version, reason } of damage)
    await out.line(colors.red(`Not searched: ${safeLine(conversationId)}, version ${version}: ${safeLine(reason)}`));
  if (next !== null) await out.line(colors.dim(`More: --after ${next}`));
}

/** The snippet with its match painted; the pieces are made safe one by one, so that the match stays where it is. */
function snippetLine({ snippet, matchStart, matchLength }: SearchHit, paint: (text: string) => string): string {
  const end = matchStart + matchLength;
  const pieces = [snippet.slice(0, matchStart), snippet.slice(matchStart, end), snippet.slice(end)].map(flat);
  return `${pieces[0]?.trimStart()}${paint(pieces[1] ?? '')}${pieces[2]?.trimEnd()}`;
}

function flat(text: string): string {
  return safeText(text.replace(/[\s\p{Zl}\p{Zp}]+/gu, ' '));
}
