import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId, NamespaceId, TurnId } from '../../core/ids.ts';
import { isBusy } from '../../core/rules/turn-states.ts';
import { pause } from '../../platform/timers.ts';
import { assertNotAborted } from '../abort.ts';
import type { Access } from '../access.ts';
import { ConversationAccess } from '../conversation-access.ts';
import { assertOptions } from '../given.ts';
import { livingHeads } from '../living.ts';
import { BeatWatch } from './beat-watch.ts';
import { endFromOutside, LOST_RACE } from './end-from-outside.ts';
import { findTurn, lookAtOwner } from './hold.ts';
import { assertTtl } from './run.ts';

const DEFAULT_TTL_MS = 30_000;
const OPTIONS: ReadonlySet<string> = new Set(['ttlMs', 'signal']);
const LOOKS_PER_TTL = 12;
/** Turns that are watched at the same time. */
const TOGETHER = 64;

/** How owners are watched. */
export interface RecoverOptions {
  /** How long a sign of life counts, in milliseconds: 30,000 by default. */
  readonly ttlMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A turn that nobody worked on any more, and that was ended for it. */
export interface RecoveredTurn {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly code: 'owner_lost';
}

/**
 * Ends the turns of a namespace whose owner does not live any more: they fail with `owner_lost`, what was drafted is kept as
 * an incomplete message, and their operations are settled. Turns that wait are left alone, and so are turns that no attempt
 * ever held: nobody can tell whether somebody works on those. To go on with a turn instead, `resume` it.
 */
export async function recoverNamespace(
  access: Access,
  namespace: NamespaceId,
  options: RecoverOptions,
): Promise<readonly RecoveredTurn[]> {
  assertOptions(options, OPTIONS);
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
  { ttlMs = DEFAULT_TTL_MS, signal }: RecoverOptions,
): Promise<RecoveredTurn | undefined> {
  const watch = new BeatWatch(ttlMs);
  for (;;) {
    assertNotAborted(signal);
    const found = await findTurn(access, turnId);
    if (!found.held || !isBusy(found.state)) return undefined;
    const owner = await lookAtOwner(access, found, watch);
    if (owner === 'lives') return undefined;
    if (owner === 'gone') return (await endLost(access, turnId, found)) ? recoveredTurn(access, turnId) : undefined;
    await pause(ttlMs / LOOKS_PER_TTL);
  }
}

function recoveredTurn({ conversationId }: ConversationAccess, turnId: TurnId): RecoveredTurn {
  return { conversationId, turnId, code: 'owner_lost' };
}

/** False where somebody else took the turn, or ended it, first. */
async function endLost(
  access: ConversationAccess,
  turnId: TurnId,
  found: Awaited<ReturnType<typeof findTurn>>,
): Promise<boolean> {
  const message = 'the process that worked on this turn does not live any more';
  try {
    await endFromOutside(access, turnId, found, { to: 'failed', agent: 'recover', code: 'owner_lost', message });
    return true;
  } catch (error) {
    if (isTurnkeepError(error) && LOST_RACE.has(error.code)) return false;
    throw error;
  }
}
