import { BoundedMap } from '../../core/bounded-map.ts';
import type { Commit } from '../../core/change.ts';
import type { ConversationId } from '../../core/ids.ts';
import { isWork } from '../../core/rules/sub-agent.ts';

const KEPT = 16_384;

/** Whose sub-agents conversations are, as far as this process met them: that never changes. To forget one costs a round trip. */
export class KnownParents {
  readonly #parents = new BoundedMap<string, ConversationId>(KEPT);

  add(namespace: string, child: ConversationId, parent: ConversationId): void {
    this.#parents.set(`${namespace} ${child}`, parent);
  }

  /** The conversations above a commit's that it looks at: none but where it is work. */
  above({ namespace, conversationId, changes }: Commit): readonly ConversationId[] {
    const found: ConversationId[] = [];
    if (!changes.some(isWork)) return found;
    for (let id = this.#of(namespace, conversationId); id !== undefined; id = this.#of(namespace, id)) found.push(id);
    return found;
  }

  #of(namespace: string, conversation: ConversationId): ConversationId | undefined {
    return this.#parents.get(`${namespace} ${conversation}`);
  }
}
