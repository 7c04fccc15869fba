import { z } from 'zod';
import type { CommitmentSelector } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { CommitmentId } from '../ids.ts';
import { ENTRIES, packCommitment, unpackCommitment } from '../rows.ts';
import type { CommitmentEntry, CommitmentStatus } from '../rows.ts';
import { id, meaningfulText, shortText } from '../shapes.ts';
import { EntryPlace } from './on-path.ts';
import { none, one, untold } from './rule.ts';
import type { Rule } from './rule.ts';

const PREFIXES = ['constraint', 'decision'] as const;

/**
 * The kind of a commitment: the given one, trimmed and lower-cased; else the one that its content starts with
 * (`constraint:` or `decision:`); else none.
 */
export function commitmentType(given: string | undefined, content: string): string | undefined {
  const named = given?.trim().toLowerCase();
  if (named) return named;
  const start = content.trimStart().toLowerCase();
  return PREFIXES.find((prefix) => start.startsWith(`${prefix}:`));
}

/** Adds an open commitment. */
export const commitmentAdd: Rule<'commitment.add'> = {
  shape: z.strictObject({
    kind: z.literal('commitment.add'),
    commitmentId: id.optional(),
    content: meaningfulText,
    type: shortText.optional(),
    turnId: id.optional(),
  }),
  complete: (change, mint) => ({ ...change, commitmentId: change.commitmentId ?? mint('com') }),
  records: one,
  apply(draft, change, path) {
    const { kind, content } = change;
    const commitmentId = change.commitmentId as CommitmentId;
    const place = new EntryPlace(draft, change.turnId);
    if (place.holding(ENTRIES.commitment(commitmentId))) throw new TurnkeepError('commitment_exists', { commitmentId });
    const record = draft.addRecord({ content, type: commitmentType(change.type, content) }, path);
    const entry = {
      status: 'open' as const,
      ref: draft.refTo(record),
      createdAt: draft.envelope.now,
      resolvedAt: null,
    };
    place.write(ENTRIES.commitment(commitmentId), packCommitment(entry, draft.conversationId));
    return { kind, commitmentId, record };
  },
  leaves: untold,
};

// Blank text is refused: it would match every commitment.
const selector: z.ZodType<CommitmentSelector> = z.union(
  [z.strictObject({ commitmentId: id }), z.strictObject({ matching: meaningfulText })],
  'expected { commitmentId } or { matching }',
);

/** Fulfils one commitment by id, or every open one whose content contains the text. */
export const commitmentResolve: Rule<'commitment.resolve'> = {
  shape: z.strictObject({ kind: z.literal('commitment.resolve'), which: selector, turnId: id.optional() }),
  records: none,
  apply: (draft, change) => {
    const commitmentIds = close(draft, new EntryPlace(draft, change.turnId), change.which, 'fulfilled');
    return { kind: change.kind, commitmentIds };
  },
  leaves: untold,
};

/** Expires one commitment by id, or every open one whose content contains the text. */
export const commitmentExpire: Rule<'commitment.expire'> = {
  shape: z.strictObject({ kind: z.literal('commitment.expire'), which: selector, turnId: id.optional() }),
  records: none,
  apply: (draft, change) => {
    const commitmentIds = close(draft, new EntryPlace(draft, change.turnId), change.which, 'expired');
    return { kind: change.kind, commitmentIds };
  },
  leaves: untold,
};

function close(
  draft: Draft,
  place: EntryPlace,
  which: CommitmentSelector,
  status: CommitmentStatus,
): readonly string[] {
  const chosen =
    'commitmentId' in which ? [byId(place, which.commitmentId, status)] : byText(draft, place, which.matching);
  for (const [commitmentId, entry] of chosen) {
    const closed = { ...entry, status, resolvedAt: draft.envelope.now };
    place.write(ENTRIES.commitment(commitmentId), packCommitment(closed, draft.conversationId));
  }
  return chosen.map(([commitmentId]) => commitmentId);
}

function byId(place: EntryPlace, commitmentId: CommitmentId, to: CommitmentStatus): readonly [string, CommitmentEntry] {
  const entry = place.holding(ENTRIES.commitment(commitmentId));
  if (!entry) throw new TurnkeepError('no_commitment', { commitmentId });
  const commitment = unpackCommitment(entry.value, entry.owner);
  if (commitment.status !== 'open') {
    throw new TurnkeepError('illegal_transition', {
      machine: 'commitment',
      id: commitmentId,
      from: commitment.status,
      to,
    });
  }
  return [commitmentId, commitment];
}

function byText(draft: Draft, place: EntryPlace, text: string): readonly (readonly [string, CommitmentEntry])[] {
  const start = ENTRIES.commitment('');
  const found: (readonly [string, CommitmentEntry])[] = [];
  for (const [name, entry] of place.allHolding(start)) {
    const commitment = unpackCommitment(entry.value, entry.owner);
    if (commitment.status !== 'open') continue;
    const content = draft.body(commitment.ref)?.['content'];
    if (typeof content === 'string' && content.includes(text)) found.push([name.slice(start.length), commitment]);
  }
  return found;
}
