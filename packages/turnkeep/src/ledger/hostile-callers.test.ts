import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import type { TurnkeepError } from '../core/errors.ts';
import { exportText } from '../testing/export.ts';
import { opened, text } from './agent/agent.testkit.ts';
import { AgentTurn } from './agent/agent-turn.ts';
import { AttachmentContent } from './attachments/content.ts';
import { Attachments } from './attachments/attachments.ts';
import { Checkpoints } from './checkpoints.ts';
import { Commitments } from './commitments.ts';
import { Conversation } from './conversation.ts';
import { Inputs } from './inputs.ts';
import { Ledger } from './ledger.ts';
import { ConversationMemories, NamespaceMemories } from './memories.ts';
import { Namespace } from './namespace.ts';
import { openLedger } from './open.ts';
import { Operator } from './operator/operator.ts';
import { Tasks } from './tasks.ts';
import { ConversationUsage, NamespaceUsage } from './usage.ts';

/** What is thrown by a caller's own code. */
const THROWN = new RangeError('thrown by the caller');

function throws(): never {
  throw THROWN;
}

class Instance {
  get title(): string {
    return 'x';
  }
}

const getter: object = Object.defineProperty({}, 'title', { enumerable: true, get: throws });
const traps = (['get', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'has'] as const).map(
  (name) => new Proxy({ title: 1 }, { [name]: throws }),
);
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const NOT_PLAIN: readonly unknown[] = [new Date(0), new Map(), new Instance(), Promise.resolve({}), Object.create({})];
const NOT_OBJECTS: readonly unknown[] = [null, 5, 'x', true, 10n, Symbol('s'), () => ({}), [], [{}]];
const HOSTILE: readonly unknown[] = [getter, ...traps, revoked.proxy];
const EXTRA: readonly object[] = [{ misspelt: 1 }, JSON.parse('{"__proto__":1}') as object, { [Symbol('s')]: 1 }];

/** What an argument may not be, by what it is to be. */
const WRONG = {
  fields: [...NOT_OBJECTS, ...NOT_PLAIN, ...HOSTILE],
  list: [5, {}, null, new Set([{}]), [null], [5], [[]], Array(3), [getter], revoked.proxy, 10n, Symbol('s')],
  id: [null, 5, 10n, Symbol('s'), true, {}, [], '', 'a\0', '\ud800', 'é'.repeat(257), Number.NaN, new Date(0), getter],
  text: [null, 5, 10n, Symbol('s'), {}, [], new String('x'), getter],
  number: [null, '5', Number.NaN, Infinity, -1, 1.5, 10n, Symbol('s'), {}, [1], new Date(0), getter],
  word: [null, 5, 'Misspelt', '', '__proto__', 'constructor', {}, Symbol('s')],
  callback: [null, 5, 'x', {}, [], Promise.resolve()],
  bytes: [null, 5, 'x', {}, new Date(0), [5], getter],
  iteration: [null, 5, 'x', {}, new Date(0), getter],
  url: [null, 5, {}, Symbol('s'), '', 'x', 'ftp:x', getter],
} satisfies { readonly [kind: string]: readonly unknown[] };

interface Argument {
  readonly name: string;
  readonly kind: keyof typeof WRONG;
  /** What is handed in where another argument is wrong. */
  readonly good: unknown;
  readonly isOptional: boolean;
}

function asked(name: string, kind: keyof typeof WRONG, good: unknown): Argument {
  return { name, kind, good, isOptional: false };
}

function may(name: string, kind: keyof typeof WRONG): Argument {
  return { name, kind, good: undefined, isOptional: true };
}

const OPTIONS = may('options', 'fields');
const PROMPT = { prompt: [text('x')] };
const MESSAGE = { role: 'user', parts: [text('x')] };
const WRITE = { task: 'x', taskPath: 'x', index: 0, channel: 'x', value: { json: 1 } };
const SEEN = asked('options', 'fields', { expect: { graphRevision: 0 } });
const KEYED = asked('options', 'fields', { idempotencyKey: 'k' });
const AGENT = asked('agent', 'callback', async () => []);
const id = (name: string) => asked(name, 'id', 'x');
const POLICY = asked('policy', 'fields', { format: 'anthropic', budgetTokens: 1_000 });
const NOTHING: readonly Argument[] = [];

