import { expect } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import type { Envelope, RowReader } from './backend.ts';
import type { Change, Expect } from './change.ts';
import { prepareCommit } from './commit.ts';
import { decide } from './decide.ts';
import type { Decision } from './decide.ts';
import type { ErrorCode, ErrorDetails } from './errors.ts';
import type { Head } from './head.ts';
import { Overlay } from './overlay.ts';
import { Bodies } from './read/bodies.ts';
import { graphTurns } from './read/graph.ts';
import type { GraphTurn } from './read/graph.ts';
import { readMessage } from './read/message.ts';
import type { Message } from './read/message.ts';
import { placedPage } from './read/pages.ts';
import { readCommitments, readState, readSummary } from './read/state.ts';
import type { Commitment, Summary, WorkingState } from './read/state.ts';
import { readActiveTask, readLatestTask, readTask } from './read/tasks.ts';
import type { Task } from './read/tasks.ts';
import { pathTo } from './tree/path.ts';
import type { Segment, Tree } from './tree/path.ts';

/**
 * Tests of the rules that read as sentences:
 *
 *     given(commit(submit('t1'))).when(commit(submit('t2'))).thenRefuses('busy', { turnId: 't1', state: 'preparing' });
 *
 * Commits go to the conversation `c` unless they say otherwise. Ids of commits, times and nonces are counted, so that a
 * story is the same each time.
 */

interface Step {
  readonly changes: readonly Change[];
  readonly conversationId: string;
  readonly commitId?: string | undefined;
  readonly expect?: Expect | undefined;
  readonly fence?: { readonly attempt: string; readonly token: number } | undefined;
  /** Milliseconds; the story's clock where absent. */
  readonly now?: number | undefined;
}

/** A commit as a phrase: what it changes, then how it is sent. */
export class Phrase {
  readonly step: Step;

  constructor(step: Step) {
    this.step = step;
  }

  to(conversationId: string): Phrase {
    return new Phrase({ ...this.step, conversationId });
  }

  as(commitId: string): Phrase {
    return new Phrase({ ...this.step, commitId });
  }

  expecting(expected: Expect): Phrase {
    return new Phrase({ ...this.step, expect: expected });
  }

  under(attempt: string, token: number): Phrase {
    return new Phrase({ ...this.step, fence: { attempt, token } });
  }

  at(now: number): Phrase {
    return new Phrase({ ...this.step, now });
  }
}

export function commit(...changes: readonly Change[]): Phrase {
  return new Phrase({ changes, conversationId: 'c' });
}

export function given(...phrases: readonly Phrase[]): Story {
  const story = new Story();
  for (const phrase of phrases) story.write(phrase);
  return story;
}

/** A store that holds nothing. */
export const EMPTY: RowReader = {
  head: () => undefined,
  get: () => undefined,
  scan: () => [],
  log: () => undefined,
  heads: () => [],
};

const START = Date.UTC(2026, 0, 1);

/** What has been committed so far. */
export class Story {
  readonly rows: Overlay = new Overlay(EMPTY);
  #count = 0;

  /** Decides a commit and leaves it at that. */
  when(phrase: Phrase): Outcome {
    return this.#decided(this.#envelope(phrase.step));
  }

  /**
   * What a second writer may do between the loading of a commit and its writing: `slow` is decided, `quick` is written,
   * and `slow` is decided again on what it finds then.
   */
  whenOvertaken(slow: Phrase, quick: Phrase): Outcome {
    const envelope = this.#envelope(slow.step);
    expect(decide(this.rows, envelope, sha256).outcome, 'alone it would be written').toBe('write');
    this.write(quick);
    return this.#decided(envelope);
  }

  #decided(envelope: Envelope): Outcome {
    return new Outcome(this, envelope.commit.conversationId, decide(this.rows, envelope, sha256));
  }

  /** Decides a commit and writes it; throws the refusal. */
  write(phrase: Phrase): void {
    const decision = decide(this.rows, this.#envelope(phrase.step), sha256);
    if (decision.outcome === 'refuse') throw decision.error;
    if (decision.outcome === 'write') this.rows.apply(decision.writes);
  }

  #envelope(step: Step): Envelope {
    this.#count += 1;
    const at = this.#count;
    let nonces = 0;
    const { conversationId, expect: expected, fence, changes } = step;
    const plain = { commitId: step.commitId ?? `commit-${at}`, namespace: 'n', conversationId, changes };
    const optional = { ...(expected ? { expect: expected } : {}), ...(fence ? { fence } : {}) };
    const now = step.now ?? START + at * 1000;
    return prepareCommit({ ...plain, ...optional }, { sha256, now: () => now, nonce: () => `nonce ${at} ${nonces++}` });
  }

  /** What readers see of a conversation. */
  seen(conversationId: string = 'c'): Seen {
    const head = this.rows.head(conversationId);
    if (!head) throw new Error(`no conversation ${conversationId}`);
    return new Seen(this.rows, head);
  }
}

