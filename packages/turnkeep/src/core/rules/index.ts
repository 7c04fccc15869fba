import type { ChangeKind } from '../change.ts';
import { attemptStart, attemptTakeover } from './attempt.ts';
import { bindingSave } from './binding.ts';
import { checkpointAdvance, checkpointCreate, checkpointWrite } from './checkpoint.ts';
import { commitmentAdd, commitmentExpire, commitmentResolve } from './commitment.ts';
import { conversationCreate, conversationUpdate } from './conversation.ts';
import { conversationErase } from './erase.ts';
import { conversationFork } from './fork.ts';
import { inputDeliver, inputEnqueue, inputWithdraw } from './input.ts';
import { memoryUpsert } from './memory.ts';
import { messageAppend, messageRedact } from './message.ts';
import { operationResolve } from './operation.ts';
import { interruptAnswer, interruptExpire, interruptRedact, interruptRequest } from './interrupt.ts';
import type { Rule } from './rule.ts';
import { runEnd, runStart } from './run.ts';
import { stateUpdate } from './state.ts';
import { stepFinish, stepSettle, stepStart } from './step.ts';
import { summaryCommit } from './summary.ts';
import { taskAmend, taskCreate, taskTransition } from './task.ts';
import { conversationSpawn } from './sub-agent.ts';
import { turnSubmit } from './submit.ts';
import { usageRecord } from './usage.ts';
import { leafSelect, turnAdvance, turnRecord } from './turn.ts';

/** Every kind of change and its rule. A new kind is a rules file, its event (event.ts) and a line here. */
export const RULES: { readonly [Kind in ChangeKind]: Rule<Kind> } = {
  'conversation.create': conversationCreate,
  'conversation.update': conversationUpdate,
  'conversation.fork': conversationFork,
  'conversation.spawn': conversationSpawn,
  'conversation.erase': conversationErase,
  'message.append': messageAppend,
  'message.redact': messageRedact,
  'turn.submit': turnSubmit,
  'input.enqueue': inputEnqueue,
  'input.deliver': inputDeliver,
  'input.withdraw': inputWithdraw,
  'turn.advance': turnAdvance,
  'turn.record': turnRecord,
  'leaf.select': leafSelect,
  'operation.resolve': operationResolve,
  'binding.save': bindingSave,
  'run.start': runStart,
  'run.end': runEnd,
  'attempt.start': attemptStart,
  'attempt.takeover': attemptTakeover,
  'step.start': stepStart,
  'step.finish': stepFinish,
  'step.settle': stepSettle,
  'interrupt.request': interruptRequest,
  'interrupt.answer': interruptAnswer,
  'interrupt.expire': interruptExpire,
  'interrupt.redact': interruptRedact,
  'checkpoint.create': checkpointCreate,
  'checkpoint.advance': checkpointAdvance,
  'checkpoint.write': checkpointWrite,
  'task.create': taskCreate,
  'task.amend': taskAmend,
  'task.transition': taskTransition,
  'state.update': stateUpdate,
  'commitment.add': commitmentAdd,
  'commitment.resolve': commitmentResolve,
  'commitment.expire': commitmentExpire,
  'summary.commit': summaryCommit,
  'usage.record': usageRecord,
  'memory.upsert': memoryUpsert,
};

/** The rule of a kind. Given the kind of any change it is typed for all kinds, but it only ever gets changes of its own. */
export function ruleFor<Kind extends ChangeKind>(kind: Kind): Rule<Kind> {
  return RULES[kind];
}
