import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId, NamespaceId, TurnId } from '../../core/ids.ts';
import { isBusy } from '../../core/rules/turn-states.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { pause } from '../../platform/timers.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { Access } from '../access.ts';
import { ConversationAccess } from '../conversation-access.ts';
import { abortSignal, anything, assertChecked, oneOf } from '../given.ts';
import type { Checks } from '../given.ts';
import { livingHeads } from '../living.ts';
import { BeatWatch } from './beat-watch.ts';
import { endFromOutside, LOST_RACE } from './end-from-outside.ts';
import { findTurn, lookAtOwner } from './hold.ts';
import type { Found } from './hold.ts';
import { assertTtl } from './run.ts';

const DEFAULT_TTL_MS = 30_000;
// A time to live is checked elsewhere, with its own errors.
const OPTIONS: Checks<RecoverOptions> = { ttlMs: anything, signal: abortSignal, neverHeld: oneOf('report', 'end') };
const LOOKS_PER_TTL = 12;
/** Turns that are watched at the same time. */
const TOGETHER = 64;

/** How owners are watched. */
export interface RecoverOptions {
  /** How long a sign of life counts, in milliseconds; 30,000 when absent. */
  readonly ttlMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * What to do with turns that were submitted and that no attempt ever held, since whoever works on one shows no sign of life.
   * `report` (when absent) names them and leaves them as they are; `end` ends those whose conversation nobody wrote to for
   * the time to live. Turns that `run` made are ended either way: it holds a turn at once.
   */
  readonly neverHeld?: 'report' | 'end' | undefined;
}

/** A turn that was found at work without a sign of its owner. */
export interface RecoveredTurn {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly code: 'owner_lost' | 'never_held';
  /** True if the turn was failed with the code; false if it is left to be resumed or stopped. */
  readonly ended: boolean;
}

/**
 * Ends the turns of a namespace whose owner does not live any more: they fail with `owner_lost`, what was drafted is kept as
 * an incomplete message, and their operations are settled. Turns that wait are left alone; those that no attempt ever held
 * are named (`neverHeld`). To go on with a turn instead, `resume` it.
 */
export async function recoverNamespace(
  access: Access,
  namespace: NamespaceId,
  options: RecoverOptions,
): Promise<readonly RecoveredTurn[]> {
  assertChecked(options, OPTIONS);
  assertTtl(options.ttlMs);
  const recovered: RecoveredTurn[] = [];
  let together: Promise<RecoveredTurn | undefined>[] = [];
  const settle = async () => {
    for (const one of await Promise.all(together)) if (one) recovered.push(one);
    together = [];
  };
  for await (const { conversationId, busy } of livingHeads(access, namespace)) {
    for (const turnId of busy) {
      together.push(recoverTurn(new ConversationAccess(access, namespace, conversationId), turnId, options));
      if (together.length === TOGETHER) await settle();
    }
  }
  await settle();
  return recovered;
}

async function recoverTurn(
  access: ConversationAccess,
  turnId: TurnId,
  { ttlMs = DEFAULT_TTL_MS, signal, neverHeld = 'report' }: RecoverOptions,
): Promise<RecoveredTurn | undefined> {
  const watch = new BeatWatch(ttlMs);
  const { conversationId } = access;
  for (;;) {
    assertNotAborted(signal);
    const found = await findTurn(access, turnId);
    if (!isBusy(found.state)) return undefined;
    const code = found.held || found.isOfRun ? 'owner_lost' : 'never_held';
    const reported: RecoveredTurn = { conversationId, turnId, code, ended: false };
    if (code === 'never_held' && neverHeld === 'report') return reported;
    const owner = found.held ? await lookAtOwner(access, found, watch) : await lookAtConversation(access, watch);
    if (owner === 'lives') return code === 'never_held' ? reported : undefined;
    if (owner === 'gone')
      return (await endLost(access, turnId, found, code)) ? { ...reported, ended: true } : undefined;
    await pause(ttlMs / LOOKS_PER_TTL, signal);
  }
}

/** Whether anybody writes to a conversation; `unknown` until it was watched for the whole time to live. */
async function lookAtConversation(access: ConversationAccess, watch: BeatWatch): Promise<'gone' | 'lives' | 'unknown'> {
  const version = await access.view(({ tree }) => tree.head.version);
  const seen = watch.see(`version ${version}`, monotonicNow());
  if (seen === 'watching') return 'unknown';
  return seen === 'lapsed' ? 'gone' : 'lives';
}

const MESSAGES: { readonly [Code in RecoveredTurn['code']]: string } = {
  owner_lost: 'the process that worked on this turn does not live any more',
  never_held: 'nobody took this turn to work on it',
};

/** False if somebody else took or ended the turn first. */
async function endLost(
  access: ConversationAccess,
  turnId: TurnId,
  found: Found,
  code: RecoveredTurn['code'],
): Promise<boolean> {
  try {
    await endFromOutside(access, turnId, found, { to: 'failed', agent: 'recover', code, message: MESSAGES[code] });
    return true;
  } catch (error) {
    if (isTurnkeepError(error) && LOST_RACE.has(error.code)) return false;
    throw error;
  }
}
