import type { Change } from '../core/change.ts';
import type { ConversationId, MessageId, NamespaceId } from '../core/ids.ts';
import { lookUpMessage, lookUpOfDamage } from '../core/read/message.ts';
import type { MessageLookup } from '../core/read/message.ts';
import type { Receipt } from '../core/receipt.ts';
import type { Access, View, WriteOptions } from './access.ts';

/** {@link Access} bound to one conversation: what its handles share. */
export class ConversationAccess {
  readonly access: Access;
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;

  constructor(access: Access, namespace: NamespaceId, conversationId: ConversationId) {
    this.access = access;
    this.namespace = namespace;
    this.conversationId = conversationId;
  }

  async write(changes: readonly Change[], options?: WriteOptions): Promise<Receipt> {
    return this.access.write(this.namespace, this.conversationId, changes, options);
  }

  async view<Result>(reading: (view: View) => Result): Promise<Result> {
    return this.access.view(this.namespace, this.conversationId, reading);
  }

  /** A message by id; damage is an answer, also if it is met during the look-up. */
  async message(messageId: MessageId): Promise<MessageLookup> {
    const lookUp = ({ tree, bodies }: View) => lookUpMessage(tree, bodies, messageId);
    return this.access.view(this.namespace, this.conversationId, lookUp, messageId).catch(lookUpOfDamage);
  }
}
