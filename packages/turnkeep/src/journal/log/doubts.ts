import { TurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Damage } from './tail.ts';

/**
 * Acknowledged lines that are lost. What they changed nobody knows any more: the conversations that they touched are
 * neither read nor written until a person accepts the loss.
 */
export interface Doubt {
  readonly place: string;
  readonly reason: string;
  /** The numbers of the lines. */
  readonly from: number;
  readonly to: number;
  /** The conversations that they touched; empty where nobody can tell, and it may be any. */
  readonly names: readonly ConversationId[];
}

/** The doubts that damage raises; lines up to number `accepted` may be lost. */
export function doubtsOf(
  damages: readonly Damage[],
  accepted: number,
  placeOf: (damage: Damage) => string,
): readonly Doubt[] {
  return damages.flatMap((damage) => {
    const { lost, reason } = damage;
    return lost && lost.to > accepted ? [{ place: placeOf(damage), reason, ...lost }] : [];
  });
}

/** Throws `corrupt` where a conversation may have lost a commit. */
export function assertCertain(doubts: readonly Doubt[], conversation: ConversationId): void {
  const doubt = doubts.find(({ names }) => names.length === 0 || names.includes(conversation));
  if (doubt) throw doubtful(doubt);
}

/** Throws `corrupt` where any conversation may have lost a commit: what looks over all of them would not be whole. */
export function assertNoDoubt([doubt]: readonly Doubt[]): void {
  if (doubt) throw doubtful(doubt);
}

export function doubtful({ place, reason, from, to, names }: Doubt): TurnkeepError<'corrupt'> {
  const lines = from === to ? `acknowledged line ${from} is lost` : `acknowledged lines ${from} to ${to} are lost`;
  const whose = names.length === 0 ? 'of which conversation is not known' : `of ${names.join(', ')}`;
  const advice = 'until a rebuild accepts that, nothing that they may have changed is read or written';
  return new TurnkeepError('corrupt', { place, reason: `${reason}: ${lines}, ${whose}; ${advice}` });
}
