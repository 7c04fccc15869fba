import { monotonicNow } from '../../platform/clock.ts';
import { pause } from '../../platform/timers.ts';
import type { Session } from './driver.ts';
import { driverFault, storeError } from './driver-errors.ts';
import { endFailed } from './end-session.ts';
import type { Store } from '../store.ts';

const TRIES = 5;
const RETRY_MS = 20;

/**
 * Runs work on a connection of the pool. The work leaves no transaction open where it succeeds; it changes nothing, or may
 * be done twice: where the connection is lost or the server takes it back, it runs again, a few times.
 */
export async function inSession<Result>(store: Store, work: (session: Session) => Promise<Result>): Promise<Result> {
  const start = monotonicNow();
  for (let tries = 1; ; tries++) {
    try {
      return await once(store, work);
    } catch (error) {
      const { kind } = driverFault(error);
      const passes = kind === 'lost' || kind === 'again' || kind === 'unreachable' || kind === 'slow';
      if (!passes || tries === TRIES) throw storeError(error, store.place, monotonicNow() - start);
    }
    await pause(RETRY_MS * 2 ** tries);
  }
}

async function once<Result>(store: Store, work: (session: Session) => Promise<Result>): Promise<Result> {
  const session = await store.driver.connect();
  try {
    const result = await work(session);
    session.release();
    return result;
  } catch (error) {
    await endFailed(session, error);
    throw error;
  }
}
