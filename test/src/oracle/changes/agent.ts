import type { InterruptId, JsonObject, RunId, StepOutcome, TurnId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Interrupt, Message, RecordedStep, Run, Turn, Words } from '../model.ts';
import { findTurn, ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { sameJson } from '../same.ts';
import { hasStarted, isTerminal, stateOf } from '../turn-states.ts';

/** Runs, steps and interrupts belong to their conversation: a fork inherits none. */

export function startRun(draft: Draft, change: ChangeOf<'run.start'>): Mark {
  const { kind, agent, metadata, baseTurnId = null } = change;
  const runId = change.runId as RunId; // minted beforehand
  const { runs } = draft.conversation;
  if (runs.has(runId)) refuse('run_exists', { runId });
  if (baseTurnId !== null && !findTurn(draft.conversation, baseTurnId)) refuse('no_turn', { turnId: baseTurnId });
  const words = { agent, metadata } as JsonObject;
  draft.become({ runs: withMember(runs, runId, { status: 'running', words, reason: null, baseTurnId }) });
  return { kind, runId, baseTurnId };
}

export function openRun(draft: Draft, runId: RunId): Run {
  const run = draft.conversation.runs.get(runId);
  if (!run) return refuse('no_run', { runId });
  return run.status === 'running' ? run : refuse('run_ended', { runId, status: run.status });
}

export function endRun(draft: Draft, change: ChangeOf<'run.end'>): Mark {
  const { kind, runId, status, reason = null } = change;
  const run = openRun(draft, runId);
  draft.become({ runs: withMember(draft.conversation.runs, runId, { ...run, status, reason }) });
  return { kind, runId, status };
}

/** A turn that has started and has not ended, written by whoever holds it; a call that is named stands in it. */
function turnAtWork(draft: Draft, turnId: TurnId, callId: string | undefined): Turn {
  const turn = ownTurn(draft.conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  const state = stateOf(turn);
  if (isTerminal(state)) refuse('turn_terminal', { turnId, state });
  if (!hasStarted(state)) refuse('turn_not_running', { turnId, state });
  draft.requireFence(turn);
  const inTurn = draft.conversation.messages.filter((message) => message.turnId === turnId);
  if (callId !== undefined && !inTurn.some((message) => message.calls.includes(callId))) refuse('no_call', { callId });
  return turn;
}

export function stepKey(turnId: TurnId, key: string): string {
  return JSON.stringify([turnId, key]);
}

function stepAt(draft: Draft, turnId: TurnId, key: string): RecordedStep | undefined {
  return draft.conversation.steps.get(stepKey(turnId, key));
}

function putStep(draft: Draft, step: RecordedStep): void {
  const { steps } = draft.conversation;
  draft.become({ steps: withMember(steps, stepKey(step.turnId, step.key), step) });
}

function say(draft: Draft, content: object): Words {
  const words = draft.say(content);
  draft.words.push(words);
  return words;
}

/** From `retry` a step starts again; from `started` and `failed` where it is safe to repeat; from `succeeded` never. */
export function startStep(draft: Draft, change: ChangeOf<'step.start'>): Mark {
  const { kind, turnId, callId, repeat = 'never', name, input } = change;
  const key = change.key as string; // that of the call where none was given
  const turn = turnAtWork(draft, turnId, callId);
  const known = stepAt(draft, turnId, key);
  if (known) assertMayRestart(known);
  const words = { name, input };
  const said = known && draft.contentOf(known.said);
  if (said && !sameJson(said, words)) refuse('step_conflict', { turnId, key });
  if (known && said) draft.words.push(known.said);
  const starts = (known?.starts ?? 0) + 1;
  const token = turn.attempt?.token ?? 0;
  const first = known ?? { said: say(draft, words), stamp: draft.stamp };
  putStep(draft, {
    turnId,
    key,
    status: 'started',
    token,
    repeat,
    starts,
    said: first.said,
    stamp: first.stamp,
    outcome: null,
    messageId: null,
  });
  return { kind, turnId, key, starts, ...(callId === undefined ? {} : { callId }) };
}

function assertMayRestart({ turnId, key, status, repeat }: RecordedStep): void {
  if (status === 'retry') return;
  if (status !== 'succeeded' && repeat === 'safe') return;
  if (status === 'started') refuse('ambiguous', { turnId, keys: [key] });
  refuse('step_ended', { turnId, key, status });
}

export function finishStep(draft: Draft, change: ChangeOf<'step.finish'>): Mark {
  const { kind, turnId, key, outcome } = change;
  const turn = turnAtWork(draft, turnId, undefined);
  const step = startedStep(draft, turnId, key);
  if (step.token !== (turn.attempt?.token ?? 0)) refuse('ambiguous', { turnId, keys: [key] });
  end(draft, step, outcome);
  return { kind, turnId, key, status: outcome.status };
}

export function settleStep(draft: Draft, change: ChangeOf<'step.settle'>): Mark {
  const { kind, turnId, key, outcome } = change;
  turnAtWork(draft, turnId, undefined);
  const step = startedStep(draft, turnId, key);
  if (outcome.status === 'retry') putStep(draft, { ...step, status: 'retry' });
  else end(draft, step, outcome);
  return { kind, turnId, key, status: outcome.status };
}

function startedStep(draft: Draft, turnId: TurnId, key: string): RecordedStep {
  const step = stepAt(draft, turnId, key);
  if (!step) return refuse('no_step', { turnId, key });
  return step.status === 'started' ? step : refuse('step_ended', { turnId, key, status: step.status });
}

function end(draft: Draft, step: RecordedStep, outcome: StepOutcome): void {
  const { status, ...words } = outcome;
  const messageId = outcome.status === 'succeeded' ? (outcome.messageId ?? null) : null;
  const said = draft.conversation.messages.find((message) => message.messageId === messageId);
  if (messageId !== null && said?.turnId !== step.turnId) refuse('no_message', { messageId });
  putStep(draft, { ...step, status, outcome: say(draft, words), messageId });
}

const MOST_OPEN = 256;

export function requestInterrupt(draft: Draft, change: ChangeOf<'interrupt.request'>): Mark {
  const { kind, turnId, type, callId = null, payload, expiresAt } = change;
  const interruptId = change.interruptId as InterruptId; // minted beforehand
  turnAtWork(draft, turnId, change.callId);
  const { interrupts } = draft.conversation;
  if (interrupts.has(interruptId)) refuse('interrupt_exists', { interruptId });
  const open = [...interrupts.values()].filter((one) => one.status === 'open').length + 1;
  const path = draft.where;
  if (open > MOST_OPEN) refuse('limit_exceeded', { limit: 'openInterrupts', max: MOST_OPEN, actual: open, path });
  putInterrupt(draft, {
    interruptId,
    turnId,
    status: 'open',
    type,
    callId,
    stamp: draft.stamp,
    asked: say(draft, { payload }),
    expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    answer: null,
  });
  return { kind, interruptId, turnId, type };
}

function putInterrupt(draft: Draft, interrupt: Interrupt): void {
  const { interrupts } = draft.conversation;
  draft.become({ interrupts: withMember(interrupts, interrupt.interruptId, interrupt) });
}

function openInterrupt(draft: Draft, interruptId: InterruptId): Interrupt {
  const interrupt = draft.conversation.interrupts.get(interruptId);
  if (!interrupt) return refuse('no_interrupt', { interruptId });
  const { status } = interrupt;
  return status === 'open' ? interrupt : refuse('interrupt_closed', { interruptId, status });
}

/** The first answer stands. */
export function answerInterrupt(draft: Draft, change: ChangeOf<'interrupt.answer'>): Mark {
  const { kind, interruptId, by, response } = change;
  const interrupt = openInterrupt(draft, interruptId);
  putInterrupt(draft, { ...interrupt, status: 'answered', answer: say(draft, { by, response }) });
  return { kind, interruptId, turnId: interrupt.turnId };
}

/** When its time has come; at any time where it has none. */
export function expireInterrupt(draft: Draft, change: ChangeOf<'interrupt.expire'>): Mark {
  const { kind, interruptId } = change;
  const interrupt = openInterrupt(draft, interruptId);
  const { expiresAt, turnId } = interrupt;
  if (expiresAt !== null && draft.now < expiresAt) {
    refuse('interrupt_not_due', { interruptId, expiresAt: new Date(expiresAt).toISOString() });
  }
  putInterrupt(draft, { ...interrupt, status: 'expired' });
  return { kind, interruptId, turnId };
}

/** Its words go: what was asked, and who answered what. */
export function redactInterrupt(draft: Draft, change: ChangeOf<'interrupt.redact'>): Mark {
  const { kind, interruptId, reason } = change;
  const interrupt = draft.conversation.interrupts.get(interruptId);
  if (!interrupt) return refuse('no_interrupt', { interruptId });
  const { turnId, asked, answer } = interrupt;
  const said = [asked, ...(answer ? [answer] : [])].filter((words) => draft.contentOf(words) !== null);
  const at = new Date(draft.now).toISOString();
  for (const words of said) draft.redactions.set(words, { reason, at, replacement: null });
  return { kind, interruptId, turnId, ...(said.length > 0 ? {} : { noop: true }) };
}

/** A turn that has ended asks nothing any more. */
export function withdrawInterrupts(draft: Draft, turnId: TurnId): void {
  for (const interrupt of draft.conversation.interrupts.values()) {
    if (interrupt.turnId === turnId && interrupt.status === 'open')
      putInterrupt(draft, { ...interrupt, status: 'withdrawn' });
  }
}

/** The words that were recorded of tool calls, in a conversation that said them. */
export function wordsOfCalls(draft: Draft, message: Message): readonly Words[] {
  const own = message.conversationId === draft.conversation.conversationId;
  const said = own ? draft.conversation : draft.oracle.find(message.conversationId);
  if (!said || 'erasedAt' in said || message.turnId === null) return [];
  const { turnId } = message;
  const calls = [...message.calls, ...message.answers];
  const steps = calls.flatMap((callId) => said.steps.get(stepKey(turnId, callId)) ?? []);
  const asked = [...said.interrupts.values()].filter(
    (one) => one.turnId === turnId && one.callId !== null && calls.includes(one.callId),
  );
  return [
    ...steps.flatMap((step) => [step.said, step.outcome ?? []].flat()),
    ...asked.flatMap((one) => [one.asked, one.answer ?? []].flat()),
  ];
}
