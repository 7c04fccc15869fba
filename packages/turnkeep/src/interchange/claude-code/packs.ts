import { LIMITS } from '../../core/limits.ts';
import { messageBytes } from '../fit.ts';
import type { BuiltMessage } from './message.ts';

/** What a commit holds of messages, beside what else it says. */
const PACK_BYTES = LIMITS.commitBytes - 6_291_456;
const PACK_CHANGES = LIMITS.commitChanges - 10;

/** Messages in packs that each fit a commit; there is always one. */
export function packsOf(messages: readonly BuiltMessage[]): readonly (readonly BuiltMessage[])[] {
  const packs: BuiltMessage[][] = [[]];
  let bytes = 0;
  for (const built of messages) {
    const size = messageBytes(built.message);
    const pack = packs.at(-1) as BuiltMessage[];
    if (pack.length > 0 && (bytes + size > PACK_BYTES || pack.length >= PACK_CHANGES)) {
      packs.push([built]);
      bytes = size;
    } else {
      pack.push(built);
      bytes += size;
    }
  }
  return packs;
}
