import type { ErrorCode } from '../core/errors.ts';
import type { Rejection } from './rejection.ts';
import { REJECTED_AGENTS } from './rejections-of-agents.ts';
import { REJECTED_INPUT } from './rejections-of-input.ts';
import { REJECTED_BY_STATE } from './rejections-of-state.ts';
import { REJECTED_BY_TREE } from './rejections-of-tree.ts';

/** Every refusal that one commit shows. */
export const REJECTIONS: readonly Rejection[] = [
  ...REJECTED_INPUT,
  ...REJECTED_BY_STATE,
  ...REJECTED_BY_TREE,
  ...REJECTED_AGENTS,
];

/** Codes that cases of their own show, with the clause. */
export const SHOWN_ELSEWHERE: { readonly [Code in ErrorCode]?: string } = {
  limit_exceeded: 'S7: each limit',
  commit_id_reused: 'S4: each kind of change',
  erased: 'R6: a late write',
  parent_ended: 'R3: a sub-agent whose parent was cancelled',
  turn_open: 'R8: a fork of a turn at work',
  bad_cursor: 'R1, R2, R5: cursors of another reading',
  group_too_large: 'R1: a group larger than the window',
  context_too_large: 'no commit is refused so: a request that cannot fit, in the tests of contexts',
  turn_held: 'no commit is refused so: two that go on with one turn, in the tests of agents',
  turn_failed: 'no commit is refused so: a turn that failed is asked again, in the tests of agents',
  step_failed: 'no commit is refused so: a step that failed is asked again, in the tests of agents',
  not_completed: 'no commit is refused so: an answer that conflicts, in the tests of agents',
  aborted: 'S8: a caller who gives up',
  attachment_missing: 'R11: a commit that refers to what was never put',
  closed: 'S8: a closed handle',
};

/** Codes that no commit and no reading can show on every backend, and why. */
export const NOT_SHOWN: { readonly [Code in ErrorCode]?: string } = {
  unsupported: 'what a store lacks is each backend’s own',
  corrupt: 'damage is made by a way past the seam, which is each backend’s own',
  store_foreign: 'what a store is made of is each backend’s own',
  store_newer: 'what a store is made of is each backend’s own',
  store_locked: 'only a backend with a single writer refuses another',
  store_busy: 'it needs a lock held from outside',
  store_full: 'it needs a full disk',
  store_unavailable: 'it needs a broken connection or disk',
  overloaded: 'it needs as many waiting commits as LIMITS.queuedCommits, where the backend queues at all',
  outcome_unknown: 'it needs a connection lost between write and answer',
};