/** How a commit was answered. */
export class Outcome {
  readonly decision: Decision;
  readonly #story: Story;
  readonly #conversationId: string;

  constructor(story: Story, conversationId: string, decision: Decision) {
    this.#story = story;
    this.#conversationId = conversationId;
    this.decision = decision;
  }

  /** The commit is refused with exactly these details. */
  thenRefuses<Code extends ErrorCode>(code: Code, details: ErrorDetails[Code]): void {
    const { decision } = this;
    if (decision.outcome !== 'refuse') expect.fail(`refused with ${code}, not: ${decision.outcome}`);
    expect({ code: decision.error.code, details: decision.error.details }).toEqual({ code, details });
  }

  /** The commit is written; its last event says at least this. */
  thenWrites(event: object = {}): Story {
    const { decision } = this;
    if (decision.outcome !== 'write') throw decision.outcome === 'refuse' ? decision.error : new Error('a replay');
    expect(decision.receipt.events.at(-1)).toMatchObject(event);
    this.#story.rows.apply(decision.writes);
    return this.#story;
  }

  /** The commit is written, and readers then see this. */
  thenSees(check: (seen: Seen) => void): Story {
    const story = this.thenWrites();
    check(story.seen(this.#conversationId));
    return story;
  }

  /** The commit changes nothing and answers with the receipt of an earlier version. */
  thenReplays(version: number): void {
    const { decision } = this;
    if (decision.outcome === 'refuse') throw decision.error;
    expect(decision).toMatchObject({ outcome: 'replay', receipt: { version, replayed: true } });
  }
}

/** A conversation as readers see it; `leaf` absent is the active one. */
export class Seen {
  readonly head: Head;
  readonly tree: Tree;
  readonly bodies: Bodies;

  constructor(rows: RowReader, head: Head) {
    this.head = head;
    this.tree = { rows, head };
    this.bodies = new Bodies(rows, sha256);
  }

  path(leaf: string | null = this.head.leaf): Iterable<Segment> {
    return pathTo(this.tree, leaf);
  }

  messages(leaf: string | null = this.head.leaf): readonly Message[] {
    const { messages } = placedPage(this.tree, { leaf, limit: 1000 });
    return messages.map((message) => readMessage(this.tree, this.bodies, message));
  }

  /** The ids on a path, root first. */
  ids(leaf: string | null = this.head.leaf): readonly string[] {
    return this.messages(leaf).map(({ messageId }) => messageId);
  }

  turn(turnId: string): GraphTurn | undefined {
    return graphTurns(this.tree).find((one) => one.turnId === turnId);
  }

  state(leaf: string | null = this.head.leaf): WorkingState {
    return readState(this.tree, this.bodies, () => this.path(leaf));
  }

  commitments(leaf: string | null = this.head.leaf): readonly Commitment[] {
    return readCommitments(this.tree, this.bodies, () => this.path(leaf));
  }

  /** The ids of open commitments. */
  open(leaf: string | null = this.head.leaf): readonly string[] {
    const open = this.commitments(leaf).filter(({ status }) => status === 'open');
    return open.map(({ commitmentId }) => commitmentId);
  }

  task(taskId: string, leaf: string | null = this.head.leaf): Task | undefined {
    return readTask(this.tree, this.bodies, () => this.path(leaf), taskId);
  }

  activeTask(leaf: string | null = this.head.leaf): string | undefined {
    return readActiveTask(this.tree, this.bodies, () => this.path(leaf))?.taskId;
  }

  latestTask(leaf: string | null = this.head.leaf): string | undefined {
    return readLatestTask(this.tree, this.bodies, () => this.path(leaf))?.taskId;
  }

  summary(leaf: string | null = this.head.leaf): Summary | undefined {
    return readSummary(this.tree, this.bodies, () => this.path(leaf));
  }
}
