import { assert } from '../../core/errors.ts';
import type { MessageId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { readMessage } from '../../core/read/message.ts';
import type { Message } from '../../core/read/message.ts';
import { placedPage } from '../../core/read/pages.ts';
import type { PageCursor } from '../../core/read/pages.ts';
import { findMessage } from '../../core/tree/messages.ts';
import type { View } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { cutsOf } from './cuts.ts';
import type { Pin } from './transcript.ts';

/** How far one summary goes. */
export interface BatchOptions {
  /** The message that the summary does not reach; absent: the path's end. */
  readonly end: MessageId | undefined;
  /** The most messages, unless a group would be split. */
  readonly most: number;
  /** The most tokens, likewise. */
  readonly room: number;
  readonly cost: (message: Message) => number;
}

/** How far a group that extends beyond the batch is read. */
const LOOK_AHEAD = 256;

/** The first messages of a path after a summary's last one, oldest first; at least one group. */
export async function firstAfter(
  access: ConversationAccess,
  pin: Pin,
  after: MessageId | undefined,
  options: BatchOptions,
): Promise<readonly Message[]> {
  const limit = Math.min(LIMITS.pageMessages, options.most + LOOK_AHEAD);
  const read = await access.view((view) => pageAfter(view, pin, after, limit));
  const end = read.findIndex((message) => message.messageId === options.end);
  const messages = end < 0 ? read : read.slice(0, end);
  return messages.slice(0, lengthOf(messages, options));
}

/** Up to the last place within the limits that splits no group; if the first group is too large, up to its end. */
function lengthOf(messages: readonly Message[], { most, room, cost }: BatchOptions): number {
  const cuts = [...cutsOf(messages), true];
  let length = 0;
  let tokens = 0;
  for (const [at, message] of messages.entries()) {
    tokens += cost(message);
    if (length > 0 && (at >= most || tokens > room)) break;
    if (cuts[at + 1]) length = at + 1;
  }
  return length;
}

function pageAfter(view: View, pin: Pin, after: MessageId | undefined, limit: number): readonly Message[] {
  const { tree, bodies } = view;
  const page = placedPage(tree, {
    leaf: pin.leaf,
    limit,
    after: after === undefined ? undefined : cursorAt(view, pin, after),
  });
  return page.messages.map((placed) => readMessage(tree, bodies, placed));
}

function cursorAt({ tree }: View, { leaf, lastSequence }: Pin, messageId: MessageId): PageCursor {
  const found = findMessage(tree, messageId);
  assert(found, 'a summary ends with a message that its path holds');
  const { owner, branch, position, sequence } = found;
  return { leaf, lastSequence, atVersion: null, owner, branch, position, sequence };
}
