import { LOG_START } from './log/position.ts';
import type { Position } from './log/position.ts';
import { foldIfDue, noteDamage } from './recovery.ts';
import { replay } from './log/replay.ts';
import { IndexDamage } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';
import { closeRuns } from './upkeep/fold-keeper.ts';

/**
 * Builds the index anew from all lines up to `end`: because it is damaged, or because a person asks for it and accepts
 * that acknowledged lines are lost. Where that fails, for want of room or of files, the index is what it was before.
 */
export async function rebuildIndex(parts: StoreParts, end: Position, why: 'accept' | IndexDamage): Promise<void> {
  const { folds } = parts;
  await folds.pause();
  try {
    if (why !== 'accept') await noteDamage(parts, why);
    await replayAll(parts, end, why);
    await folds.fold();
    folds.sweep();
  } finally {
    folds.resume();
  }
}

async function replayAll(parts: StoreParts, end: Position, why: 'accept' | IndexDamage): Promise<void> {
  const { folds, index } = parts;
  const { unbuilt } = index;
  const kept = folds.setAside();
  index.unbuilt = why === 'accept' ? new IndexDamage('the index', 'a rebuild did not come to its end') : why;
  try {
    if (why === 'accept') folds.acceptLoss(end.n);
    await replay(parts, {
      from: LOG_START,
      mark: { ...end, fold: 0, boot: '' },
      to: end,
      onChunk: () => foldIfDue(parts),
    });
  } catch (error) {
    await folds.putBack(kept);
    index.unbuilt = unbuilt;
    throw error;
  }
  closeRuns(kept);
  index.recent.position = end;
  index.unbuilt = undefined;
}
