import type { Mutation } from '../mutation.ts';

const STEP = 'core/rules/step.js';
const INTERRUPT = 'core/rules/interrupt.js';
const OPEN = 'core/rules/open-interrupts.js';
const AT_WORK = 'core/rules/turn-at-work.js';
const RUN = 'core/rules/run.js';

/** Runs, steps, interrupts. */
export const AGENTS: readonly Mutation[] = [
  {
    file: STEP,
    breaks: 'a step that has its result is done again where it is safe',
    find: "(repeat === 'safe' && status !== 'succeeded')",
    replace: "(repeat === 'safe')",
  },
  {
    file: STEP,
    breaks: 'a step that may have been done is done again',
    find: "if (status === 'retry' || (repeat === 'safe' && status !== 'succeeded'))",
    replace: "if (status === 'retry' || status === 'started')",
  },
  {
    file: STEP,
    breaks: 'a step that failed is done again though it is not safe',
    find: "if (status === 'started')",
    replace: "if (status === 'failed') return; if (status === 'started')",
  },
  {
    file: STEP,
    breaks: 'a step is done again with another input',
    find: 'if (said !== undefined && !sameJson(said, words))',
    replace: 'if (false)',
  },
  {
    file: STEP,
    breaks: 'the same restart is another commit',
    find: 'draft.saltWith(ref)',
    replace: '0',
  },
  {
    file: STEP,
    breaks: 'an attempt finishes what another one began',
    find: 'if (known.token !== tokenOf(turn))',
    replace: 'if (false)',
  },
  {
    file: STEP,
    breaks: 'a step ends twice',
    find: "if (known.status !== 'started')",
    replace: 'if (false)',
  },
  {
    file: STEP,
    breaks: 'a message of another turn is the result',
    find: 'if (messageId !== null)',
    replace: 'if (false)',
  },
  {
    file: STEP,
    breaks: 'restarts are not counted',
    find: '(known?.starts ?? 0) + 1',
    replace: '1',
  },
  {
    file: AT_WORK,
    breaks: 'a turn that has ended goes on working',
    find: 'if (isTerminal(state))',
    replace: 'if (false)',
    tests: ['rules/step'],
  },
  {
    file: AT_WORK,
    breaks: 'a turn works before it starts',
    find: 'if (!hasStarted(state))',
    replace: 'if (false)',
    tests: ['rules/step'],
  },
  {
    file: AT_WORK,
    breaks: 'a held turn works without its fence',
    find: 'requireFence(draft, turn.row, path)',
    replace: '0',
    tests: ['rules/step', 'rules/interrupt'],
  },
  {
    file: AT_WORK,
    breaks: 'a call that the turn does not have is worked on',
    find: "if (!places.some((place) => place.kind === 'call'))",
    replace: 'if (false)',
    tests: ['rules/step', 'rules/interrupt'],
  },
  {
    file: INTERRUPT,
    breaks: 'a second answer stands',
    find: "if (row.status !== 'open')",
    replace: 'if (false)',
  },
  {
    file: INTERRUPT,
    breaks: 'a question expires before its time',
    find: 'row.expiresAt !== null && draft.envelope.now < row.expiresAt',
    replace: 'false',
  },
  {
    file: INTERRUPT,
    breaks: 'a question expires after its time only',
    find: 'draft.envelope.now < row.expiresAt',
    replace: 'draft.envelope.now <= row.expiresAt',
  },
  {
    file: INTERRUPT,
    breaks: 'a question is asked twice under one id',
    find: 'if (draft.get(KEYS.interruptId(interruptId)))',
    replace: 'if (false)',
  },
  {
    file: INTERRUPT,
    breaks: 'a redaction leaves who answered what',
    find: '...(answer ? [answer] : [])',
    replace: '',
  },
  {
    file: OPEN,
    breaks: 'an answered question stays open',
    find: 'filter((open) => open !== interruptId)',
    replace: 'filter(() => true)',
    tests: ['rules/interrupt'],
  },
  {
    file: OPEN,
    breaks: 'the end of a turn withdraws what was answered',
    find: "if (row.status === 'open')",
    replace: 'if (true)',
    tests: ['rules/interrupt'],
  },
  {
    file: RUN,
    breaks: 'a run ends twice',
    find: "if (row.status !== 'running')",
    replace: 'if (false)',
  },
  {
    file: RUN,
    breaks: 'a run starts twice',
    find: 'if (draft.get(KEYS.run(runId)))',
    replace: 'if (false)',
  },
  {
    file: RUN,
    breaks: 'a run starts from a turn that nobody sees',
    find: 'baseTurnId !== null && !ownTurn(draft.tree, baseTurnId)',
    replace: 'false',
  },
  {
    file: 'core/rules/attempt.js',
    breaks: 'an attempt names a run that there is not',
    find: 'openRun(draft, runId)',
    replace: '0',
    tests: ['rules/run'],
  },
  {
    file: 'core/rules/message.js',
    breaks: 'a redaction leaves the words of the step',
    find: 'redactAll(draft, owner, [unpackStep(step).start, unpackStep(step).end], redaction)',
    replace: '0',
    tests: ['rules/step'],
  },
  {
    file: 'core/rules/message.js',
    breaks: 'a redaction takes the words of every question',
    find: 'if (callId !== null && calls.includes(callId))',
    replace: 'if (true)',
    tests: ['rules/interrupt'],
  },
  {
    file: 'core/rules/turn.js',
    breaks: 'a turn that has ended goes on asking',
    find: 'if (isTerminal(to)) withdrawInterrupts(draft, turnId)',
    replace: '0',
    tests: ['rules/interrupt'],
  },
];
