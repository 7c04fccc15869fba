import type { Change, MessageId, NewMessage, Parent, Part, TaskStatus, TurnId, TurnState } from 'turnkeep/core';
import type { Generator } from './generate.ts';
import type { Conversation, Turn } from './model.ts';
import { messagesOn, notesOn, ownTurn, pathTo, visibleMessages, visibleTurns } from './path.ts';
import { isTerminal, stateOf } from './turn-states.ts';

type Make = (make: Generator, conversation: Conversation) => Change | undefined;

const CALLS = ['x1', 'x2', 'x3', 'x4', 'x5'] as const;
const TASKS = ['T1', 'T2', 'T3', 'T4', 'T5'] as const;
const COMMITMENTS = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'] as const;
const PROMPTS = ['P1', 'P2', 'P3'] as const;
const CHECKPOINTS = ['C1', 'C2', 'C3'] as const;
const ORDER: readonly TurnState[] = [
  'dispatching',
  'running',
  'running',
  'waiting',
  'completed',
  'completed',
  'completed',
  'failed',
  'cancelled',
];
const STATUSES: readonly TaskStatus[] = [
  'running',
  'running',
  'awaiting_approval',
  'completed',
  'completed',
  'failed',
  'superseded',
];

/** The changes of one commit: mostly one, sometimes a whole turn, sometimes any that come to mind. */
export function changesAtRandom(make: Generator, conversation: Conversation): readonly Change[] {
  const { random } = make;
  if (random.oneIn(5)) return wholeTurn(make, conversation);
  const count = random.oneIn(8) ? 2 + random.below(4) : 1;
  const changes = Array.from({ length: count }, () => one(make, conversation)).filter((change) => change !== undefined);
  return changes.length > 0 ? changes : [{ kind: 'state.update', objective: make.fresh('w') }];
}

/** A turn that is recorded, with its messages and what it noted. */
function wholeTurn(make: Generator, conversation: Conversation): readonly Change[] {
  const { random } = make;
  const turnId = random.oneIn(40) ? make.known('t') : make.fresh('t');
  const parent = parentAtRandom(make, conversation);
  const first: Change = { kind: 'turn.record', origin: 'import', turnId, ...(parent === undefined ? {} : { parent }) };
  const rest = Array.from({ length: 1 + random.below(6) }, (): Change | undefined =>
    random.below(5) < 3
      ? { kind: 'message.append', message: messageAtRandom(make, conversation), turnId }
      : note(make, conversation),
  );
  return [first, ...rest.filter((change) => change !== undefined)];
}

function one(make: Generator, conversation: Conversation): Change | undefined {
  return make.random.weighted(CHANGES)?.(make, conversation);
}

function note(make: Generator, conversation: Conversation): Change | undefined {
  return make.random.weighted(NOTES)?.(make, conversation);
}

/** Mostly the active leaf; sometimes any turn, sometimes one that is not there. */
function turnAtRandom(make: Generator, conversation: Conversation): { turnId?: TurnId } {
  const { random } = make;
  if (!random.oneIn(4)) return {};
  const atWork = conversation.turns.filter((turn) => !isTerminal(stateOf(turn)));
  const turn = random.pick(random.oneIn(3) ? visibleTurns(conversation) : atWork);
  if (random.oneIn(20)) return { turnId: make.known('t') };
  return turn ? { turnId: turn.turnId } : {};
}

function parentAtRandom(make: Generator, conversation: Conversation): Parent | undefined {
  const { random } = make;
  const inherited = conversation.inherited.flatMap((step) => step.messages);
  const choice = random.below(10);
  if (choice < 4) return undefined;
  if (choice === 4) return null;
  if (random.oneIn(40)) return { turnId: make.known('t') };
  const message = random.pick(choice < 6 && inherited.length > 0 ? inherited : visibleMessages(conversation));
  if (choice < 8 && message) return { messageId: message.messageId };
  const turn = random.pick(visibleTurns(conversation));
  return turn && { turnId: turn.turnId };
}