/** Every public method of every handle, with what it asks for. A method that is not here makes the first test red. */
const METHODS: { readonly [handle: string]: { readonly [method: string]: readonly Argument[] } } = {
  Ledger: {
    namespace: [id('namespace')],
    namespaces: NOTHING,
    verify: [OPTIONS],
    maintain: [OPTIONS],
    doctor: NOTHING,
    close: NOTHING,
  },
  Namespace: {
    conversation: [id('conversationId')],
    commit: [
      asked('commit', 'fields', { commitId: 'x', conversationId: 'x', changes: [{ kind: 'conversation.create' }] }),
      OPTIONS,
    ],
    page: [OPTIONS],
    conversations: [OPTIONS],
    search: [asked('text', 'text', 'x'), OPTIONS],
    interrupts: [OPTIONS],
    recover: [OPTIONS],
    answer: [id('interruptId'), asked('options', 'fields', { by: 'x', response: true })],
    watch: [OPTIONS],
    eraseSubject: [id('subjectId'), KEYED],
    collect: [OPTIONS],
  },
  Conversation: {
    commit: [asked('commit', 'list', [{ kind: 'conversation.update', title: 'x' }]), OPTIONS],
    create: [may('fields', 'fields'), OPTIONS],
    update: [asked('fields', 'fields', { title: 'x' }), OPTIONS],
    append: [asked('commit', 'fields', MESSAGE), OPTIONS],
    submit: [asked('turn', 'fields', PROMPT), OPTIONS],
    edit: [asked('turnId', 'id', 'turn'), asked('turn', 'fields', PROMPT), SEEN],
    regenerate: [asked('turnId', 'id', 'turn'), asked('turn', 'fields', {}), SEEN],
    record: [asked('turn', 'fields', { origin: 'x', messages: [MESSAGE] }), OPTIONS],
    advance: [id('commit'), asked('commit', 'word', 'running'), OPTIONS],
    select: [id('commit'), SEEN],
    resolveOperation: [id('commit'), asked('commit', 'fields', { status: 'succeeded' }), OPTIONS],
    saveBinding: [asked('binding', 'fields', { turnId: 'x', history: 'x', cursor: 1, capture: 'live' }), OPTIONS],
    updateState: [asked('fields', 'fields', { objective: 'x' }), OPTIONS],
    commitSummary: [asked('summary', 'fields', { text: 'x', upTo: 'x' }), SEEN],
    redact: [id('commit'), asked('how', 'fields', { reason: 'x' }), OPTIONS],
    fork: [id('commit'), asked('to', 'fields', { conversationId: 'y' }), OPTIONS],
    spawn: [asked('under', 'fields', { turnId: 'x' }), OPTIONS],
    subAgents: [may('turnId', 'id')],
    erase: [may('how', 'fields'), OPTIONS],
    run: [asked('turn', 'fields', PROMPT), AGENT, KEYED],
    resume: [id('turnId'), AGENT, OPTIONS],
    runNext: [AGENT, OPTIONS],
    stop: [asked('turnId', 'id', 'turn'), asked('reason', 'text', 'x')],
    reconnect: [OPTIONS],
    info: [OPTIONS],
    exists: NOTHING,
    window: [asked('count', 'number', 8), OPTIONS],
    page: [OPTIONS],
    read: [OPTIONS],
    message: [id('messageId')],
    graph: [OPTIONS],
    turn: [id('turnId')],
    siblings: [id('turnId')],
    at: [asked('version', 'number', 1)],
    state: [OPTIONS],
    summary: [OPTIONS],
    context: [POLICY],
    summarize: [POLICY, asked('summarizer', 'callback', async () => 'x'), OPTIONS],
    operation: [id('operationId')],
    openOperations: NOTHING,
    bindings: [id('turnId')],
    steps: [id('turnId')],
    interrupts: [may('turnId', 'id')],
    interrupt: [id('interruptId')],
    runRecord: [id('runId')],
    operator: [may('settings', 'fields')],
    search: [asked('text', 'text', 'x'), OPTIONS],
    watch: [OPTIONS],
  },
  Tasks: {
    create: [asked('task', 'fields', { title: 'x' }), OPTIONS],
    amend: [id('commit'), asked('words', 'fields', { title: 'x' }), OPTIONS],
    transition: [id('commit'), asked('commit', 'word', 'running'), may('more', 'fields'), OPTIONS],
    get: [id('taskId'), OPTIONS],
    active: [OPTIONS],
    latest: [OPTIONS],
    list: [OPTIONS],
    listOpen: [OPTIONS],
    messages: [id('taskId')],
  },
  Commitments: {
    add: [asked('commitment', 'fields', { content: 'x' }), OPTIONS],
    resolve: [asked('commit', 'fields', { commitmentId: 'x' }), OPTIONS],
    expire: [asked('commit', 'fields', { commitmentId: 'x' }), OPTIONS],
    list: [OPTIONS],
    openLoops: [OPTIONS],
    confirmedConstraints: [OPTIONS],
    recentDecisions: [OPTIONS],
  },
  Checkpoints: {
    create: [asked('checkpoint', 'fields', { type: 'x', payload: {} }), OPTIONS],
    advance: [id('commit'), asked('next', 'fields', { from: 0, payload: {} }), OPTIONS],
    write: [id('commit'), asked('commit', 'number', 0), asked('writes', 'list', [WRITE]), OPTIONS],
    get: [id('checkpointId'), may('revision', 'number')],
    pendingWrites: [id('checkpointId'), asked('revision', 'number', 0)],
  },
  Inputs: {
    enqueue: [asked('input', 'fields', { prompt: [text('x')], mode: 'queued' }), OPTIONS],
    edit: [id('commit'), asked('from', 'number', 0), asked('words', 'fields', PROMPT), OPTIONS],
    withdraw: [id('commit'), OPTIONS],
    startNext: [may('ids', 'fields'), OPTIONS],
    deliverInto: [id('turnId'), may('ids', 'fields'), OPTIONS],
    get: [id('inputId')],
    waiting: NOTHING,
  },
  ConversationUsage: {
    record: [asked('usage', 'fields', { provider: 'x', model: 'x' }), OPTIONS],
    get: [id('usageId')],
    total: NOTHING,
    ofTurn: [id('turnId')],
    byDay: [may('range', 'fields')],
  },
  ConversationMemories: {
    create: [asked('memory', 'fields', { text: 'x' }), OPTIONS],
    replace: [id('commit'), asked('from', 'number', 0), asked('memory', 'fields', { text: 'x' }), OPTIONS],
    forget: [id('commit'), asked('commit', 'number', 0), OPTIONS],
  },
  Operator: {
    send: [asked('said', 'list', 'x'), OPTIONS],
    complete: [asked('turnId', 'id', 'turn'), asked('answer', 'list', []), OPTIONS],
    fail: [asked('turnId', 'id', 'turn'), asked('failure', 'fields', { code: 'x', message: 'x' }), OPTIONS],
    approve: [OPTIONS],
    window: [may('count', 'number')],
    view: [may('lines', 'number')],
    watch: [OPTIONS],
  },
  NamespaceUsage: { total: NOTHING, byDay: [may('range', 'fields')] },
  NamespaceMemories: {
    get: [id('memoryId'), OPTIONS],
    list: [may('filter', 'fields')],
    search: [asked('query', 'text', 'x'), OPTIONS],
  },
  Attachments: {
    put: [asked('source', 'bytes', new Uint8Array(1)), OPTIONS],
    get: [asked('digest', 'id', '0'.repeat(64)), OPTIONS],
    stat: [asked('digest', 'id', '0'.repeat(64))],
  },
  AttachmentContent: { bytes: NOTHING, stream: NOTHING },
  AgentTurn: {
    step: [id('key'), asked('step x.work', 'callback', async () => 1), may('step x.options', 'fields')],
    model: [id('key'), asked('model x.call', 'callback', async () => []), may('model x.options', 'fields')],
    tool: [id('callId'), asked('tool x.work', 'callback', async () => 1), may('tool x.options', 'fields')],
    idFor: [asked('name', 'text', 'x')],
    append: [asked('key', 'text', 'x'), asked('message', 'fields', MESSAGE)],
    interrupt: [asked('asked', 'fields', { interruptId: 'x', type: 'input', payload: 1 })],
    draft: [asked('parts', 'list', [])],
    stream: [asked('parts', 'iteration', [])],
    inbox: NOTHING,
    complete: [may('completion', 'fields')],
    cancel: [asked('cancellation', 'fields', { reason: 'x' })],
  },
};

