import { array, assert, boolean, constantFrom, nat, oneof, property, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import type { ConversationId } from '../../core/ids.ts';
import { OpenCommits } from './open-commits.ts';
import { envelope } from '../postgres.testkit.ts';
import { WaitingCommit } from './waiting-commit.ts';

const CONVERSATIONS = ['a', 'b', 'c'];

/** A commit to a conversation; one in four shares a shelf with its like, one in four another conversation, and one looks at it. */
const commits = record({
  of: constantFrom(...CONVERSATIONS),
  besides: nat(3),
  source: constantFrom(...CONVERSATIONS),
});

/** What happens next: a commit is sent, a group or a line begins, or what is at work ends, well or not. */
const moves = oneof(
  { weight: 3, arbitrary: commits.map((commit) => ({ kind: 'send' as const, commit })) },
  { weight: 2, arbitrary: boolean().map((inLine) => ({ kind: 'take' as const, inLine })) },
  { weight: 2, arbitrary: nat(3).map((outcome) => ({ kind: 'end' as const, outcome })) },
);

type Sent = typeof commits extends Arbitrary<infer Commit> ? Commit : never;

function waiting({ of, besides, source }: Sent): WaitingCommit {
  const shelf = { kind: 'memory.upsert', memoryId: 'm', text: 'x' };
  const fork = { kind: 'conversation.fork', source, at: 'message' };
  const title = { kind: 'conversation.update', title: 'x' };
  const commit = new WaitingCommit(envelope(of, [besides === 0 ? shelf : besides === 1 ? fork : title]));
  if (besides === 2 && source !== of) commit.lookAlso([source]);
  return commit;
}

it('commits of a conversation are answered in the order in which they were sent, whatever is tried again', () => {
  assert(
    property(array(moves, { maxLength: 60 }), (all) => {
      const open = new OpenCommits();
      const sent: WaitingCommit[] = [];
      const answered: WaitingCommit[] = [];
      const atWork: (readonly WaitingCommit[])[] = [];

      const answer = (taken: readonly WaitingCommit[]): void => {
        for (const commit of taken) commit.refuse(new Error('answered'));
        answered.push(...taken);
      };
      const end = (outcome: number): void => {
        const taken = atWork.shift() ?? [];
        if (outcome === 0) answer(taken.slice(0, Math.ceil(taken.length / 2)));
        if (outcome === 1) answer(taken);
        for (const commit of taken) {
          if (outcome === 2) commit.groupLimit = Math.ceil(taken.length / 2);
          if (outcome === 3) open.putInLine(commit);
        }
        open.release(taken);
      };
      const take = (inLine: boolean): boolean => {
        const taken = open.take(inLine);
        const locks = taken.flatMap(({ held }) => held);
        const looks = taken.flatMap(({ lookedAt }) => lookedAt);
        for (const other of atWork.flat()) {
          for (const id of other.held) expect([...locks, ...looks]).not.toContain(id);
          for (const id of other.lookedAt) expect(locks).not.toContain(id);
        }
        if (taken.length > 0) atWork.push(taken);
        return taken.length > 0;
      };

      for (const move of all) {
        if (move.kind === 'send') {
          const commit = waiting(move.commit);
          commit.answer.catch(() => undefined);
          sent.push(commit);
          open.add(commit);
        } else if (move.kind === 'take') take(move.inLine);
        else end(move.outcome);
      }
      while (take(false) || take(true) || atWork.length > 0) end(1);

      expect(open.isEmpty).toBe(true);
      for (const id of CONVERSATIONS as ConversationId[]) {
        const isOf = ({ orderedBy }: WaitingCommit): boolean => orderedBy.includes(id);
        expect(answered.filter(isOf).map((commit) => sent.indexOf(commit))).toEqual(
          sent.flatMap((commit, at) => (isOf(commit) ? [at] : [])),
        );
      }
    }),
  );
});