function text(make: Generator): Part {
  return { type: 'text', text: `${make.fresh('w')} ${make.random.below(100)}` };
}

function messageAtRandom(make: Generator, conversation: Conversation): NewMessage {
  const { random } = make;
  const parts: Part[] = [text(make)];
  for (const callId of CALLS) {
    if (!random.oneIn(7)) continue;
    parts.push({ type: 'tool_call', callId, name: 'look', input: { n: random.below(9) } });
    if (random.oneIn(6)) parts.push({ type: 'tool_result', callId, status: 'ok', output: random.below(9) });
  }
  const roles = ['user', 'assistant', 'assistant', 'tool', 'system'] as const;
  const id = random.oneIn(12) ? {} : { messageId: (random.oneIn(40) ? make.known('m') : make.fresh('m')) as MessageId };
  const held = heldOn(conversation, 'task').filter((id) => TASKS.some((task) => task === id));
  const task = random.oneIn(12)
    ? { taskId: random.pick(random.oneIn(8) || held.length === 0 ? TASKS : held) ?? 'T1' }
    : {};
  return {
    ...id,
    role: random.pick(roles),
    author: { id: random.pick(['ann', 'bob']), kind: 'human' },
    parts,
    ...task,
  };
}

function append(make: Generator, conversation: Conversation): Change {
  return { kind: 'message.append', message: messageAtRandom(make, conversation), ...turnAtRandom(make, conversation) };
}

/** The same message again, or its id with other words. */
function appendAgain(make: Generator, conversation: Conversation): Change | undefined {
  const known = make.random.pick(visibleMessages(conversation));
  if (!known) return undefined;
  const { messageId } = known;
  const other: NewMessage = { ...messageAtRandom(make, conversation), messageId };
  const same = { ...(known.words.content as unknown as NewMessage), messageId };
  const fits = known.words.content !== null && !('input' in known.words.content);
  return { kind: 'message.append', message: fits && make.random.oneIn(2) ? same : other };
}

/** Mostly a result of a call that nobody has answered, on whatever path. */
function answer(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const messages = visibleMessages(conversation);
  const answered = new Set(messages.flatMap((message) => message.answers));
  const calls = messages.flatMap((message) => message.calls);
  const open = calls.filter((callId) => !answered.has(callId));
  if (calls.length === 0 && !random.oneIn(20)) return append(make, conversation);
  const callIds = new Set([random.pick(random.pick([open, calls, CALLS])) ?? random.pick(CALLS)]);
  if (random.oneIn(8)) callIds.add(random.pick(CALLS));
  const results = [...callIds].map((callId): Part => ({
    type: 'tool_result',
    callId,
    status: 'ok',
    output: random.below(9),
  }));
  const message = { messageId: make.fresh('m'), role: 'tool' as const, parts: [text(make), ...results] };
  const turn = random.oneIn(12) ? turnAtRandom(make, conversation) : {};
  return { kind: 'message.append', message, ...turn };
}

function usage(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const known = random.pick([...conversation.usages.values()]);
  if (known && random.oneIn(5)) {
    const { words, usageId } = known;
    const model = random.oneIn(2) ? {} : { model: 'another' };
    return { ...words, ...model, usageId, kind: 'usage.record' } as unknown as Change;
  }
  const turn = random.pick(random.oneIn(6) ? visibleTurns(conversation) : conversation.turns);
  const amount = random.pick(['0.1', '0.25', '3', '0.000000000000000001', `${random.below(1_000)}.5`]);
  const cost = random.oneIn(3) ? {} : { cost: { amount, currency: random.pick(['USD', 'EUR']) } };
  return {
    kind: 'usage.record',
    usageId: make.fresh('u'),
    ...(turn && !random.oneIn(4) ? { turnId: turn.turnId } : {}),
    provider: random.pick(['p1', 'p2']),
    model: random.pick(['small', 'large']),
    inputTokens: random.below(1_000),
    ...(random.oneIn(2) ? { outputTokens: random.below(1_000), latencyMs: random.below(90) } : {}),
    ...cost,
  };
}

