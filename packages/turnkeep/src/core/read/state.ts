import type { CommitmentId, MessageId, SummaryId } from '../ids.ts';
import type { Json } from '../json.ts';
import { ENTRIES, unpackCommitment, unpackRef, unpackSummary } from '../rows.ts';
import type { CommitmentStatus } from '../rows.ts';
import { entriesOn, entryOn } from '../tree/entries.ts';
import type { AtVersion } from '../tree/entries.ts';
import type { Tree } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';
import type { PathOf } from './tasks.ts';

/** The notes of a conversation, as they hold on a path. */
export interface WorkingState {
  readonly objective: string | null;
  readonly stage: string | null;
  readonly nextStep: string | null;
  readonly blockers: readonly string[];
  readonly plan: readonly Json[];
  /** Counts the updates that led here; 0 if there was none. */
  readonly stateVersion: number;
}

/** The working state of a path. It never fails because there is none: an empty state is a state. */
export function readState(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): WorkingState {
  const entry = entryOn(tree, path(), ENTRIES.state, at);
  const body = (entry && bodies.body(unpackRef(entry.value[0], entry.owner))) ?? {};
  const fields = body as Partial<WorkingState>;
  return {
    objective: fields.objective ?? null,
    stage: fields.stage ?? null,
    nextStep: fields.nextStep ?? null,
    blockers: fields.blockers ?? [],
    plan: fields.plan ?? [],
    stateVersion: (entry?.value[1] as number | undefined) ?? 0,
  };
}

/** A promise or decision made in conversation. */
export interface Commitment {
  readonly commitmentId: CommitmentId;
  readonly status: CommitmentStatus;
  readonly content: string;
  readonly type?: string | undefined;
  readonly createdAt: string;
  readonly resolvedAt: string | null;
}

/** Every commitment of a path, in the order they were added. */
export function readCommitments(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): readonly Commitment[] {
  const start = ENTRIES.commitment('');
  return [...entriesOn(tree, path(), start, at)].map(([name, entry]) => {
    const { status, ref, createdAt, resolvedAt } = unpackCommitment(entry.value, entry.owner);
    const words = (bodies.body(ref) ?? { content: '' }) as unknown as Pick<Commitment, 'content' | 'type'>;
    return {
      ...words,
      commitmentId: name.slice(start.length),
      status,
      createdAt: new Date(createdAt).toISOString(),
      resolvedAt: resolvedAt === null ? null : new Date(resolvedAt).toISOString(),
    };
  });
}

/** Lossy text that stands for a prefix of a path. */
export interface Summary {
  readonly summaryId: SummaryId;
  /** The last message that it covers. */
  readonly upTo: MessageId;
  /** The highest sequence that it saw; anything that came late into its prefix is above. */
  readonly seen: number;
  readonly text: string;
  readonly metadata?: Json | undefined;
}

export function readSummary(tree: Tree, bodies: Bodies, path: PathOf, at: AtVersion = {}): Summary | undefined {
  const entry = entryOn(tree, path(), ENTRIES.summary, at);
  if (!entry) return undefined;
  const { upTo, seen, ref } = unpackSummary(entry.value, entry.owner);
  const words = (bodies.body(ref) ?? { summaryId: '', text: '' }) as unknown as Pick<
    Summary,
    'summaryId' | 'text' | 'metadata'
  >;
  return { ...words, upTo, seen };
}
