import { dataUrl, parseDataUrl } from '../../formats/data-url.ts';
import type { MessageContent, Part } from '../../core/message.ts';
import type { FullPolicy } from './policy.ts';
import { builtRequest } from './request.ts';
import type { RequestParts } from './request.ts';
import { tokensOf } from './tokens.ts';
import type { TokenCounter } from './tokens.ts';

/** What a provider adds to each message to tell it from the next. */
const MESSAGE_TOKENS = 3;

/** The tokens of a request's messages; each file counts what the policy says, whatever its bytes are. */
export function countedTokens(policy: FullPolicy, parts: RequestParts, counter: TokenCounter): number {
  const { view, opening, notes } = parts;
  const light = {
    opening: opening.map(withoutBytes),
    view: { ...view, messages: view.messages.map(({ content, from }) => ({ content: withoutBytes(content), from })) },
  };
  const options: FullPolicy = {
    ...policy,
    instructions: '',
    attachmentUrl(digest) {
      const url = policy.attachmentUrl?.(digest);
      return url === undefined ? undefined : emptied(url);
    },
  };
  const { messages } = builtRequest(options, { ...light, notes });
  const words = messages.reduce((sum, message) => sum + tokensOf(message, counter) + MESSAGE_TOKENS, 0);
  const told = [...opening, ...view.messages.map(({ content }) => content)];
  return words + policy.fileTokens * filesIn(told.flatMap(({ parts: said }) => said));
}

function filesIn(parts: readonly Part[]): number {
  return parts.reduce((files, part) => {
    if (part.type === 'tool_result') return files + filesIn(part.content ?? []);
    return part.type === 'file' ? files + 1 : files;
  }, 0);
}

function withoutBytes(content: MessageContent): MessageContent {
  return { ...content, parts: content.parts.map(partWithoutBytes) };
}

function partWithoutBytes(part: Part): Part {
  if (part.type === 'tool_result' && part.content) return { ...part, content: part.content.map(partWithoutBytes) };
  if (part.type !== 'file' || !('url' in part.source)) return part;
  return { ...part, source: { url: emptied(part.source.url) } };
}

function emptied(url: string): string {
  const found = parseDataUrl(url);
  return found ? dataUrl(found.mediaType, '') : url;
}
