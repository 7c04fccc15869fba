import type { Backend, RowReader } from '../core/backend.ts';
import type { Change, Commit, Expect } from '../core/change.ts';
import { prepareCommit } from '../core/commit.ts';
import type { Surroundings } from '../core/commit.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { ConversationId, MessageId, NamespaceId, TurnId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import type { Fence } from '../core/message.ts';
import { Bodies } from '../core/read/bodies.ts';
import type { Receipt } from '../core/receipt.ts';
import { assertNotErased } from '../core/rules/fork.ts';
import type { Tree } from '../core/tree/path.ts';
import { AtWork } from './at-work.ts';
import { abortSignal, anything, assertChecked, text } from './given.ts';
import type { Checks } from './given.ts';
import { MemoryTerms } from './memory-terms.ts';

/** How a call is sent. */
export interface WriteOptions {
  /**
   * The call's commit id. A call that is sent again with the same key is done once and returns the first receipt. Without a
   * key one is minted, and a call whose outcome is unknown cannot be sent again.
   */
  readonly idempotencyKey?: string | undefined;
  /** What the caller saw; checked before any of the changes. */
  readonly expect?: Expect | undefined;
  /** The claim of the attempt that writes. */
  readonly fence?: Fence | undefined;
  /** Gives up while the commit waits; a commit that is already being written is answered. */
  readonly signal?: AbortSignal | undefined;
}

// Expectation and fence are checked as parts of the commit.
const WRITE: Checks<WriteOptions & { readonly turnId?: TurnId | null | undefined }> = {
  idempotencyKey: text,
  expect: anything,
  fence: anything,
  signal: abortSignal,
  turnId: anything,
};

/** Throws `invalid_value` for an unknown option of a write, or one of the wrong kind. */
export function assertWriteOptions(options: unknown): void {
  assertChecked(options, WRITE);
}

/** What holds for a ledger as a whole. */
export interface LedgerSettings {
  /** Bytes that the attachments of a namespace may have together; `LIMITS.attachmentQuotaBytes` when absent. */
  readonly attachmentQuotaBytes?: number | undefined;
}

/** The last millisecond that a date can express. */
const LAST_MOMENT = 8_640_000_000_000_000;

/** Checks the clock: commits with an impossible time could never be read again. */
function withClockChecked(surroundings: Surroundings): Surroundings {
  return {
    sha256: (input) => surroundings.sha256(input),
    nonce: () => surroundings.nonce(),
    now() {
      const now = surroundings.now();
      if (Number.isSafeInteger(now) && Math.abs(now) <= LAST_MOMENT) return now;
      throw new TurnkeepError('invalid_value', {
        path: 'surroundings.now',
        reason: 'expected whole milliseconds',
      });
    },
  };
}

/** A snapshot of one conversation and what reads it. */
export interface View {
  readonly tree: Tree;
  readonly bodies: Bodies;
}

/** How handles reach a store: commits and consistent reads of one conversation. */
export class Access {
  readonly backend: Backend;
  readonly surroundings: Surroundings;
  readonly mintCommitId: (now: number) => string;
  readonly attachmentQuotaBytes: number;
  readonly atWork: AtWork = new AtWork();
  /** Those that wait, for a commit or for the bytes of a source: each is called once the store is closed. */
  readonly waiting: Set<() => void> = new Set();
  readonly memoryTerms: MemoryTerms = new MemoryTerms();

  constructor(
    backend: Backend,
    surroundings: Surroundings,
    mintCommitId: (now: number) => string,
    { attachmentQuotaBytes = LIMITS.attachmentQuotaBytes }: LedgerSettings = {},
  ) {
    this.backend = backend;
    this.surroundings = withClockChecked(surroundings);
    this.mintCommitId = mintCommitId;
    this.attachmentQuotaBytes = attachmentQuotaBytes;
  }

  /** Sends a commit of unknown origin; it is checked whole before anything is written. */
  async send(commit: unknown, signal?: AbortSignal): Promise<Receipt> {
    this.backend.expectCommit?.();
    return this.backend.commit(prepareCommit(commit, this.surroundings), signal);
  }

  async write(
    namespace: NamespaceId,
    conversationId: ConversationId,
    changes: readonly Change[],
    options: WriteOptions = {},
  ): Promise<Receipt> {
    assertWriteOptions(options);
    const { idempotencyKey, expect, fence, signal } = options;
    const commitId = idempotencyKey ?? this.mintCommitId(this.surroundings.now());
    const commit: Commit = { commitId, namespace, conversationId, expect, fence, changes };
    return this.send(commit, signal);
  }

  /**
   * Reads a conversation that exists; `conversation_not_found` and `erased` otherwise. `messageId` is the message that the
   * reading looks up, if it is about one.
   */
  async view<Result>(
    namespace: NamespaceId,
    conversationId: ConversationId,
    reading: (view: View) => Result,
    messageId?: MessageId,
  ): Promise<Result> {
    const onRows = (rows: RowReader) => {
      const head = rows.head(conversationId);
      if (!head) throw new TurnkeepError('conversation_not_found', { conversationId });
      assertNotErased(head);
      return reading({ tree: { rows, head }, bodies: new Bodies(rows, this.surroundings.sha256) });
    };
    return this.backend.read(namespace, onRows, messageId === undefined ? undefined : { conversationId, messageId });
  }

  async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return this.backend.read(namespace, reading);
  }
}
