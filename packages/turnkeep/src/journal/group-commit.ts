import type { Envelope, RowReader } from '../core/backend.ts';
import { decide } from '../core/decide.ts';
import type { Sha256 } from '../core/digest.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import { Overlay } from '../core/overlay.ts';
import type { Receipt } from '../core/receipt.ts';
import type { Answer } from './commit-queue.ts';
import { errorCode } from './files/file-system.ts';
import type { Decided } from './log/log-writer.ts';
import { IndexDamage, storeError } from './store-error.ts';

/** A group, each commit of it decided on what those before it leave. Nothing of it is written yet. */
export interface DecidedGroup {
  readonly answers: readonly Answer[];
  readonly writes: readonly Decided[];
}

export interface Deciding {
  readonly rowsOf: (namespace: NamespaceId) => RowReader;
  readonly sha256: Sha256;
}

/** Throws only `IndexDamage`; then the group is to be decided again. */
export function decideGroup(group: readonly Envelope[], deciding: Deciding): DecidedGroup {
  const overlays = new Map<NamespaceId, Overlay>();
  const writes: Decided[] = [];
  const answers = group.map((envelope): Answer => {
    const { namespace } = envelope.commit;
    let overlay = overlays.get(namespace);
    if (!overlay) overlays.set(namespace, (overlay = new Overlay(deciding.rowsOf(namespace))));
    try {
      return decideOne(envelope, overlay, deciding, writes);
    } catch (error) {
      if (error instanceof IndexDamage) throw error;
      // What it reads may not be had; a mistake in the rules is this commit's own failure as well.
      if (errorCode(error) !== undefined) return storeError(error, 'the journal');
      return error instanceof Error ? error : new Error(String(error));
    }
  });
  return { answers, writes };
}

function decideOne(envelope: Envelope, overlay: Overlay, { sha256 }: Deciding, writes: Decided[]): Receipt {
  const { namespace } = envelope.commit;
  const decision = decide(overlay, envelope, sha256);
  if (decision.outcome === 'refuse') throw decision.error;
  if (decision.outcome === 'write') {
    overlay.apply(decision.writes);
    writes.push({ namespace, writes: decision.writes });
  }
  return decision.receipt;
}

/** The answers of a group that could not be written. */
export function failedAnswers(group: readonly Envelope[], answers: readonly Answer[], error: Error): readonly Answer[] {
  if (error instanceof TurnkeepError) return answers.map((answer) => (answer instanceof Error ? answer : error));
  return answers.map((answer, at) => {
    if (answer instanceof Error) return answer;
    const commitId = group[at]?.commit.commitId ?? '';
    return new TurnkeepError('outcome_unknown', { commitId, reason: error.message }, { cause: error });
  });
}