const CLASSES = {
  Ledger,
  Namespace,
  Conversation,
  Tasks,
  Commitments,
  Checkpoints,
  Inputs,
  ConversationUsage,
  ConversationMemories,
  Operator,
  NamespaceUsage,
  NamespaceMemories,
  Attachments,
  AttachmentContent,
  AgentTurn,
};

/** Getters answer what is there. */
function methodsOf({ prototype }: { readonly prototype: object }): readonly string[] {
  const members = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  return members.filter(([name, member]) => name !== 'constructor' && 'value' in member).map(([name]) => name);
}

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);
beforeAll(() => void process.on('unhandledRejection', onRejection));
afterAll(() => void process.off('unhandledRejection', onRejection));

test('every handle that a handle leads to is in the table', async () => {
  const { handles } = await scene();
  const types = new Set<unknown>([Object, ...Object.values(CLASSES)]);
  const led: readonly unknown[] = Object.values(handles).flatMap((handle) => Object.values(handle) as unknown[]);
  const others = led.filter((value) => typeof value === 'object' && value !== null && !types.has(value.constructor));
  expect(others).toEqual([]);
});

test('every method of every handle is in the table', () => {
  for (const [name, type] of Object.entries(CLASSES)) {
    expect([name, ...Object.keys(METHODS[name] ?? {}).toSorted()]).toEqual([name, ...methodsOf(type).toSorted()]);
  }
  expect(Object.keys(METHODS).toSorted()).toEqual(Object.keys(CLASSES).toSorted());
});

