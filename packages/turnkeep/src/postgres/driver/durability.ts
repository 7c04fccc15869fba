import type { Traits } from '../../core/backend.ts';
import type { Store } from '../store.ts';
import { inSession } from './session.ts';

/** What a commit that was acknowledged survives, as the server is set up now. */
export async function durabilityOf(store: Store): Promise<Pick<Traits, 'durability' | 'sync'>> {
  return inSession(store, async (session) => {
    const text = `SELECT current_setting('fsync'), current_setting('synchronous_commit'),
      current_setting('full_page_writes'), current_setting('server_version')`;
    const [[row] = []] = await session.run([{ name: 'tk_durability', text, values: [] }]);
    const [fsync, synchronous, fullPages, version] = (row ?? []).map(String);
    const isSafe = fsync === 'on' && fullPages === 'on' && synchronous !== 'off';
    const sync = `Postgres ${version}: fsync=${fsync}, synchronous_commit=${synchronous}, full_page_writes=${fullPages}`;
    return { durability: isSafe ? 'power_loss' : 'process_crash', sync };
  });
}