function memory(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const known = random.pick([...make.oracle.memories.values()].filter((one) => !one.forgotten || random.oneIn(9)));
  const seen = visibleMessages(conversation);
  const sources = Array.from({ length: random.below(3) }, () => random.pick(seen)?.messageId ?? make.known('m'));
  const words = { text: `${make.fresh('w')} fact`, ...(random.oneIn(4) ? {} : { sources: [...new Set(sources)] }) };
  if (!known || random.oneIn(3)) {
    const memoryId = random.oneIn(20) ? (known?.memoryId ?? make.fresh('n')) : make.fresh('n');
    return { kind: 'memory.upsert', memoryId, ...words };
  }
  const { memoryId, revision } = known;
  const from = random.oneIn(9) ? revision + 1 : revision;
  return { kind: 'memory.upsert', memoryId, from, ...words, ...(random.oneIn(8) ? { text: null } : {}) };
}

const WHEN_BUSY = ['reject', 'enqueue', 'steer', 'interrupt', 'interrupt'] as const;

/** Sometimes it may wait, and then it says nothing of where it will stand. */
function submit(make: Generator, conversation: Conversation): Change {
  const change = submitted(make, conversation);
  const whenBusy = make.random.oneIn(3) ? make.random.pick(WHEN_BUSY) : undefined;
  if (change.kind !== 'turn.submit' || whenBusy === undefined) return change;
  if (whenBusy === 'reject' || whenBusy === 'interrupt') return { ...change, whenBusy };
  const { parent: _parent, taskId: _task, samePromptAs, ...rest } = change;
  return { ...rest, whenBusy, ...(samePromptAs === undefined ? {} : { prompt: [text(make)] }) };
}

function input(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const known = [...conversation.inputs.values()];
  const waiting = known.filter((one) => one.status === 'waiting');
  const chosen = random.pick(random.oneIn(8) ? known : waiting);
  const prompt = [text(make)];
  const mode = random.oneIn(2) ? {} : { mode: random.pick(['queued', 'steering'] as const) };
  if (!chosen || random.oneIn(3)) {
    const inputId = random.oneIn(20) ? make.known(random.pick(['i', 'o'])) : make.fresh('i');
    return { kind: 'input.enqueue', inputId, prompt, ...mode };
  }
  const { inputId } = chosen;
  const from = random.oneIn(8) ? chosen.revision + 1 : chosen.revision;
  if (random.oneIn(4)) return { kind: 'input.enqueue', inputId, from, prompt, ...mode };
  if (random.oneIn(4)) return { kind: 'input.withdraw', inputId };
  const which = random.oneIn(2) ? {} : { inputId };
  const turn = random.oneIn(2) ? openTurn(make, conversation) : undefined;
  if (turn) return { kind: 'input.deliver', ...which, messageId: make.fresh('m'), into: turn.turnId };
  return { kind: 'input.deliver', ...which, messageId: make.fresh('m'), turnId: make.fresh('t') };
}

function submitted(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const parent = parentAtRandom(make, conversation);
  const ids = random.oneIn(6)
    ? {}
    : {
        turnId: make.fresh('t'),
        messageId: make.fresh('m'),
        operationId: random.oneIn(30) ? make.known('o') : make.fresh('o'),
      };
  const place = {
    ...ids,
    ...(parent === undefined ? {} : { parent }),
    ...(random.oneIn(20) ? { taskId: random.pick(TASKS) } : {}),
  };
  const asked = conversation.turns.concat(conversation.inherited.flatMap((step) => step.turn ?? []));
  const before = random.pick(random.oneIn(5) ? asked : asked.filter((turn) => turn.prompt));
  if (before && random.oneIn(2)) return { kind: 'turn.submit', ...place, samePromptAs: before.turnId };
  const promptId = random.pick(PROMPTS);
  // One of these prompts always asks the same, so that its id comes again with the same words and with others.
  const words: Part = promptId === 'P1' && !random.oneIn(3) ? { type: 'text', text: 'the prompt P1' } : text(make);
  return { kind: 'turn.submit', ...place, prompt: [words], ...(random.oneIn(4) ? { promptId } : {}) };
}

