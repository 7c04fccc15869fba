import type { Mutation } from '../mutation.ts';

const LEASE = 'ledger/agent/lease.js';
const HOLD = 'ledger/agent/hold.js';
const WRITER = 'ledger/agent/turn-writer.js';
const DRAFT = 'ledger/agent/draft.js';
const WORK = 'ledger/agent/turn-work.js';
const FOLLOW = 'ledger/agent/follow.js';
const UNFINISHED = 'ledger/agent/unfinished.js';
const FROM_OUTSIDE = 'ledger/agent/end-from-outside.js';
const RECOVER = 'ledger/agent/recover.js';
const SUB_AGENTS = 'ledger/sub-agents.js';
const SUBJECT = 'ledger/upkeep/erase-subject.js';

/** What the handles promise beyond the rules: turns of agents, the erasure of a person, watching, contexts. */
export const LEDGER: readonly Mutation[] = [
  {
    file: LEASE,
    breaks: 'an attempt shows less often that it lives than others watch it',
    find: 'const BEATS_PER_TTL = 3;',
    replace: 'const BEATS_PER_TTL = 0.4;',
  },
  {
    file: LEASE,
    breaks: 'an owner that let go is watched',
    find: 'beat.released === true ||',
    replace: '',
  },
  {
    file: LEASE,
    breaks: 'an owner whose process has ended is watched',
    find: '|| !realProcesses.mayLive(beat.owner)',
    replace: '',
  },
  {
    file: LEASE,
    breaks: 'an owner that lives is taken for dead',
    find: '!realProcesses.mayLive(beat.owner)',
    replace: 'true',
  },
  {
    file: HOLD,
    breaks: 'a turn is held before its first beat',
    find: 'await lease.begin(); try { await persist(access, () => changesOf(turnId, found, { attempt, runId, agent: options.agent }));',
    replace:
      'try { await persist(access, () => changesOf(turnId, found, { attempt, runId, agent: options.agent })); await lease.begin();',
    tests: ['agent/lease'],
  },
  {
    file: HOLD,
    breaks: 'the beat of an owner that is gone stays when its turn is taken over',
    find: 'await removeBeat(access, held.attempt);',
    replace: '',
    tests: ['agent/recover'],
  },
  {
    file: DRAFT,
    breaks: 'pieces of reasoning stay apart',
    find: "one.type === 'text' || one.type === 'reasoning'",
    replace: "one.type === 'text'",
    tests: ['agent/draft'],
  },
  {
    file: 'ledger/attachments/content.js',
    breaks: 'the bytes of a whole attachment are not held against its digest',
    find: 'const lastPart = this.#parts.length - 1;',
    replace: 'const lastPart = this.#parts.length;',
    tests: ['attachments/attachments'],
  },
  {
    file: DRAFT,
    breaks: 'a draft is written after its end',
    find: 'if (this.#isSilent) return this.#last;',
    replace: '',
    tests: ['agent/draft'],
  },
  {
    file: WORK,
    breaks: 'an answer that meets the expiry of its question is an error',
    find: "if (isTurnkeepError(error, 'interrupt_closed')) return true;",
    replace: '',
    tests: ['agent/turn-work'],
  },
  {
    file: WRITER,
    breaks: 'a checkpoint does not say that a step is at work',
    find: "return after === 0 ? 'ready' : 'in_flight';",
    replace: "return 'ready';",
    tests: ['agent/agent-turn'],
  },
  {
    file: WRITER,
    breaks: 'a checkpoint does not say how its turn ended',
    find: 'const phase = effect.phase ?? phaseBetween',
    replace: 'const phase = phaseBetween',
    tests: ['agent/agent-turn', 'agent/recover'],
  },
  {
    file: WORK,
    breaks: 'only the step that is asked for is told to be ambiguous',
    find: 'keys: await this.#ambiguousKeys()',
    replace: 'keys: [key]',
    tests: ['agent/agent-turn'],
  },
  {
    file: WORK,
    breaks: 'a step that may be repeated is told to be ambiguous',
    find: "&& step.repeat !== 'safe' ? [step.key]",
    replace: '? [step.key]',
  },
  {
    file: WORK,
    breaks: 'an answer that was redacted is told as a question that was withdrawn',
    find: 'if (closed?.redacted)',
    replace: 'if (false)',
  },
  {
    file: WORK,
    breaks: 'a step that was cut off has failed',
    find: 'if (this.signal.aborted) return error;',
    replace: '',
  },
  {
    file: FOLLOW,
    breaks: 'a reader is told again and again that a draft is at its limit',
    find: 'if (draft.truncated && !toldTruncated)',
    replace: 'if (draft.truncated)',
  },
  {
    file: FOLLOW,
    breaks: 'the draft of another attempt goes on where the last one was',
    find: 'if (isNew && at.epoch !== 0)',
    replace: 'if (false)',
  },
  {
    file: 'ledger/agent/model-agent.js',
    breaks: 'a tool that the provider ran is run again',
    find: "part.type === 'tool_call' && part.executedBy !== 'provider'",
    replace: "part.type === 'tool_call'",
  },
  {
    file: 'ledger/agent/ownership.js',
    breaks: 'a turn whose conversation was erased is worked on',
    find: "error.code === 'erased' ? error : undefined",
    replace: 'false ? error : undefined',
    tests: ['agent/lost'],
  },
  {
    file: UNFINISHED,
    breaks: 'unfinished words are told as a whole answer',
    find: "status: 'incomplete',",
    replace: '',
    tests: ['agent/recover'],
  },
  {
    file: UNFINISHED,
    breaks: 'a call that was only drafted is forgotten',
    find: 'unmadeCalls.length > 0 ? { unmadeCalls } : {}',
    replace: '{}',
    tests: ['agent/recover'],
  },
  {
    file: UNFINISHED,
    breaks: 'nobody is told that a draft was cut off',
    find: '...(truncated ? { truncated } : {})',
    replace: '',
    tests: ['agent/recover'],
  },
  {
    file: RECOVER,
    breaks: 'a turn that was never held is ended unasked',
    find: "if (code === 'never_held' && neverHeld === 'report')",
    replace: 'if (false)',
  },
  {
    file: FROM_OUTSIDE,
    breaks: 'the run of a lost owner stays open',
    find: '...(openRun === undefined ? [] : [endRun(openRun)])',
    replace: '',
    tests: ['agent/recover'],
  },
  {
    file: SUB_AGENTS,
    breaks: 'sub-agents that wait go on below a turn that was given up',
    find: '...head.busy, ...asking,',
    replace: '...head.busy,',
  },
  {
    file: SUB_AGENTS,
    breaks: 'sub-agents of sub-agents go on below a turn that was given up',
    find: 'await unlessOver(() => cancelSubAgents(child));',
    replace: '',
  },
  {
    file: SUB_AGENTS,
    breaks: 'sub-agents go on below a turn that another submit interrupted',
    find: 'return event.interrupted ?? [];',
    replace: 'return [];',
  },
  {
    file: SUBJECT,
    breaks: 'what a person answered stays',
    find: 'await redactAnswers(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });',
    replace: '',
  },
  {
    file: SUBJECT,
    breaks: 'what a person said and nobody has delivered stays',
    find: 'await withdrawAll(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });',
    replace: '',
  },
  {
    file: SUBJECT,
    breaks: 'memories that a person wrote stay',
    find: '|| author?.id === subjectId',
    replace: '',
  },
  {
    file: SUBJECT,
    breaks: 'words of a person stay in a fork of what was erased before',
    find: 'sees: () => true }, ...inherited]',
    replace: 'sees: () => true }]',
  },
  {
    file: SUBJECT,
    breaks: 'only the first messages of a person go',
    find: 'rest: last && { ...range, from: `${last.key}\\u0000` },',
    replace: 'rest: undefined,',
  },
  {
    file: 'ledger/watch.js',
    breaks: 'a watcher that is far behind is told of the first commits alone',
    find: 'if (events.length > 0) continue;',
    replace: '',
  },
  {
    file: 'ledger/search.js',
    breaks: 'damaged words are passed over in silence',
    find: 'if (damage) this.#damage.push(damage);',
    replace: '',
  },
  {
    file: 'ledger/context/cuts.js',
    breaks: 'reasoning is cut off from what it led to',
    find: 'if (leadsOn(message) && at + 1 < cuts.length)',
    replace: 'if (false)',
  },
  {
    file: 'ledger/context/transcript.js',
    breaks: 'a result is shown without its call where the reading paused',
    find: '(!isEnough(this.#lines) || isWithinGroup(this.#lines))',
    replace: '!isEnough(this.#lines)',
    tests: ['context/cuts'],
  },
  {
    file: 'ledger/context/notes.js',
    breaks: 'decisions are told newest first',
    find: "kind === 'decision' ? lines.toReversed() : lines",
    replace: 'lines',
  },
];
