import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One line of a trace. */
export type TraceEvent = 'write' | 'sync begins' | 'sync returns' | 'sync fails' | 'ack';

const SOURCE = fileURLToPath(new URL('../../../src/crash/sqlite/sync-trace.c', import.meta.url));
const CHILD = fileURLToPath(new URL('./trace-child.js', import.meta.url));

/**
 * Commits turns one after the other in a process whose writes and syncs are traced at the C library, and answers the trace
 * from the first turn on. It needs a C compiler, as building the SQLite driver does.
 */
export function traceOfCommits(turns: number): readonly TraceEvent[] {
  const directory = mkdtempSync(join(tmpdir(), 'turnkeep-trace-'));
  try {
    const library = join(directory, 'sync-trace.so');
    copyFileSync(SOURCE, join(directory, 'sync-trace.c'));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(directory, 'sync-trace.c'), '-ldl']);
    const trace = join(directory, 'trace.txt');
    execFileSync(process.execPath, [CHILD, join(directory, 'store.db'), trace, String(turns)], {
      env: { ...process.env, LD_PRELOAD: library, TURNKEEP_TRACE: trace },
    });
    const lines = readFileSync(trace, 'utf8').trim().split('\n');
    return lines.slice(lines.indexOf('start') + 1) as TraceEvent[];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What breaks the law "no acknowledgement precedes the return of its sync"; `undefined` where nothing does. */
export function earlyAcknowledgement(trace: readonly TraceEvent[]): string | undefined {
  let unsynced = false;
  let written = false;
  for (const [at, event] of trace.entries()) {
    if (event === 'write') [unsynced, written] = [true, true];
    if (event === 'sync fails') return `a sync failed at ${at}`;
    if (event === 'sync returns') unsynced = false;
    if (event !== 'ack') continue;
    if (!written) return `acknowledgement at ${at} without a write before it`;
    if (unsynced) return `acknowledgement at ${at} before the sync of what was written for it`;
    written = false;
  }
  return undefined;
}
