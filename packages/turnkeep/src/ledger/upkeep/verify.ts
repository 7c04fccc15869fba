import type { HeadQuery } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import { isShelf } from '../../core/shelf.ts';
import { verifyConversation } from '../../core/verify/conversation.ts';
import type { Fault } from '../../core/fault.ts';
import type { VerifyCursor } from '../../core/verify/conversation.ts';
import { othersTurn } from '../../platform/timers.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { Access } from '../access.ts';
import { abortSignal, assertChecked, callback } from '../given.ts';
import type { Checks } from '../given.ts';
import { verifyAttachments } from '../attachments/verify.ts';

/** How far a check has come. */
export interface VerifyProgress {
  readonly conversations: number;
  readonly commits: number;
  readonly records: number;
  readonly attachments: number;
}

export interface VerifyReport extends VerifyProgress {
  /** Empty if everything is as it must be. */
  readonly faults: readonly Fault[];
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

const VERIFY: Checks<VerifyOptions> = { signal: abortSignal, onProgress: callback };

const HEADS = 256;

/**
 * Walks every conversation of a store: digests, chain, tree, references, counters; its attachments; then what only the
 * backend can check. It reads in slices, each one snapshot, and reports every fault with its place. `onProgress` is called
 * after each slice, each conversation and each attachment.
 */
export async function verifyStore(access: Access, options: VerifyOptions): Promise<VerifyReport> {
  assertChecked(options, VERIFY);
  const check = new StoreCheck(access, options);
  await check.namespaces();
  await check.backend();
  return check.report;
}

/** What was found so far, and how to go on: each part adds to the report and reports its progress. */
class StoreCheck {
  readonly #access: Access;
  readonly #options: VerifyOptions;
  readonly #faults: Fault[] = [];
  #progress: VerifyProgress = { conversations: 0, commits: 0, records: 0, attachments: 0 };

  constructor(access: Access, options: VerifyOptions) {
    this.#access = access;
    this.#options = options;
  }

  get report(): VerifyReport {
    return { ...this.#progress, faults: this.#faults };
  }

  namespaces(): Promise<void> {
    return this.#orFault('no namespace was checked', async () => {
      for (const namespace of await this.#access.backend.namespaces()) await this.#namespace(namespace);
    });
  }

  async backend(): Promise<void> {
    for (const { kind, place, reason } of await this.#access.backend.verify(this.#options.signal)) {
      this.#faults.push({ kind: 'store', place, reason: `${kind}: ${reason}`, affects: 'the store as a whole' });
    }
  }

  #namespace(namespace: NamespaceId): Promise<void> {
    return this.#orFault(`the rest of namespace ${namespace} was not checked`, async () => {
      for await (const conversationId of conversationsOf(this.#access, namespace)) {
        await this.#conversation(namespace, conversationId);
        this.#add({ conversations: isShelf(conversationId) ? 0 : 1 });
      }
      for await (const { faults, attachments } of verifyAttachments(this.#access, namespace, this.#options.signal)) {
        this.#add({ attachments }, faults);
      }
    });
  }

  #conversation(namespace: NamespaceId, conversationId: ConversationId): Promise<void> {
    return this.#orFault(`the rest of conversation ${conversationId} was not checked`, async () => {
      for await (const step of steps(this.#access, namespace, conversationId, this.#options.signal)) {
        this.#add({ commits: step.commits, records: step.records }, step.faults);
      }
    });
  }

  #add(
    { conversations = 0, commits = 0, records = 0, attachments = 0 }: Partial<VerifyProgress>,
    faults: readonly Fault[] = [],
  ): void {
    const before = this.#progress;
    this.#faults.push(...faults);
    this.#progress = {
      conversations: before.conversations + conversations,
      commits: before.commits + commits,
      records: before.records + records,
      attachments: before.attachments + attachments,
    };
    this.#options.onProgress?.(this.#progress);
  }

  /** Damage that no reading gets past is reported as a fault, and what is behind it is still checked. */
  async #orFault(affects: string, walk: () => Promise<void>): Promise<void> {
    try {
      await walk();
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      const { place, reason } = error.details;
      this.#faults.push({ kind: 'store', place, reason, affects });
    }
  }
}

async function* steps(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  signal: AbortSignal | undefined,
) {
  let cursor: VerifyCursor | undefined;
  do {
    assertNotAborted(signal);
    const step = await access.read(namespace, (rows) =>
      verifyConversation(rows, access.surroundings.sha256, { namespace, conversationId }, cursor),
    );
    yield step;
    cursor = step.next ?? undefined;
    // Each slice is a step of its own for the event loop, so that others get their turn.
    await othersTurn();
  } while (cursor);
}

async function* conversationsOf(access: Access, namespace: NamespaceId): AsyncGenerator<ConversationId> {
  let query: HeadQuery = { order: 'created', limit: HEADS };
  for (;;) {
    const heads = await access.read(namespace, (rows) => rows.heads(query));
    for (const head of heads) yield head.conversationId;
    const last = heads.at(-1);
    if (!last || heads.length < HEADS) return;
    query = { ...query, after: { at: last.createdAt, conversationId: last.conversationId } };
  }
}