function openTurn(make: Generator, conversation: Conversation): Turn | undefined {
  const open = conversation.turns.filter((turn) => !isTerminal(stateOf(turn)));
  return make.random.pick(make.random.oneIn(15) ? conversation.turns : open);
}

function advance(make: Generator, conversation: Conversation): Change | undefined {
  const turn = openTurn(make, conversation);
  return turn && { kind: 'turn.advance', turnId: turn.turnId, to: make.random.pick(ORDER) ?? 'completed' };
}

function select(make: Generator, conversation: Conversation): Change | undefined {
  const turn = make.random.pick(visibleTurns(conversation));
  return turn && { kind: 'leaf.select', turnId: turn.turnId };
}

function resolve(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const known = random.pick([...conversation.operations.keys()]);
  const operationId = (random.oneIn(3) ? known : conversation.openOperation) ?? known;
  if (operationId === undefined) return undefined;
  const failed = { status: 'failed' as const, code: 'lost', message: make.fresh('w') };
  return { kind: 'operation.resolve', operationId, outcome: random.oneIn(2) ? failed : { status: 'succeeded' } };
}

function attempt(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const turn = openTurn(make, conversation);
  if (!turn) return undefined;
  const { turnId } = turn;
  const id = random.oneIn(20) ? make.known('a') : make.fresh('a');
  const runId = random.oneIn(3) ? random.pick([...conversation.runs.keys()]) : undefined;
  const by = runId === undefined ? {} : { runId };
  const fromToken = random.oneIn(5) ? random.below(3) : (turn.attempt?.token ?? 1);
  if (turn.attempt && !random.oneIn(5)) return { kind: 'attempt.takeover', attempt: id, turnId, fromToken, ...by };
  return { kind: 'attempt.start', attempt: id, turnId, ...by };
}

function run(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const running = [...conversation.runs].flatMap(([runId, { status }]) => (status === 'running' ? [runId] : []));
  const runId = random.pick(random.oneIn(8) ? [...conversation.runs.keys()] : running);
  if (runId === undefined || random.oneIn(2)) {
    const base = random.pick(visibleTurns(conversation));
    const from = base && random.oneIn(2) ? { baseTurnId: base.turnId } : {};
    return {
      kind: 'run.start',
      runId: random.oneIn(9) ? make.known('r') : make.fresh('r'),
      agent: make.fresh('w'),
      ...from,
    };
  }
  const reason = random.oneIn(2) ? { reason: { code: 'lost', message: make.fresh('w') } } : {};
  return { kind: 'run.end', runId, status: random.pick(['completed', 'failed', 'waiting']), ...reason };
}

/** The calls of a turn, mostly; a name that is none sometimes. */
function callOf(make: Generator, conversation: Conversation, turnId: TurnId): string | undefined {
  const { random } = make;
  const calls = conversation.messages.filter((one) => one.turnId === turnId).flatMap((one) => one.calls);
  return random.oneIn(12) ? random.pick(CALLS) : random.pick(calls);
}

