import { monotonicNow } from '../../platform/clock.ts';
import type { WriterBell } from './writer-bell.ts';
import type { ToWriter } from './writer-messages.ts';
import type { WriterQueue } from './writer-queue.ts';

/** While another process writes, so long between two looks at its lock; messages are read at once. */
const BUSY_STEP_MS = 0.3;
/** A commit that was announced is waited for no longer than this with the lock in hand: to prepare a turn takes a third of it. */
const EXPECTED_MS = 0.2;

/** Takes the next message, if there is one: it goes on the queue. */
export type Take = () => ToWriter['kind'] | undefined;

/** Works until it is told to close, and all that came before is answered. */
export function work(queue: WriterQueue, bell: WriterBell, take: Take): void {
  let expected = 0;
  for (let isClosing = false; !isClosing || !queue.isEmpty;) {
    const { rung } = bell; // first of all: what is sent from here on rings again
    for (let kind = take(); kind; kind = take()) isClosing ||= kind === 'close';
    if (!queue.isEmpty) {
      expected = bell.expected; // it has come
      if (!queue.step() && !queue.isEmpty) bell.wait(rung, BUSY_STEP_MS);
    } else if (bell.expected !== expected) {
      expected = bell.expected;
      isClosing ||= awaitCommit(queue, take) === 'close';
    } else if (!isClosing) {
      bell.wait(rung);
    }
  }
}

/** Has the lock in hand when a commit comes that is being made ready; it does not always come. Answers what came. */
function awaitCommit(queue: WriterQueue, take: Take): ToWriter['kind'] | undefined {
  queue.beginEarly();
  let kind: ToWriter['kind'] | undefined;
  for (const start = monotonicNow(); kind === undefined && monotonicNow() - start < EXPECTED_MS;) kind = take();
  if (queue.isEmpty) queue.giveUp();
  else queue.step();
  return kind;
}
