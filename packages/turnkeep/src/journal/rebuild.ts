import { LOG_START } from './log/position.ts';
import type { Position } from './log/position.ts';
import { dropIndex, foldIfDue } from './recovery.ts';
import { replay } from './log/replay.ts';
import { IndexDamage } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * Builds the index anew from all lines up to `end`: because it is damaged, or because a person asks for it and accepts
 * that acknowledged lines are lost.
 */
export async function rebuildIndex(parts: StoreParts, end: Position, why: 'accept' | IndexDamage): Promise<void> {
  const { folds } = parts;
  await folds.pause();
  try {
    await replayAll(parts, end, why);
  } finally {
    folds.resume();
  }
}

async function replayAll(parts: StoreParts, end: Position, why: 'accept' | IndexDamage): Promise<void> {
  const { folds, index } = parts;
  if (why === 'accept') {
    folds.reset();
    folds.acceptLoss(end.n);
  } else {
    await dropIndex(parts, why);
  }
  index.unbuilt = why === 'accept' ? new IndexDamage('the index', 'a rebuild did not come to its end') : why;
  await replay(parts, {
    from: LOG_START,
    mark: { ...end, fold: 0, boot: '' },
    to: end,
    onChunk: () => foldIfDue(parts),
  });
  index.recent.position = end;
  index.unbuilt = undefined;
  await folds.fold();
  folds.sweep();
}