type Handle = { readonly [method: string]: (...args: readonly unknown[]) => unknown };

/** What a call throws, or rejects with, or its first step if it answers an iteration; `undefined` where it does not. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    const answer = await call();
    const isIteration = typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
    if (isIteration) await (answer as AsyncGenerator).next();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** How a refusal is not as it should be; `undefined` where it is. The fields of a change are told by their commit. */
function complaint(error: unknown, { name, good }: Argument): string | undefined {
  if (!isTurnkeepError(error)) return `is ${error === undefined ? 'taken' : shown(error)}`;
  if (error.code === 'not_completed') return complaint(error.cause, { name } as Argument);
  if (error.code === 'expect_required') return undefined;
  if (error.code !== 'invalid_value' && error.code !== 'limit_exceeded') return `is told as ${error.message}`;
  const { path } = error.details as TurnkeepError<'invalid_value'>['details'];
  const places = [name, 'commit.', ...Object.keys((good as object | undefined) ?? {})];
  return places.some((place) => path.startsWith(place)) ? undefined : `is told at ${path}`;
}

function wrongOf({ kind, good, isOptional }: Argument): readonly unknown[] {
  const more = kind === 'fields' ? EXTRA.map((extra) => withOwn(good, extra)) : [];
  return [...(isOptional ? [] : [undefined]), ...WRONG[kind], ...more];
}

/** Both values' members, also one that is called `__proto__`. */
function withOwn(good: unknown, extra: object): object {
  return Object.defineProperties({ ...(good as object) }, Object.getOwnPropertyDescriptors(extra));
}

function* wrongCalls(handle: Handle, methods: (typeof METHODS)[string]) {
  for (const [method, args] of Object.entries(methods)) {
    for (const [at, arg] of args.entries()) {
      for (const wrong of wrongOf(arg)) {
        const given = args.map(({ good }, place) => (place === at ? wrong : good));
        yield { what: `${method}(${arg.name}: ${shown(wrong)})`, arg, call: () => handle[method]?.(...given) };
      }
    }
  }
}

/** For a person: some of what is handed in has no words. */
function shown(value: unknown): string {
  return inspect(value, { depth: 0 }).split('\n', 1).join('').slice(0, 80);
}

async function complaintsOf(handle: unknown, methods: (typeof METHODS)[string]): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (const { what, arg, call } of wrongCalls(handle as Handle, methods)) {
    const problem = complaint(await failureOf(call), arg);
    if (problem !== undefined) complaints.push(`${what} ${problem}`);
  }
  return complaints;
}

async function scene(store = 'memory:') {
  const ledger = await openLedger(store);
  const space = ledger.namespace('n');
  const conversation = space.conversation('c');
  await conversation.submit({ prompt: [text('x')], turnId: 'turn' });
  const content = await space.attachments.put(new Uint8Array(1)).then(({ digest }) => space.attachments.get(digest));
  const handles: { readonly [Name in Exclude<keyof typeof CLASSES, 'AgentTurn'>]: object } = {
    Ledger: ledger,
    Namespace: space,
    Conversation: conversation,
    Tasks: conversation.tasks,
    Commitments: conversation.commitments,
    Checkpoints: conversation.checkpoints,
    Inputs: conversation.inputs,
    ConversationUsage: conversation.usage,
    ConversationMemories: conversation.memories,
    Operator: conversation.operator(),
    NamespaceUsage: space.usage,
    NamespaceMemories: space.memories,
    Attachments: space.attachments,
    AttachmentContent: content,
  };
  return { ledger, handles };
}

