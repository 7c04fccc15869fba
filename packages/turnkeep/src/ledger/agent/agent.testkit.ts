import { MemoryBackend } from '../../memory/index.ts';
import { sha256 } from '../../platform/hash.ts';
import { mintCommitId } from '../../platform/random.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import type { Part } from '../../core/message.ts';
import type { Conversation } from '../conversation.ts';
import { Ledger } from '../ledger.ts';
import type { Namespace } from '../namespace.ts';

/** A store in memory, and a conversation in it. */
export function opened(): { readonly ledger: Ledger; readonly space: Namespace; readonly conversation: Conversation } {
  const ledger = new Ledger(new MemoryBackend(sha256), systemSurroundings, mintCommitId);
  const space = ledger.namespace('n');
  return { ledger, space, conversation: space.conversation('c') };
}

export function text(words: string): Part {
  return { type: 'text', text: words };
}

export const ASKED: { readonly prompt: readonly Part[] } = { prompt: [text('a question')] };

/** The words of a conversation's messages with their roles, in order. */
export async function said(conversation: Conversation): Promise<readonly string[]> {
  const { messages } = await conversation.page();
  return messages.map(({ role, parts, status }) => {
    const words = parts.map((part) => (part.type === 'text' ? part.text : `${part.type} ${JSON.stringify(part)}`));
    return `${role}${status === 'incomplete' ? ' (incomplete)' : ''}: ${words.join(' ')}`;
  });
}
