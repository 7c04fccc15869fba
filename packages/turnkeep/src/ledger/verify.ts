import type { HeadQuery } from '../core/backend.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { isShelf, SHELVES } from '../core/shelf.ts';
import { verifyConversation } from '../core/verify.ts';
import type { Fault, VerifyCursor } from '../core/verify.ts';
import { afterPoll } from '../platform/timers.ts';
import { assertNotAborted } from './abort.ts';
import type { Access } from './access.ts';
import { abortSignal, assertChecked, callback } from './given.ts';
import type { Checks } from './given.ts';
import { verifyAttachments } from './verify-attachments.ts';

/** How far a checking has come. */
export interface VerifyProgress {
  readonly conversations: number;
  readonly commits: number;
  readonly records: number;
  readonly attachments: number;
}

export interface VerifyReport extends VerifyProgress {
  /** Nothing where all is as it must be. */
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
 * backend can check.
 * It reads in slices, each one snapshot, and reports every fault with its place.
 */
export async function verifyStore(access: Access, options: VerifyOptions): Promise<VerifyReport> {
  assertChecked(options, VERIFY);
  const faults: Fault[] = [];
  let progress: VerifyProgress = { conversations: 0, commits: 0, records: 0, attachments: 0 };
  await orFault(faults, 'no namespace was checked', async () => {
    for (const namespace of await access.backend.namespaces()) {
      await orFault(faults, `the rest of namespace ${namespace} was not checked`, async () => {
        for await (const conversationId of conversationsOf(access, namespace)) {
          await orFault(faults, `the rest of conversation ${conversationId} was not checked`, async () => {
            for await (const step of steps(access, namespace, conversationId, options.signal)) {
              faults.push(...step.faults);
              const { commits, records } = step;
              progress = { ...progress, commits: progress.commits + commits, records: progress.records + records };
              options.onProgress?.(progress);
            }
          });
          const more = isShelf(conversationId) ? 0 : 1;
          progress = { ...progress, conversations: progress.conversations + more };
          options.onProgress?.(progress);
        }
        for await (const check of verifyAttachments(access, namespace, options.signal)) {
          faults.push(...check.faults);
          progress = { ...progress, attachments: progress.attachments + check.attachments };
          options.onProgress?.(progress);
        }
      });
    }
  });
  for (const { kind, place, reason } of await access.backend.verify(options.signal)) {
    faults.push({ kind: 'store', place, reason: `${kind}: ${reason}`, affects: 'the store as a whole' });
  }
  return { ...progress, faults };
}

/** Damage that no reading gets past is a fault too: what is behind it is checked all the same. */
async function orFault(faults: Fault[], affects: string, walk: () => Promise<void>): Promise<void> {
  try {
    await walk();
  } catch (error) {
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    const { place, reason } = error.details;
    faults.push({ kind: 'store', place, reason, affects });
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
      verifyConversation(rows, access.surroundings.sha256, conversationId, cursor),
    );
    yield step;
    cursor = step.next ?? undefined;
    // Each slice is a step of its own for the event loop, so that others get their turn.
    await new Promise<void>((resolve) => {
      afterPoll(resolve);
    });
  } while (cursor);
}

async function* conversationsOf(access: Access, namespace: NamespaceId): AsyncGenerator<ConversationId> {
  let query: HeadQuery = { order: 'created', limit: HEADS };
  for (;;) {
    const heads = await access.read(namespace, (rows) => rows.heads(query));
    for (const head of heads) if (head.conversationId !== SHELVES.attachments) yield head.conversationId;
    const last = heads.at(-1);
    if (!last || heads.length < HEADS) return;
    query = { ...query, after: { at: last.createdAt, conversationId: last.conversationId } };
  }
}
