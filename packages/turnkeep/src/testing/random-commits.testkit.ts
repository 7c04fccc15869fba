import { array, integer, nat, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Change, Expect } from '../core/change.ts';
import type { Head } from '../core/head.ts';
import { answers, append, calls, says, text } from './scenes.ts';

/** One step of a random history, as numbers; what they mean depends on what is there when the step comes. */
export interface RandomStep {
  readonly conversation: number;
  readonly actions: readonly { readonly kind: number; readonly picks: readonly number[] }[];
  /** Below 6: the commit of so many steps before, sent again. */
  readonly again: number;
  /** What happens around the commit: 0 nothing, 1 an expectation that holds, 2 one that does not, 3 a collection. */
  readonly with: number;
  readonly clock: number;
}

export const randomSteps = (length: number): Arbitrary<readonly RandomStep[]> =>
  array(
    record({
      conversation: nat(3),
      actions: array(record({ kind: nat(ACTIONS.length - 1), picks: array(nat(30), { minLength: 5, maxLength: 5 }) }), {
        minLength: 1,
        maxLength: 2,
      }),
      again: nat(60),
      with: nat(11),
      clock: integer({ min: -5_000, max: 20_000 }),
    }),
    { minLength: length, maxLength: length },
  );

type Pick = (at: number, below: number) => number;

/** Mostly the next id that is free, sometimes any. */
const freshTurn = (pick: Pick, at: number, head: Head | undefined): string =>
  turn(pick(at, 5) === 0 ? pick(at, 12) : (head?.turns ?? 0));
const freshMessage = (pick: Pick, at: number, head: Head | undefined, ahead = 1): string =>
  message(pick(at, 6) === 0 ? pick(at, 24) : (head?.lastSequence ?? 0) + ahead);
const knownTurn = (pick: Pick, at: number, head: Head | undefined): string =>
  turn(pick(at, Math.max(1, head?.turns ?? 1)));
const knownMessage = (pick: Pick, at: number, head: Head | undefined): string =>
  message(1 + pick(at, Math.max(1, head?.lastSequence ?? 1)));

interface Action {
  readonly changes: (pick: Pick, head: Head | undefined) => readonly Change[];
  /** True where the change says what it saw. */
  readonly expects?: 'graphRevision' | 'transcript';
}

