import type { MessageId, TurnId } from '../ids.ts';
import { KEYS, numbersIn, prefixEnd } from '../keys.ts';
import { findMessage, placed, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import type { Segment, Tree } from '../tree/path.ts';

/** A message's place on a path: how many branches before that of the leaf, and where in that branch. */
interface PathPlace {
  readonly fromLeaf: number;
  readonly message: PlacedMessage;
}

/** The results of a path, up to and including a message, that came after sequence `seen`, in the order in which they came. */
export function lateResults(tree: Tree, leaf: TurnId | null, upTo: MessageId, seen: number): readonly PlacedMessage[] {
  const segments = [...pathTo(tree, leaf)];
  const end = placeOf(segments, findMessage(tree, upTo));
  if (!end) return [];
  const late = segments.flatMap((segment, fromLeaf) =>
    lateIn(tree, segment, seen).filter((message) => !isAfter({ fromLeaf, message }, end)),
  );
  return late.sort((left, right) => left.sequence - right.sequence);
}

function placeOf(segments: readonly Segment[], message: PlacedMessage | undefined): PathPlace | undefined {
  if (!message) return undefined;
  const fromLeaf = segments.findIndex((segment) => segmentSees(segment, message));
  return fromLeaf < 0 ? undefined : { fromLeaf, message };
}

function lateIn(tree: Tree, segment: Segment, seen: number): readonly PlacedMessage[] {
  const { owner, branch } = segment;
  const rows = tree.rows.scan(owner, { from: KEYS.late(branch, seen + 1), to: prefixEnd(KEYS.lateOf(branch)) });
  return rows.flatMap((row) => {
    const sequence = numbersIn(row.key, 1)[1] as number;
    const key = KEYS.message(branch, row.value[0] as number, sequence);
    const value = tree.rows.get(owner, key);
    const message = value && placed(owner, key, value);
    return message && segmentSees(segment, message) ? [message] : [];
  });
}

function isAfter(left: PathPlace, right: PathPlace): boolean {
  if (left.fromLeaf !== right.fromLeaf) return left.fromLeaf < right.fromLeaf;
  const { position, sequence } = left.message;
  if (position !== right.message.position) return position > right.message.position;
  return sequence > right.message.sequence;
}
