import type { Part } from '../../core/message.ts';
import type { Message } from '../../core/read/message.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { assertFits, text } from '../given.ts';
import { NamespaceMemories } from '../memories.ts';
import type { ContextMemory, ContextPolicy } from './policy.ts';
import type { Line } from './transcript.ts';

/** How much of a message is used as a query. */
const QUERY_LENGTH = 1_000;

/** The memories that the policy asks for, best first. */
export async function memoriesFor(
  access: ConversationAccess,
  { memories }: ContextPolicy,
  lines: readonly Line[],
): Promise<readonly ContextMemory[]> {
  if (!memories || memories.found) return memories?.found ?? [];
  const { query = lastAsked(lines), limit = 8, ...search } = memories;
  if (query.trim() === '' || limit === 0) return [];
  return new NamespaceMemories(access.access, access.namespace).search(query, { ...search, limit });
}

/** The words of the last message of a user. */
function lastAsked(lines: readonly Line[]): string {
  const last = lines.findLast(({ message }) => message.role === 'user');
  const words = last?.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) ?? [];
  return words.join('\n').slice(0, QUERY_LENGTH).toWellFormed();
}

/** Where the attachments of messages are found, by digest. */
export async function attachmentUrls(
  { attachmentUrl }: ContextPolicy,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, string>> {
  const urls = new Map<string, string>();
  if (!attachmentUrl) return urls;
  const digests = new Set(messages.flatMap(({ parts }) => digestsIn(parts)));
  for (const digest of digests) {
    const url = await attachmentUrl(digest);
    if (url === undefined) continue;
    assertFits(url, text, 'policy.attachmentUrl');
    urls.set(digest, url);
  }
  return urls;
}

function digestsIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type === 'tool_result') return digestsIn(part.content ?? []);
    return part.type === 'file' && 'attachment' in part.source ? [part.source.attachment] : [];
  });
}