function step(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const turn = openTurn(make, conversation);
  if (!turn) return undefined;
  const { turnId } = turn;
  const known = random.pick([...conversation.steps.values()].filter((one) => one.turnId === turnId));
  const callId = random.oneIn(3) ? callOf(make, conversation, turnId) : undefined;
  const key = callId ?? (known && !random.oneIn(3) ? known.key : `s${random.below(3)}`);
  if (!known || random.oneIn(3)) {
    const repeat = random.pick(['never', 'safe', 'reconcile'] as const);
    const named = callId === undefined ? { key } : { callId };
    // Mostly the same words for the same key, so that a restart says them again.
    const input = random.oneIn(9) ? make.fresh('w') : `${turnId} ${key}`;
    return { kind: 'step.start', turnId, ...named, repeat, input };
  }
  const said = random.pick(conversation.messages.filter((one) => random.oneIn(9) || one.turnId === turnId));
  const result = said && random.oneIn(3) ? { messageId: said.messageId } : { result: make.fresh('w') };
  const succeeded = { status: 'succeeded' as const, ...result };
  const failed = { status: 'failed' as const, code: 'broken', message: make.fresh('w') };
  const outcome = random.oneIn(3) ? failed : succeeded;
  if (!random.oneIn(3)) return { kind: 'step.finish', turnId, key, outcome };
  return { kind: 'step.settle', turnId, key, outcome: random.oneIn(2) ? { status: 'retry' } : outcome };
}

function interrupt(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const all = [...conversation.interrupts.values()];
  const open = all.filter((one) => one.status === 'open');
  const known = random.pick(random.oneIn(5) ? all : open);
  const interruptId = known?.interruptId;
  if (interruptId !== undefined && random.oneIn(2)) {
    if (random.oneIn(8)) return { kind: 'interrupt.redact', interruptId, reason: 'private' };
    if (random.oneIn(3)) return { kind: 'interrupt.expire', interruptId };
    return { kind: 'interrupt.answer', interruptId, by: 'ann', response: make.fresh('w') };
  }
  const turn = openTurn(make, conversation);
  if (!turn) return undefined;
  const callId = random.oneIn(2) ? callOf(make, conversation, turn.turnId) : undefined;
  const about = callId === undefined ? {} : { callId };
  const expires = random.oneIn(3)
    ? { expiresAt: new Date(1_700_000_000_000 + random.below(400_000)).toISOString() }
    : {};
  const id = random.oneIn(12) ? make.known('i') : make.fresh('i');
  return {
    kind: 'interrupt.request',
    interruptId: id,
    turnId: turn.turnId,
    type: 'input',
    payload: make.fresh('w'),
    ...about,
    ...expires,
  };
}

function redact(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const message = random.pick(visibleMessages(conversation));
  const messageId = random.oneIn(20) ? make.known('m') : message?.messageId;
  if (messageId === undefined) return undefined;
  const mine = message?.words.conversationId === conversation.conversationId;
  const replaces = random.oneIn(3) && (mine || random.oneIn(8));
  return { kind: 'message.redact', messageId, reason: 'private', ...(replaces ? { replacement: [text(make)] } : {}) };
}

function checkpoint(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const checkpointId = random.pick(CHECKPOINTS);
  const revisions = conversation.checkpoints.get(checkpointId)?.length ?? 0;
  // A long part is stored by its content, and this one is often the same.
  const payload = { small: { json: random.below(9) }, large: { json: `${random.below(3)}`.repeat(400) } };
  const revision = Math.max(0, revisions - (random.oneIn(6) ? 2 : 1));
  if (revisions === 0 || random.oneIn(8)) return { kind: 'checkpoint.create', checkpointId, type: 'agent', payload };
  if (random.oneIn(3))
    return {
      kind: 'checkpoint.write',
      checkpointId,
      revision,
      task: random.pick(TASKS),
      index: random.below(6) - 3,
      channel: 'out',
      value: { json: make.fresh('w') },
    };
  return { kind: 'checkpoint.advance', checkpointId, from: revision, phase: 'ready', payload };
}

function binding(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const turn = random.pick(visibleTurns(conversation));
  const capture = random.oneIn(3) ? 'live' : 'replay';
  return (
    turn && {
      kind: 'binding.save',
      turnId: turn.turnId,
      history: random.pick(['h1', 'h2']),
      cursor: make.fresh('w'),
      capture,
    }
  );
}

