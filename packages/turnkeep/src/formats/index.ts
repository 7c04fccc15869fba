/**
 * Messages of providers and frameworks as messages of ours, and back: what is read is given back exactly, and what crosses
 * to another provider leaves behind only what is private to the first, and says what.
 */
import { aiSdk } from './ai-sdk.ts';
import { aiSdkUi } from './ai-sdk-ui.ts';
import { anthropic } from './anthropic.ts';
import type { Format, FormatName } from './format.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

export { aiSdk, aiSdkUi, anthropic, openaiChat, openaiResponses };
export { FORMAT_NAMES } from './format.ts';
export type { Format, FormatName, LeftOut, Rendering, RenderOptions } from './format.ts';

/** Every format by its name. */
export const FORMATS: { readonly [Name in FormatName]: Format } = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  'ai-sdk': aiSdk,
  'ai-sdk-ui': aiSdkUi,
};
