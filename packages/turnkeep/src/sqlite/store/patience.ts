import { TurnkeepError } from '../../core/errors.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { pause, sleep } from '../../platform/timers.ts';
import { driverFault } from '../driver/driver-errors.ts';

const STEP_MS = 2;

/** What `work` answers; while another connection is in its way, again until the deadline, which is `store_busy`. */
export async function patiently<Result>(busyTimeoutMs: number, work: () => Result | Promise<Result>): Promise<Result> {
  for (const start = monotonicNow(); ;) {
    try {
      return await work();
    } catch (error) {
      assertMayWait(error, start, busyTimeoutMs);
    }
    await pause(STEP_MS);
  }
}

/** The same for a thread that nobody else needs meanwhile: it blocks. */
export function blockingly<Result>(busyTimeoutMs: number, work: () => Result): Result {
  for (const start = monotonicNow(); ;) {
    try {
      return work();
    } catch (error) {
      assertMayWait(error, start, busyTimeoutMs);
    }
    sleep(STEP_MS);
  }
}

function assertMayWait(error: unknown, start: number, busyTimeoutMs: number): void {
  if (driverFault(error).kind !== 'busy') throw error;
  assertInTime(start, busyTimeoutMs, error);
}

/** Throws `store_busy` where somebody has waited since `start` for as long as may be. */
export function assertInTime(start: number, busyTimeoutMs: number, cause?: unknown): void {
  const waitedMs = Math.round(monotonicNow() - start);
  if (waitedMs >= busyTimeoutMs) throw new TurnkeepError('store_busy', { waitedMs }, { cause });
}