function update(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const title = random.oneIn(5) ? null : `${make.fresh('w')} title`;
  const titleSource = random.oneIn(2) ? 'auto' : 'user';
  const read = { reader: random.pick(['ann', 'bob']), sequence: random.below(conversation.lastSequence + 3) };
  const owner = random.pick(['ann', 'bob', null]);
  const updates: readonly [Change, ...Change[]] = [
    { kind: 'conversation.update', title, titleSource },
    { kind: 'conversation.update', owner, pinned: random.oneIn(2), labels: ['a', make.fresh('l')] },
    { kind: 'conversation.update', readThrough: read },
    { kind: 'conversation.update', busyScope: random.pick(['conversation', 'path']) },
  ];
  return random.pick(updates);
}

/** The ids of the notes of a kind that hold on the active path. */
function heldOn(conversation: Conversation, kind: 'task' | 'commitment'): readonly string[] {
  const keys = [...notesOn(pathTo(conversation, conversation.leaf)).keys()];
  return keys.filter((key) => key.startsWith(`${kind}:`)).map((key) => key.slice(kind.length + 1));
}

function state(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const objective = random.oneIn(5) ? null : make.fresh('w');
  const stage = random.oneIn(2) ? { stage: make.fresh('s') } : {};
  return { kind: 'state.update', objective, ...stage, ...turnAtRandom(make, conversation) };
}

function task(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const place = turnAtRandom(make, conversation);
  const held = heldOn(conversation, 'task');
  const taskId = random.pick(random.oneIn(12) ? TASKS : held) ?? random.pick(TASKS);
  const outcome = random.oneIn(3) ? { outcomeRef: make.fresh('w') } : {};
  const parent = random.oneIn(5) ? { parentTaskId: random.pick(TASKS) } : {};
  if (held.length === 0 || random.oneIn(4))
    return { kind: 'task.create', taskId: random.pick(TASKS), title: make.fresh('w'), ...parent, ...place };
  if (random.oneIn(4))
    return { kind: 'task.amend', taskId, title: make.fresh('w'), assignee: random.pick(['ann', null]), ...place };
  return { kind: 'task.transition', taskId, to: random.pick(STATUSES) ?? 'running', ...outcome, ...place };
}

function commitment(make: Generator, conversation: Conversation): Change {
  const { random } = make;
  const place = turnAtRandom(make, conversation);
  const held = heldOn(conversation, 'commitment');
  const content = `${random.pick(['decision: ', '', 'Constraint: '])}${make.fresh('w')} ${random.below(3)}`;
  if (held.length === 0 || random.oneIn(2))
    return { kind: 'commitment.add', commitmentId: random.pick(COMMITMENTS), content, ...place };
  const commitmentId = random.pick(random.oneIn(8) ? COMMITMENTS : held) ?? 'p1';
  const which = random.oneIn(3) ? { matching: ` ${random.below(3)}` } : { commitmentId };
  return { kind: random.pick(['commitment.resolve', 'commitment.expire']), which, ...place };
}

function summary(make: Generator, conversation: Conversation): Change | undefined {
  const { random } = make;
  const { leaf } = conversation;
  const message = random.pick(random.oneIn(6) ? visibleMessages(conversation) : messagesOn(pathTo(conversation, leaf)));
  const place = random.oneIn(6) ? turnAtRandom(make, conversation) : {};
  const own = leaf !== null && ownTurn(conversation, leaf) && random.oneIn(4) ? { turnId: leaf } : {};
  return message && { kind: 'summary.commit', upTo: message.messageId, text: make.fresh('w'), ...own, ...place };
}

const NOTES: readonly (readonly [number, Make])[] = [
  [6, state],
  [7, task],
  [6, commitment],
  [3, summary],
];

const CHANGES: readonly (readonly [number, Make])[] = [
  ...NOTES,
  [10, append],
  [3, appendAgain],
  [14, answer],
  [11, submit],
  [4, input],
  [3, usage],
  [3, memory],
  [19, advance],
  [6, select],
  [3, resolve],
  [4, attempt],
  [2, run],
  [7, step],
  [5, interrupt],
  [3, redact],
  [4, checkpoint],
  [1, binding],
  [2, update],
];
