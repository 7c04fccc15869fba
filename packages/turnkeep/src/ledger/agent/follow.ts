import type { TurnState } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Part } from '../../core/message.ts';
import { isBusy } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import { pause } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { abortSignal, assertChecked, duration, text } from '../given.ts';
import type { Checks } from '../given.ts';
import { readDraft } from './draft.ts';
import type { Draft } from './draft.ts';

const LOOK_MS = 100;

/** What somebody who follows a turn is told. `cursor` names the place: pass it as `after` to continue from there. */
export type DraftEvent =
  /** More of the unfinished answer. */
  | { readonly kind: 'delta'; readonly turnId: TurnId; readonly cursor: string; readonly parts: readonly Part[] }
  /** Forget what was drafted so far: it is in messages by now, or another attempt began anew. Read the messages. */
  | { readonly kind: 'restart'; readonly turnId: TurnId; readonly cursor: string }
  /** The draft is at its limit: the rest will be in the message alone. */
  | { readonly kind: 'truncated'; readonly turnId: TurnId; readonly cursor: string }
  /** The turn is no longer at work. */
  | { readonly kind: 'end'; readonly turnId: TurnId; readonly state: TurnState };

export interface FollowOptions {
  /** The cursor of the last event that was seen, of the same turn. */
  readonly after?: string | undefined;
  /**
   * Milliseconds between two polls of the draft; 100 when absent. Drafts lie beside the log and no store announces them; the
   * writer stores what is new every 200 ms.
   */
  readonly everyMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const FOLLOW: Checks<FollowOptions> = { after: text, everyMs: duration, signal: abortSignal };

interface Cursor {
  readonly turnId: TurnId;
  readonly epoch: number;
  readonly seq: number;
}

function cursorText({ turnId, epoch, seq }: Cursor): string {
  return `${epoch}.${seq}.${turnId}`;
}

function parseCursor(text: string): Cursor {
  const [, epoch, seq, turnId] = /^(\d+)\.(\d+)\.(.+)$/su.exec(text) ?? [];
  if (turnId === undefined) throw new TurnkeepError('bad_cursor', { reason: 'it is not of a draft' });
  return { turnId, epoch: Number(epoch), seq: Number(seq) };
}

/**
 * Follows the turn at work, or the one of the cursor: what it drafted after the cursor, then live, until it waits or ends.
 * `null` if no turn is at work. Any number of readers may follow, in any process that shares the store.
 */
export async function reconnect(
  access: ConversationAccess,
  options: FollowOptions,
): Promise<AsyncGenerator<DraftEvent> | null> {
  assertChecked(options, FOLLOW);
  const after = options.after === undefined ? undefined : parseCursor(options.after);
  const turnId = after?.turnId ?? (await access.view(({ tree }) => tree.head.busy[0]));
  if (turnId === undefined) return null;
  return follow(access, after ?? { turnId, epoch: 0, seq: 0 }, options);
}

async function* follow(
  access: ConversationAccess,
  from: Cursor,
  { everyMs = LOOK_MS, signal }: FollowOptions,
): AsyncGenerator<DraftEvent> {
  let at = from;
  let toldTruncated = false;
  for (;;) {
    if (signal?.aborted) return;
    // The state is read first, so that everything drafted before it moved is seen.
    const { state, token } = await turnOf(access, at.turnId);
    const draft = await readDraft(access, at.turnId, token);
    if (draft) {
      for (const event of eventsAfter(at, draft)) {
        if (event.kind !== 'end') at = parseCursor(event.cursor);
        yield event;
      }
      if (draft.truncated && !toldTruncated) {
        yield { kind: 'truncated', turnId: at.turnId, cursor: cursorText(at) };
      }
      toldTruncated = draft.truncated;
    }
    if (!isBusy(state)) {
      yield { kind: 'end', turnId: at.turnId, state };
      return;
    }
    await pause(everyMs, signal);
  }
}

function* eventsAfter(at: Cursor, draft: Draft): Generator<DraftEvent> {
  const { turnId } = at;
  const { epoch } = draft;
  const isNew = epoch !== at.epoch;
  if (isNew && at.epoch !== 0) yield { kind: 'restart', turnId, cursor: cursorText({ turnId, epoch, seq: 0 }) };
  const seen = isNew ? 0 : at.seq;
  if (draft.committed > seen) {
    yield { kind: 'restart', turnId, cursor: cursorText({ turnId, epoch, seq: draft.committed }) };
  }
  for (const { seq, parts } of draft.deltas) {
    if (seq > seen) yield { kind: 'delta', turnId, cursor: cursorText({ turnId, epoch, seq }), parts };
  }
}

async function turnOf(
  access: ConversationAccess,
  turnId: TurnId,
): Promise<{ readonly state: TurnState; readonly token: number }> {
  return access.view(({ tree }) => {
    const turn = ownTurn(tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    return { state: turn.row.state, token: turn.row.attempt?.token ?? 0 };
  });
}