test.each(Object.keys(CLASSES).filter((name) => name !== 'AgentTurn'))(
  '%s refuses whatever it was not asked for, with its path, and changes nothing',
  async (name) => {
    const { ledger, handles } = await scene();
    const before = await exportText(ledger.backend);
    expect(await complaintsOf(handles[name as keyof typeof handles], METHODS[name] ?? {})).toEqual([]);
    expect(await exportText(ledger.backend)).toBe(before);
  },
);

test('AgentTurn refuses whatever it was not asked for, with its path, and goes on', async () => {
  const { conversation } = opened();
  let complaints: readonly string[] = ['not run'];
  const agent = async (turn: AgentTurn) => {
    complaints = await complaintsOf(turn, METHODS['AgentTurn'] ?? {});
    return [{ role: 'assistant' as const, parts: [text('done')] }];
  };
  const { state } = await conversation.run(PROMPT, agent, { idempotencyKey: 'k' });
  expect(complaints).toEqual([]);
  expect(state).toBe('completed');
  expect((await conversation.info()).messageCount).toBe(2);
});

/** They make a handle, or end one; the stream of an attachment tells when it is read. */
const NOT_CLOSED = new Set(['Ledger.namespace', 'Ledger.close', 'Namespace.conversation', 'Conversation.operator']);

let folder = '';
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'turnkeep-hostile-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(['memory:', 'sqlite:', 'journal:'])(
  'after its ledger was closed, twice at once, every method says so: %s',
  async (scheme) => {
    const { ledger, handles } = await scene(scheme === 'memory:' ? scheme : `${scheme}${join(folder, 'store')}`);
    await Promise.all([ledger.close(), ledger.close()]);
    await ledger.close();
    const complaints: string[] = [];
    for (const [name, handle] of Object.entries(handles)) {
      for (const [method, args] of Object.entries(METHODS[name] ?? {})) {
        const given = args.map(({ good }) => good);
        const call = async () => {
          const answer: unknown = await (handle as Handle)[method]?.(...given);
          return answer instanceof ReadableStream ? answer.getReader().read() : answer;
        };
        const error = await failureOf(call);
        const isRight = NOT_CLOSED.has(`${name}.${method}`) ? error === undefined : isTurnkeepError(error, 'closed');
        if (!isRight) complaints.push(`${name}.${method}: ${shown(error)}`);
      }
    }
    expect(complaints).toEqual([]);
  },
);

const REASONS: readonly unknown[] = ['x', Symbol('s'), 10n, Object.create(null), { toString: throws }, getter];

/** They end, or have an answer by then: nothing was written that could be told as given up. */
const QUIET = new Set([
  'Namespace.watch',
  'Conversation.watch',
  'Conversation.reconnect',
  'Operator.watch',
  'Operator.approve',
  'Namespace.answer',
  'Attachments.get',
]);

test('a call whose caller had given up, for whatever reason, says so, and changes nothing', async () => {
  const { ledger, handles } = await scene();
  const before = await exportText(ledger.backend);
  const complaints: string[] = [];
  for (const [name, handle] of Object.entries(handles)) {
    for (const [method, args] of Object.entries(METHODS[name] ?? {})) {
      if (args.at(-1)?.name !== 'options') continue;
      for (const reason of REASONS) {
        const signal = AbortSignal.abort(reason);
        const given = args.map(({ name, good }) => (name === 'options' ? { ...(good as object), signal } : good));
        const error = await failureOf(() => (handle as Handle)[method]?.(...given));
        const isUnknown = isTurnkeepError(error, 'invalid_value') && error.details.path === 'options.signal';
        const isQuiet = QUIET.has(`${name}.${method}`) && (error === undefined || isTurnkeepError(error));
        if (isUnknown || isQuiet || isTurnkeepError(error, 'aborted')) continue;
        complaints.push(`${name}.${method}: ${shown(error)}`);
      }
    }
  }
  expect(complaints).toEqual([]);
  expect(await exportText(ledger.backend)).toBe(before);
});

test('no promise of all these calls was left without an answer', () => {
  expect(rejections).toEqual([]);
});
