import { onAbort } from '../core/abort.ts';
import type { RowReader } from '../core/backend.ts';
import type { Sha256 } from '../core/digest.ts';
import { headerAt } from '../core/header.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import type { ChangeEvent } from '../core/event.ts';
import { abortSignal, anything, assertChecked, flag } from './given.ts';
import type { Checks } from './given.ts';
import type { Access } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import type { NamespaceId } from '../core/ids.ts';

/** One commit, as a watcher sees it. */
export interface ConversationEvent {
  readonly conversationId: ConversationId;
  /** The cursor of a conversation's feed. */
  readonly version: number;
  readonly commitId: string;
  readonly committedAt: string;
  /** What the commit did; empty if the conversation was erased since. */
  readonly events: readonly ChangeEvent[];
  /** True if the conversation was erased, and with it what the commit did. */
  readonly erased: boolean;
}

/** A commit in the feed of a namespace; `position` is the cursor. */
export interface NamespaceEvent extends ConversationEvent {
  readonly position: number;
}

export interface WatchOptions {
  /**
   * Only events after this version (or position); all when 0 or absent. A cursor past the newest event waits: a reader beside
   * a writer may be behind whoever passed the cursor on, and a store that was restored from a copy cannot be told from that.
   * `info().version` says where the conversation is.
   */
  readonly after?: number | undefined;
  /** Ends the watch; the iteration then returns. */
  readonly signal?: AbortSignal | undefined;
  /** Ends once everything that is there was delivered, instead of waiting for more. */
  readonly untilNow?: boolean | undefined;
}

// A cursor is checked elsewhere, with its own error.
const WATCH: Checks<WatchOptions> = { after: anything, signal: abortSignal, untilNow: flag };

const STEP = 256;

export function watchConversation(
  access: ConversationAccess,
  options: WatchOptions,
): AsyncGenerator<ConversationEvent> {
  let last: number | undefined;
  const { conversationId, namespace } = access;
  const { sha256 } = access.access.surroundings;
  return follow(access.access, namespace, options, async () => {
    const after = last ?? cursorOf(options.after);
    const events = await access.access.read(namespace, (rows) => {
      const head = rows.head(conversationId);
      const versions = Array.from({ length: Math.min(STEP, (head?.version ?? 0) - after) }, (_, at) => after + 1 + at);
      return versions.map((version) => eventAt(rows, sha256, conversationId, version));
    });
    last = after + events.length;
    return events;
  });
}

export function watchNamespace(
  access: Access,
  namespace: NamespaceId,
  options: WatchOptions,
): AsyncGenerator<NamespaceEvent> {
  const { sha256 } = access.surroundings;
  let last: number | undefined;
  return follow(access, namespace, options, async () => {
    const after = last ?? cursorOf(options.after);
    const entries = await access.backend.feed(namespace, after, STEP);
    last = entries.at(-1)?.position ?? after;
    return access.read(namespace, (rows) =>
      entries.map(({ position, conversationId, version }) => ({
        position,
        ...eventAt(rows, sha256, conversationId, version),
      })),
    );
  });
}

function cursorOf(after: number | undefined): number {
  if (after === undefined) return 0;
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new TurnkeepError('bad_cursor', { reason: 'a whole number from 0 on' });
}

/**
 * Yields what `next` finds until it finds nothing, then waits for a commit and continues. `return` takes effect at once while
 * it waits: a plain generator would first wait for a commit.
 */
function follow<Event>(
  access: Access,
  namespace: NamespaceId,
  options: WatchOptions,
  next: () => Promise<readonly Event[]>,
): AsyncGenerator<Event> {
  assertChecked(options, WATCH);
  const bell = new Bell();
  const events = listening(access, namespace, options, next, bell);
  const end = events.return.bind(events);
  return Object.assign(events, {
    return: (value: unknown) => {
      bell.end();
      return end(value);
    },
  });
}

async function* listening<Event>(
  access: Access,
  namespace: NamespaceId,
  options: WatchOptions,
  next: () => Promise<readonly Event[]>,
  bell: Bell,
): AsyncGenerator<Event> {
  const ring = () => bell.ring();
  const stopListening = access.backend.onCommit(namespace, ring);
  access.waiting.add(ring);
  const forget = onAbort(options.signal, () => bell.end());
  try {
    while (!bell.ended && !options.signal?.aborted) {
      const rung = bell.listen();
      const events = await next();
      yield* events;
      if (events.length > 0) continue;
      if (options.untilNow) return;
      await rung;
    }
  } finally {
    stopListening();
    access.waiting.delete(ring);
    forget();
  }
}

/** Wakes the listener; a ring between `listen` and the waiting is not lost. */
class Bell {
  ended = false;
  #ring: (() => void) | undefined;

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve;
    });
  }

  ring(): void {
    this.#ring?.();
  }

  /** Rings for the last time. */
  end(): void {
    this.ended = true;
    this.ring();
  }
}

function eventAt(rows: RowReader, sha256: Sha256, conversationId: ConversationId, version: number): ConversationEvent {
  const log = rows.log(conversationId, version);
  const gone = (log?.header ?? null) === null;
  if (gone && !rows.head(conversationId)?.erasedAt) headerAt(rows, sha256, conversationId, version);
  const header = gone ? undefined : headerAt(rows, sha256, conversationId, version);
  return {
    conversationId,
    version,
    commitId: header?.commitId ?? '',
    committedAt: new Date(header?.at ?? log?.at ?? 0).toISOString(),
    events: header?.events ?? [],
    erased: gone,
  };
}
