import type { AttemptId, MessageId, TaskId } from './ids.ts';
import type { Json } from './json.ts';

/** A provider's own data, by provider name; given back as it came. */
export type ProviderMetadata = { readonly [provider: string]: Json | undefined };

interface PartBase {
  readonly id?: string | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** Words. `citations` and `phase` are as their provider gave them. */
export interface TextPart extends PartBase {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Json[] | undefined;
  readonly phase?: string | undefined;
}

/** What a model thought; `signature` proves to its provider that the words are its own. */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning';
  readonly text: string;
  readonly signature?: string | undefined;
  /** True if the provider withheld the words. */
  readonly redacted?: boolean | undefined;
}

/** What a model said instead of an answer. */
export interface RefusalPart extends PartBase {
  readonly type: 'refusal';
  readonly text: string;
}

/** A tool call. Its input is JSON, or raw text if the text must survive as it is (a 19-digit number, say). */
export interface ToolCallPart extends PartBase {
  readonly type: 'tool_call';
  readonly callId: string;
  readonly name: string;
  readonly input?: Json | undefined;
  readonly inputText?: string | undefined;
  /** `client` when absent. */
  readonly executedBy?: 'client' | 'provider' | undefined;
}

/** A tool result: `output`, one JSON value, or `content`, parts of its own, or neither; never both. */
export interface ToolResultPart extends PartBase {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name?: string | undefined;
  readonly status: 'ok' | 'error' | 'denied' | 'interrupted';
  readonly output?: Json | undefined;
  readonly content?: readonly Part[] | undefined;
}

/** A file: an attachment of the namespace by its SHA-256 (64 hexadecimal digits), a URL, or a provider's own file. */
export interface FilePart extends PartBase {
  readonly type: 'file';
  /** As in `image/png`. */
  readonly mediaType: string;
  readonly name?: string | undefined;
  readonly source:
    | { readonly attachment: string }
    | { readonly url: string }
    | { readonly providerFile: { readonly [provider: string]: string } };
}

/** Something that an answer is based on. */
export interface SourcePart extends PartBase {
  readonly type: 'source';
  readonly sourceId: string;
  readonly url?: string | undefined;
  readonly title?: string | undefined;
  readonly mediaType?: string | undefined;
}

/** A JSON value of the application's own, with a name and, if it likes, a version of its schema. */
export interface DataPart extends PartBase {
  readonly type: 'data';
  readonly name: string;
  readonly schemaVersion?: number | undefined;
  readonly data: Json;
}

/** What no other part can say; `kind` is `vendor.name`. */
export interface OpaquePart extends PartBase {
  readonly type: 'opaque';
  readonly kind: string;
  readonly value: Json;
}

/** One part of a message; `type` tells which. */
export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | ToolCallPart
  | ToolResultPart
  | FilePart
  | SourcePart
  | DataPart
  | OpaquePart;

export const ROLES = ['user', 'assistant', 'system', 'developer', 'tool'] as const;
export type Role = (typeof ROLES)[number];

/** Who said something: `eraseSubject` finds a person's messages by `id`. */
export interface Author {
  readonly id: string;
  readonly kind: 'human' | 'agent' | 'system';
  readonly name?: string | undefined;
}

/** What a message says: the part of a message that its record holds. */
export interface MessageContent {
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly author?: Author | undefined;
  /** `complete` when absent. */
  readonly status?: 'complete' | 'incomplete' | undefined;
  readonly finishReason?: string | undefined;
  /** Who sees it; `all` when absent. Contexts leave out what only the `user` sees. */
  readonly visibility?: 'all' | 'model' | 'user' | undefined;
  readonly metadata?: Json | undefined;
  /** The caller's own time text, kept as it is. */
  readonly occurredAt?: string | undefined;
  /** The task that this message belongs to; it must be known on the message's path. */
  readonly taskId?: TaskId | undefined;
}

/** A message to append. Without an id, one is minted from the commit's. */
export interface NewMessage extends MessageContent {
  readonly messageId?: MessageId | undefined;
}

/** What a message has besides its role and its parts. */
export type MessageNotes = Omit<MessageContent, 'role' | 'parts'>;

/** The tool calls that a message makes and those of other messages that it answers, in order, without repeats. */
export interface MessageCalls {
  readonly calls: readonly string[];
  readonly answers: readonly string[];
  /** Those of its calls whose result it holds itself. */
  readonly answered: readonly string[];
}

/**
 * A result whose call stands in the same message (a tool that the provider ran) pairs inside it and answers nothing
 * outside; no other result answers such a call.
 */
export function callsOf(parts: readonly Part[]): MessageCalls {
  const calls = new Set<string>();
  for (const part of parts) if (part.type === 'tool_call') calls.add(part.callId);
  const answers = new Set<string>();
  const answered = new Set<string>();
  for (const part of parts) {
    if (part.type === 'tool_result') (calls.has(part.callId) ? answered : answers).add(part.callId);
  }
  return { calls: [...calls], answers: [...answers], answered: [...answered] };
}

/** An attempt's claim on a running turn: the id of the attempt and the token that it was given. */
export interface Fence {
  readonly attempt: AttemptId;
  readonly token: number;
}
