import type { ConversationId } from '../../core/ids.ts';
import { isShelf } from '../../core/shelf.ts';
import { isShared } from './shared-shelf.ts';
import type { WaitingCommit } from './waiting-commit.ts';

/** Commits of one transaction, and their length together. */
const GROUP_COMMITS = 64;
/** So many are never parted. */
const SHARED_COMMITS = 16;
const GROUP_LENGTH = 4_000_000;

/**
 * The commits of a namespace that have no answer yet, in the order in which they were sent. A commit keeps its place until
 * it is answered, however often it is tried, and is never taken before an earlier one that shares a conversation with it,
 * unless both are taken together: commits of a conversation are decided in the order in which they were sent.
 */
export class OpenCommits {
  readonly #commits = new Set<WaitingCommit>();
  /** How many there are of each conversation. */
  readonly #counts = new Map<ConversationId, number>();
  /** What those at work lock. */
  readonly #locked = new Set<ConversationId>();
  /** What those at work look at, and how many of them. */
  readonly #lookedAt = new Map<ConversationId, number>();
  #inLine = 0;

  get isEmpty(): boolean {
    return this.#commits.size === 0;
  }

  /** Adds a commit behind all others, and answers whether it can be taken at once. */
  add(commit: WaitingCommit): boolean {
    this.#commits.add(commit);
    let isFirst = true;
    for (const id of commit.orderedBy) {
      const before = this.#counts.get(id) ?? 0;
      this.#counts.set(id, before + 1);
      if (before > 0) isFirst = false;
    }
    return isFirst && this.#isFree(commit);
  }

  /** From now on the commit waits in line for what it locks. */
  putInLine(commit: WaitingCommit): void {
    if (commit.waitsInLine) return;
    commit.waitsInLine = true;
    this.#inLine += 1;
  }

  /** Removes a commit that is answered. */
  remove(commit: WaitingCommit): void {
    if (!this.#commits.delete(commit)) return;
    if (commit.waitsInLine) this.#inLine -= 1;
    for (const id of commit.orderedBy) {
      const left = (this.#counts.get(id) ?? 0) - 1;
      if (left > 0) this.#counts.set(id, left);
      else this.#counts.delete(id);
    }
  }

  /** True where there is something to {@link take}. */
  has(inLine: boolean): boolean {
    return (!inLine || this.#inLine > 0) && this.#next(inLine, 1).length > 0;
  }

  /**
   * What a transaction may take now, in order: commits of several conversations, half of what is open, so that the others
   * can be decided while the server writes these; or in line those of one.
   */
  take(inLine: boolean): readonly WaitingCommit[] {
    const half = Math.max(SHARED_COMMITS, Math.ceil(this.#commits.size / 2));
    const taken = this.#next(inLine, inLine ? GROUP_COMMITS : Math.min(GROUP_COMMITS, half));
    for (const commit of taken) {
      commit.state = 'at_work';
      commit.held = commit.locks.filter((id) => !isShared(id));
      commit.lookedAt = commit.looks.filter((id) => !commit.held.includes(id));
      for (const id of commit.held) this.#locked.add(id);
      for (const id of commit.lookedAt) this.#look(id, 1);
    }
    return taken;
  }

  /** Ends what {@link take} began: what was not answered waits again, at its place, unless it is to rest first. */
  release(taken: readonly WaitingCommit[]): void {
    for (const commit of taken) {
      for (const id of commit.held) this.#locked.delete(id);
      for (const id of commit.lookedAt) this.#look(id, -1);
      if (commit.isSettled) this.remove(commit);
      else if (commit.state === 'at_work') commit.state = 'waits';
    }
  }

  #look(id: ConversationId, more: number): void {
    const count = (this.#lookedAt.get(id) ?? 0) + more;
    if (count > 0) this.#lookedAt.set(id, count);
    else this.#lookedAt.delete(id);
  }

  #next(inLine: boolean, limit: number): WaitingCommit[] {
    const taken: WaitingCommit[] = [];
    /** Conversations of which something stays behind. */
    const left = new Set<ConversationId>();
    /** Shelves that one of them would write to. */
    const leftShelves = new Set<ConversationId>();
    let room = limit;
    let length = 0;
    for (const commit of this.#commits) {
      if (commit.state === 'at_work') continue;
      const [first] = taken;
      const belongs = inLine && first ? commit.conversation === first.conversation : commit.waitsInLine === inLine;
      const fits = !first || (taken.length < commit.groupLimit && length < GROUP_LENGTH);
      // Who only looks at a conversation goes behind those of it, too: there may always be one more that looks.
      const isBehind =
        [...commit.orderedBy, ...commit.looks].some((id) => left.has(id)) ||
        commit.looks.some((id) => leftShelves.has(id));
      if (belongs && fits && this.#isFree(commit) && !isBehind) {
        taken.push(commit);
        length += commit.envelope.length;
        room = Math.min(room, commit.groupLimit);
      } else {
        for (const id of commit.orderedBy) left.add(id);
        for (const id of commit.locks) if (isShelf(id) && !isShared(id)) leftShelves.add(id);
      }
      if (taken.length >= room || left.size === this.#counts.size) break;
    }
    return taken;
  }

  #isFree(commit: WaitingCommit): boolean {
    const { locks, looks, state } = commit;
    if (state !== 'waits' || looks.some((id) => this.#locked.has(id))) return false;
    return !locks.some((id) => this.#locked.has(id) || this.#lookedAt.has(id));
  }
}
