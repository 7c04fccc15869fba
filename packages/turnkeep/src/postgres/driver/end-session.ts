import type { Session } from './driver.ts';
import { driverFault } from './driver-errors.ts';
import { rollback } from '../sql/transaction.ts';

/** Ends a transaction that failed and gives its connection back; throws it away where that is not certain to work. */
export async function endFailed(session: Session, error: unknown): Promise<void> {
  if (driverFault(error).kind === 'lost') return session.destroy();
  try {
    await session.run([rollback()]);
    return session.release();
  } catch {
    return session.destroy();
  }
}