const turn = (at: number) => `t${at}`;
const message = (at: number) => `m${at}`;
const STATES = ['dispatching', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
const TASKS = ['running', 'awaiting_approval', 'completed', 'failed'] as const;
const WHEN_BUSY = ['enqueue', 'steer', 'interrupt'] as const;
const WORDS = ['alpha', 'Beta ς', '🔥 fire', 'ünï', '三点', 'x\u2028y', '\ud83d', 'nul\0'] as const;
const word = (at: number) => WORDS[at % WORDS.length] as string;

const ACTIONS: readonly Action[] = [
  {
    changes: (pick, head) => [
      { kind: 'turn.record', turnId: freshTurn(pick, 0, head), origin: 'import' },
      append(says('user', word(pick(1, 8)), freshMessage(pick, 2, head))),
      append(says('assistant', word(pick(3, 8)), freshMessage(pick, 4, head, 2))),
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'turn.submit',
        turnId: freshTurn(pick, 0, head),
        operationId: `o${pick(1, 4) === 0 ? pick(1, 9) : (head?.version ?? 0) + 10}`,
        messageId: freshMessage(pick, 2, head),
        promptId: `p${pick(3, 9)}`,
        prompt: [text(word(pick(4, 8)))],
      },
    ],
  },
  {
    changes: (pick, head) => [
      { kind: 'turn.advance', turnId: head?.busy[0] ?? knownTurn(pick, 0, head), to: STATES[pick(1, 6)] as 'running' },
    ],
  },
  { changes: (pick, head) => [append(says('user', word(pick(0, 8)), freshMessage(pick, 1, head)), head?.busy[0])] },
  { changes: (pick, head) => [append(calls(`l${pick(0, 9)}`, freshMessage(pick, 1, head)), head?.busy[0])] },
  { changes: (pick, head) => [append(answers(`l${pick(0, 9)}`, freshMessage(pick, 1, head)))] },
  {
    changes: (pick) => [
      {
        kind: 'checkpoint.create',
        checkpointId: `k${pick(0, 3)}`,
        type: 'agent',
        payload: { a: { json: word(pick(1, 8)).repeat(pick(2, 3) * 80) } },
      },
    ],
  },
  {
    changes: (pick) => [
      {
        kind: 'checkpoint.advance',
        checkpointId: `k${pick(0, 3)}`,
        from: pick(1, 3),
        payload: { a: { json: word(pick(2, 8)).repeat(pick(3, 3) * 80) } },
      },
    ],
  },
  { changes: (pick) => [{ kind: 'task.create', taskId: `w${pick(0, 5)}`, title: word(pick(1, 8)) }] },
  { changes: (pick) => [{ kind: 'task.transition', taskId: `w${pick(0, 5)}`, to: TASKS[pick(1, 4)] as 'running' }] },
  { changes: (pick) => [{ kind: 'commitment.add', commitmentId: `c${pick(0, 6)}`, content: word(pick(1, 8)) }] },
  {
    changes: (pick) => [
      {
        kind: pick(0, 2) ? 'commitment.resolve' : 'commitment.expire',
        which: pick(1, 2) ? { commitmentId: `c${pick(2, 6)}` } : { matching: word(pick(2, 8)).slice(0, 2) },
      },
    ],
  },
  {
    changes: (pick) => [
      { kind: 'state.update', objective: pick(0, 3) === 0 ? null : word(pick(1, 8)), blockers: [word(pick(2, 8))] },
    ],
  },
  {
    changes: (pick) => [
      { kind: 'conversation.fork', source: `conv-${pick(0, 4)}`, at: message(pick(1, 24)), title: word(pick(2, 8)) },
    ],
  },
  { changes: (pick) => [{ kind: 'conversation.fork', source: `conv-${pick(0, 4)}`, at: message(pick(1, 8)) }] },
  {
    changes: (pick, head) => [
      {
        kind: 'message.redact',
        messageId: knownMessage(pick, 0, head),
        reason: 'r',
        ...(pick(1, 2) ? { replacement: [text(word(pick(2, 8)))] } : {}),
      },
    ],
  },
  {
    changes: (pick) =>
      pick(0, 9) === 0 ? [{ kind: 'conversation.erase' }] : [{ kind: 'state.update', stage: word(pick(1, 8)) }],
  },
  {
    changes: (pick) => [
      {
        kind: 'conversation.update',
        title: word(pick(0, 8)),
        owner: pick(1, 2) ? 'ann' : null,
        archived: pick(2, 2) === 1,
        readThrough: { reader: 'ann', sequence: pick(3, 3) },
      },
    ],
  },
  {
    expects: 'transcript',
    changes: (pick, head) => [{ kind: 'summary.commit', upTo: knownMessage(pick, 0, head), text: word(pick(1, 8)) }],
  },
  { expects: 'graphRevision', changes: (pick, head) => [{ kind: 'leaf.select', turnId: knownTurn(pick, 0, head) }] },
  {
    expects: 'graphRevision',
    changes: (pick, head) => [
      {
        kind: 'turn.record',
        turnId: freshTurn(pick, 0, head),
        parent:
          pick(1, 4) === 0
            ? null
            : pick(1, 4) === 1
              ? { messageId: knownMessage(pick, 2, head) }
              : { turnId: knownTurn(pick, 2, head) },
        origin: 'x',
      },
      append(says('user', word(pick(3, 8)), freshMessage(pick, 4, head))),
    ],
  },
  {
    changes: (pick, head) => [
      { kind: 'attempt.start', attempt: `a${pick(0, 6)}`, turnId: head?.busy[0] ?? knownTurn(pick, 1, head) },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'attempt.takeover',
        attempt: `a${pick(0, 6)}`,
        turnId: head?.busy[0] ?? knownTurn(pick, 1, head),
        fromToken: 1 + pick(2, 2),
      },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'binding.save',
        turnId: knownTurn(pick, 0, head),
        history: `h${pick(1, 2)}`,
        cursor: pick(2, 9),
        capture: pick(3, 2) ? 'live' : 'replay',
      },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'operation.resolve',
        operationId: head?.openOperation ?? `o${pick(0, 9)}`,
        outcome: pick(1, 2) ? { status: 'succeeded' } : { status: 'failed', code: 'x', message: word(pick(2, 8)) },
      },
    ],
  },
  {
    changes: (pick) => [
      {
        kind: 'checkpoint.write',
        checkpointId: `k${pick(0, 3)}`,
        revision: pick(1, 2),
        task: 'n',
        index: pick(2, 4) - 1,
        channel: 'c',
        value: { json: word(pick(3, 8)) },
      },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'turn.submit',
        turnId: freshTurn(pick, 0, head),
        operationId: `i${pick(1, 5)}`,
        messageId: freshMessage(pick, 2, head),
        prompt: [text(word(pick(3, 8)))],
        whenBusy: WHEN_BUSY[pick(4, 3)],
      },
    ],
  },
  {
    changes: (pick) => [
      {
        kind: 'input.enqueue',
        inputId: `i${pick(0, 31)}`,
        from: pick(1, 6) === 0 ? pick(2, 2) : undefined,
        mode: pick(3, 2) ? 'steering' : 'queued',
        prompt: [text(word(pick(4, 8)))],
      },
    ],
  },
  {
    changes: (pick, head) => [
      pick(0, 4) === 0
        ? { kind: 'input.withdraw', inputId: `i${pick(1, 5)}` }
        : {
            kind: 'input.deliver',
            messageId: freshMessage(pick, 2, head),
            ...(pick(3, 2)
              ? { into: head?.busy[0] ?? knownTurn(pick, 4, head) }
              : { turnId: freshTurn(pick, 4, head) }),
          },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'usage.record',
        usageId: `u${pick(0, 31)}`,
        turnId: pick(1, 2) ? head?.busy[0] : undefined,
        provider: 'some',
        model: `model ${pick(2, 2)}`,
        inputTokens: pick(3, 9),
        cost: { amount: `0.${pick(4, 9)}`, currency: 'USD' },
      },
    ],
  },
  {
    changes: (pick, head) => [
      {
        kind: 'memory.upsert',
        memoryId: `n${pick(0, 31)}`,
        from: pick(1, 3) === 0 ? pick(2, 3) : undefined,
        text: pick(1, 3) === 0 && pick(3, 5) === 0 ? null : word(pick(3, 6)),
        sources: pick(4, 3) === 0 ? [knownMessage(pick, 4, head)] : [],
      },
    ],
  },
  {
    changes: (pick) => [
      {
        kind: 'conversation.spawn',
        parent: { conversationId: `conv-${pick(0, 4)}`, turnId: turn(pick(1, 12)) },
        title: word(pick(2, 8)),
      },
    ],
  },
  { changes: (pick) => [{ kind: 'task.amend', taskId: `w${pick(0, 5)}`, title: word(pick(1, 8)) }] },
];

/** What a step says of its commit, given the head that it would write to. */
export function changesOf(
  step: RandomStep,
  head: Head | undefined,
): { readonly changes: readonly Change[]; readonly expect: Expect | undefined } {
  const chosen = step.actions.map((action) => ({ action: ACTIONS[action.kind] as Action, picks: action.picks }));
  const changes = chosen.flatMap(({ action, picks }) => action.changes((at, below) => (picks[at] ?? 0) % below, head));
  const asked = new Set(chosen.map(({ action }) => action.expects));
  const seen: Expect = {
    ...(asked.has('graphRevision') ? { graphRevision: head?.graphRevision ?? 0 } : {}),
    ...(asked.has('transcript')
      ? { transcript: { turn: head?.leaf ?? null, lastSequence: head?.lastSequence ?? 0 } }
      : {}),
    ...(step.with === 1 ? { version: head?.version ?? 0, leaf: head?.leaf ?? null } : {}),
    ...(step.with === 2 ? { version: 999 } : {}),
  };
  return { changes, expect: Object.keys(seen).length > 0 ? seen : undefined };
}
