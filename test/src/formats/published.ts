import type { Message, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages';
import type { ModelMessage, UIMessage } from 'ai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';

/** The message types that providers publish. The tests walk them: what is added there is tested here. */
export interface Published {
  readonly 'openai-chat': ChatCompletionMessageParam;
  readonly 'openai-responses': ResponseInputItem;
  readonly 'openai-responses-output': ResponseOutputItem;
  readonly anthropic: MessageParam;
  readonly 'anthropic-output': Pick<Message, 'role' | 'content'>;
  readonly 'anthropic-beta': BetaMessageParam;
  readonly 'ai-sdk': ModelMessage;
  readonly 'ai-sdk-ui': UIMessage;
}
