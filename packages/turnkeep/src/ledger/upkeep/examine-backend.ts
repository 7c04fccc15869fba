import type { Backend } from '../../core/backend.ts';
import type { Surroundings } from '../../core/commit.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { Finding } from '../../core/finding.ts';

/** What was found about a store and its surroundings. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** True if no finding is a problem. */
  readonly isHealthy: boolean;
}

/** How far ahead of the clock the newest commit may be: two machines rarely differ by more. */
const CLOCK_SLACK_MS = 2_000;

/** What an open store says about its surroundings. */
export async function examineBackend(backend: Backend, surroundings: Surroundings): Promise<readonly Finding[]> {
  return [examineSync(backend), ...(await examineContents(backend, surroundings.now())), ...(await backend.examine())];
}

function examineSync({ traits }: Backend): Finding {
  const says = `${traits.backend}: ${traits.sync}`;
  if (traits.durability === 'power_loss') return { check: 'sync', status: 'ok', says };
  const advice =
    traits.durability === 'none'
      ? 'nothing outlives the process: name a file, a directory or a server to keep what is said'
      : 'an acknowledged commit may be lost with the machine’s power';
  return { check: 'sync', status: 'warning', says, advice };
}

async function examineContents(backend: Backend, now: number): Promise<readonly Finding[]> {
  try {
    return [examineClock(await newestCommit(backend), now)];
  } catch (error) {
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    return [{ check: 'damage', status: 'problem', says: error.message, advice: 'turnkeep verify lists all of it' }];
  }
}

async function newestCommit(backend: Backend): Promise<number> {
  let newest = 0;
  for (const namespace of await backend.namespaces()) {
    const [head] = await backend.read(namespace, (rows) => rows.heads({ order: 'activity', limit: 1 }));
    newest = Math.max(newest, head?.lastActivityAt ?? 0);
  }
  return newest;
}

function examineClock(newest: number, now: number): Finding {
  const clock = new Date(now).toISOString();
  if (newest <= now + CLOCK_SLACK_MS) return { check: 'clock', status: 'ok', says: clock };
  const says = `it is ${clock}, and the newest commit is of ${new Date(newest).toISOString()}`;
  const advice = 'set the clock; order does not come from it, but the times of new commits do';
  return { check: 'clock', status: 'problem', says, advice };
}
