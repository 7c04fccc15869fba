import type { Finding } from '../core/finding.ts';
import { systemNow } from '../platform/clock.ts';
import { MIGRATIONS } from './schema/migrations.ts';
import { inSession } from './driver/session.ts';
import type { Store } from './store.ts';

const CLOCK_SLACK_MS = 2_000;

/** The format, the server's clock beside this machine's, and whether row-level security holds for this role. */
export async function examineServer(store: Store): Promise<readonly Finding[]> {
  const text = `SELECT extract(epoch FROM clock_timestamp()) OPERATOR(pg_catalog.*) 1000, current_user, rolsuper OR rolbypassrls
    FROM pg_roles WHERE rolname = current_user`;
  const asked = systemNow();
  const [[row] = []] = await inSession(store, (session) => session.run([{ name: 'tk_examine', text, values: [] }]));
  const [serverMs, role, passesBy] = row ?? [];
  return [
    { check: 'format', status: 'ok', says: `schema ${MIGRATIONS.length}` },
    clockFinding(Number(serverMs), asked, systemNow()),
    roleFinding(String(role), String(passesBy) === 'true' || passesBy === 't'),
  ];
}

/** The server looked at its clock between the question and the answer, however long that took. */
function clockFinding(serverMs: number, asked: number, answered: number): Finding {
  const differsMs = Math.max(0, asked - serverMs, serverMs - answered);
  const says = `the server's clock differs by ${Math.round(differsMs)} ms`;
  if (differsMs <= CLOCK_SLACK_MS) return { check: 'server_clock', status: 'ok', says };
  return { check: 'server_clock', status: 'warning', says, advice: 'set one of the two clocks' };
}

function roleFinding(role: string, passesBy: boolean): Finding {
  if (!passesBy) return { check: 'role', status: 'ok', says: `row-level security holds for ${role}` };
  const says = `${role} passes by row-level security: only the store's own statements keep tenants apart`;
  return {
    check: 'role',
    status: 'warning',
    says,
    advice: 'connect as a role that is neither superuser nor BYPASSRLS',
  };
}
