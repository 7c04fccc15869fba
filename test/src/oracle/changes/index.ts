import type { Change, ChangeEvent } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { refuse } from '../refusal.ts';
import * as agent from './agent.ts';
import * as attempt from './attempt.ts';
import * as binding from './binding.ts';
import * as checkpoint from './checkpoint.ts';
import * as conversation from './conversation.ts';
import * as entries from './entries.ts';
import { fork } from './fork.ts';
import * as input from './input.ts';
import * as memory from './memory.ts';
import * as message from './message.ts';
import * as operation from './operation.ts';
import { descendants, spawn } from './sub-agent.ts';
import { submit } from './submit.ts';
import * as turn from './turn.ts';
import * as usage from './usage.ts';

type Rules = { readonly [Kind in Change['kind']]: (draft: Draft, change: ChangeOf<Kind>) => Mark };

const RULES: Rules = {
  'conversation.create': conversation.create,
  'conversation.update': conversation.update,
  'conversation.fork': fork,
  'conversation.spawn': spawn,
  'conversation.erase': erase,
  'message.append': message.append,
  'message.redact': message.redact,
  'turn.submit': submit,
  'input.enqueue': input.enqueue,
  'input.deliver': input.deliver,
  'input.withdraw': input.withdraw,
  'turn.advance': turn.advance,
  'turn.record': turn.record,
  'leaf.select': turn.select,
  'operation.resolve': operation.resolve,
  'binding.save': binding.save,
  'run.start': agent.startRun,
  'run.end': agent.endRun,
  'attempt.start': attempt.start,
  'attempt.takeover': attempt.takeover,
  'step.start': agent.startStep,
  'step.finish': agent.finishStep,
  'step.settle': agent.settleStep,
  'interrupt.request': agent.requestInterrupt,
  'interrupt.answer': agent.answerInterrupt,
  'interrupt.expire': agent.expireInterrupt,
  'interrupt.redact': agent.redactInterrupt,
  'checkpoint.create': checkpoint.create,
  'checkpoint.advance': checkpoint.advance,
  'checkpoint.write': checkpoint.write,
  'task.create': entries.createTask,
  'task.amend': entries.amendTask,
  'task.transition': entries.moveTask,
  'state.update': entries.updateState,
  'commitment.add': entries.addCommitment,
  'commitment.resolve': entries.endCommitments,
  'commitment.expire': entries.endCommitments,
  'summary.commit': entries.commitSummary,
  'usage.record': usage.record,
  'memory.upsert': memory.upsert,
};

/** Applies a change to the draft and answers the mark that it leaves. */
export function apply(draft: Draft, change: Change): ChangeEvent {
  const rule = RULES[change.kind] as (draft: Draft, change: Change) => Mark; // each meets changes of its own kind
  return rule(draft, change) as ChangeEvent;
}

/** An erasure is the only change of its commit; see the oracle for what it leaves. */
function erase(draft: Draft, change: ChangeOf<'conversation.erase'>): Mark {
  if (draft.commit.changes.length > 1) refuse('invalid_value', { path: draft.where, reason: '' });
  const { conversationId, version } = draft.conversation;
  if (version === 0) refuse('conversation_not_found', { conversationId });
  for (const one of [draft.conversation, ...descendants(draft.oracle, draft.conversation)])
    memory.forgetMadeOf(draft, one.conversationId, null, 'conversation_erased');
  const { kind, reason } = change;
  return { kind, reason };
}
