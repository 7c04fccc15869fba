import type { Envelope } from '../../core/backend.ts';
import { TurnkeepError, assert } from '../../core/errors.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { Connection } from '../driver/driver.ts';
import { driverFault, storeError } from '../driver/driver-errors.ts';
import { decideGroup } from './group.ts';
import type { Job, Outcome } from './group.ts';
import { NOT_SO } from '../sql/check-kept.ts';
import { assertEntered, enterNamespace, rememberSettings, restoreSettings } from '../sql/transaction.ts';
import { conversationsOf, looksOf } from './read-plan.ts';
import type { Store } from '../store.ts';

/** A commit names its conversations; what it comes upon further is asked for again, so often at most. */
const TRIES = 4;

/** Decides and writes a commit within a transaction that somebody else began and will end; refuses a client without one. */
export async function commitOn(store: Store, connection: Connection, envelope: Envelope): Promise<Receipt> {
  const locks = new Set(conversationsOf(envelope.commit));
  const looks = new Set(looksOf(envelope.commit));
  try {
    for (let tries = 0, known = 0; tries < TRIES; tries = locks.size + looks.size > known ? 0 : tries + 1) {
      known = locks.size + looks.size;
      const outcome = await tryOn(store, connection, { envelope, locks: [...locks], looks: [...looks] });
      if (outcome.kind === 'done') return outcome.receipt;
      if (outcome.kind !== 'needs') continue;
      for (const id of outcome.conversations) (outcome.to === 'write' ? locks : looks).add(id);
    }
  } catch (error) {
    if (driverFault(error).code === NOT_SO)
      throw new TurnkeepError('invalid_value', { path: 'client', reason: 'it is in no transaction: begin one first' });
    throw storeError(error, store.place, 0);
  }
  // Another transaction makes the same conversation at this moment.
  throw new TurnkeepError('store_busy', { waitedMs: 0 });
}

async function tryOn(store: Store, connection: Connection, job: Job): Promise<Outcome> {
  const outcome = (await decideOn(store, connection, job)).get(job);
  assert(outcome, 'every commit of a group has an outcome');
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome;
}

/** Leaves the transaction's settings as they were. */
async function decideOn(store: Store, connection: Connection, job: Job) {
  const { namespace } = job.envelope.commit;
  try {
    const group = await decideGroup(store, connection, namespace, [job], {
      enter: [rememberSettings(), enterNamespace(namespace), assertEntered()],
      wait: true,
      exists: () => false,
    });
    await connection.run([...group.batch.statements(store.schema, namespace), restoreSettings()]);
    return group.outcomes;
  } catch (error) {
    // Where the transaction failed they go with it.
    await connection.run([restoreSettings()]).catch(() => undefined);
    throw error;
  }
}
