import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { MessageId, SummaryId } from '../ids.ts';
import { ENTRIES, packSummary, unpackSummary } from '../rows.ts';
import { id, json, meaningfulText } from '../shapes.ts';
import { findMessage, lastSequenceOn, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import { EntryPlace } from './on-path.ts';
import { one, untold } from './rule.ts';
import type { Rule } from './rule.ts';

/** Lossy text for a prefix of the path, longer than the last one's; the messages stay. */
export const summaryCommit: Rule<'summary.commit'> = {
  shape: z.strictObject({
    kind: z.literal('summary.commit'),
    summaryId: id.optional(),
    upTo: id,
    text: meaningfulText,
    metadata: json.optional(),
    turnId: id.optional(),
  }),
  complete: (change, mint) => ({ ...change, summaryId: change.summaryId ?? mint('sum') }),
  records: one,
  apply(draft, change, path) {
    if (!draft.envelope.commit.expect?.transcript) {
      throw new TurnkeepError('expect_required', { field: 'transcript', change: path });
    }
    const { kind, upTo, text, metadata } = change;
    const summaryId = change.summaryId as SummaryId;
    const place = new EntryPlace(draft, change.turnId);
    const end = orderOnPath(draft, place, upTo);
    if (!end) throw new TurnkeepError('no_message', { messageId: upTo });
    assertSawMessage(draft, end.message);
    const last = place.holding(ENTRIES.summary);
    if (last) assertLonger(draft, place, end, upTo, unpackSummary(last.value, last.owner).upTo);
    const seen = lastSequenceOn(draft.tree, place.path());
    const record = draft.addRecord({ summaryId, text, metadata }, path);
    place.write(ENTRIES.summary, packSummary({ upTo, seen, ref: draft.refTo(record) }, draft.conversationId));
    return { kind, summaryId, upTo, seen, record };
  },
  leaves: untold,
};

/** What a summary covers must be on the path that its writer saw. */
function assertSawMessage(draft: Draft, message: PlacedMessage): void {
  const turn = draft.envelope.commit.expect?.transcript?.turn ?? null;
  for (const segment of pathTo(draft.tree, turn)) if (segmentSees(segment, message)) return;
  throw new TurnkeepError('conflict', { field: 'transcript.turn', expected: turn, actual: draft.head.leaf });
}

/** A message's place on a path: how many branches before the leaf's, then position and sequence. */
interface PathOrder {
  readonly fromLeaf: number;
  readonly message: PlacedMessage;
}

function orderOnPath(draft: Draft, place: EntryPlace, messageId: MessageId): PathOrder | undefined {
  const message = findMessage(draft.tree, messageId);
  if (!message) return undefined;
  let fromLeaf = 0;
  for (const segment of place.path()) {
    if (segmentSees(segment, message)) return { fromLeaf, message };
    fromLeaf += 1;
  }
  return undefined;
}

function assertLonger(draft: Draft, place: EntryPlace, end: PathOrder, upTo: string, covered: MessageId): void {
  const before = orderOnPath(draft, place, covered);
  if (!before || isLater(end, before)) return;
  throw new TurnkeepError('summary_not_longer', { upTo, covered });
}

function isLater(left: PathOrder, right: PathOrder): boolean {
  if (left.fromLeaf !== right.fromLeaf) return left.fromLeaf < right.fromLeaf;
  const { position, sequence } = left.message;
  if (position !== right.message.position) return position > right.message.position;
  return sequence > right.message.sequence;
}
