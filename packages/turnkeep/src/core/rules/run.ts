import { z } from 'zod';
import { RUN_STATUSES } from '../change.ts';
import type { RunEnd, RunStatus } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { RunId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { packRun, unpackRun } from '../rows.ts';
import type { RunRow } from '../rows.ts';
import { code, id, json, shortText } from '../shapes.ts';
import { findInherited, ownTurn } from '../tree/path.ts';
import type { LeftRows } from './left-rows.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';

/** A run that has not ended; `no_run` or `run_ended` otherwise. */
export function openRun(draft: Draft, runId: RunId): RunRow {
  const value = draft.get(KEYS.run(runId));
  if (!value) throw new TurnkeepError('no_run', { runId });
  const row = unpackRun(value);
  if (row.status !== 'running') throw new TurnkeepError('run_ended', { runId, status: row.status });
  return row;
}

/** A launch of an agent: `running`, then one of the ends. */
export const runStart: Rule<'run.start'> = {
  shape: z.strictObject({
    kind: z.literal('run.start'),
    runId: id.optional(),
    agent: shortText,
    baseTurnId: id.optional(),
    metadata: json.optional(),
  }),
  complete: (change, mint) => ({ ...change, runId: change.runId ?? mint('run') }),
  records: one,
  apply(draft, change, path) {
    const { kind, agent, metadata } = change;
    const runId = change.runId as RunId;
    const baseTurnId = change.baseTurnId ?? null;
    if (draft.get(KEYS.run(runId))) throw new TurnkeepError('run_exists', { runId });
    if (baseTurnId !== null && !ownTurn(draft.tree, baseTurnId) && !findInherited(draft.tree, baseTurnId)) {
      throw new TurnkeepError('no_turn', { turnId: baseTurnId });
    }
    const record = draft.addRecord({ agent, metadata }, path);
    const start = { version: draft.version, index: record };
    draft.put(KEYS.run(runId), packRun({ status: 'running', start, end: null, baseTurnId }));
    return { kind, runId, baseTurnId, record };
  },
  leaves: leavesRun,
};

const ENDS = RUN_STATUSES.filter((status): status is RunEnd['status'] => status !== 'running');

/** The end of a run, once. */
export const runEnd: Rule<'run.end'> = {
  shape: z.strictObject({
    kind: z.literal('run.end'),
    runId: id,
    status: z.enum(ENDS),
    reason: z.strictObject({ code, message: z.string() }).optional(),
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, runId, reason } = change;
    const status: RunStatus = change.status;
    const row = openRun(draft, runId);
    const record = draft.addRecord(reason ?? {}, `${path}.reason`);
    draft.put(KEYS.run(runId), packRun({ ...row, status, end: { version: draft.version, index: record } }));
    return { kind, runId, status, record };
  },
  leaves: leavesRun,
};

function leavesRun(left: LeftRows, { runId }: { readonly runId: RunId }): void {
  left.here(KEYS.run(runId), `run ${runId}`);
}
