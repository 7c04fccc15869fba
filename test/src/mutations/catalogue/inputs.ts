import type { Mutation } from '../mutation.ts';

const INPUT = 'core/rules/input.js';
const WAITING = 'core/rules/waiting-input.js';
const SUBMIT = 'core/rules/submit.js';
const input = ['rules/input'];

/** Inputs that wait, and submits that may have to. */
export const INPUTS: readonly Mutation[] = [
  {
    file: INPUT,
    breaks: 'an edit takes no notice of the revision that was read',
    find: 'if (from !== undefined)',
    replace: 'if (from === 0)',
  },
  {
    file: INPUT,
    breaks: 'an edit may name no input',
    find: "'an edit names its input'",
    replace: "''",
  },
  {
    file: INPUT,
    breaks: 'a turn at work is steered by whatever waits longest',
    find: '!steering ||',
    replace: 'true ||',
  },
  {
    file: INPUT,
    breaks: 'an input goes into a turn that has ended',
    find: 'if (isTerminal(row.state))',
    replace: 'if (false)',
  },
  {
    file: INPUT,
    breaks: 'an input takes the id of a message that is there',
    find: 'if (findMessage(draft.tree, messageId))',
    replace: 'if (false)',
  },
  {
    file: INPUT,
    breaks: 'the operation of a delivered input has another id',
    find: 'operationId: inputId',
    replace: 'operationId: turnId',
  },
  {
    file: WAITING,
    breaks: 'an input may take the id of an operation',
    find: '?? draft.get(KEYS.operation(inputId))',
    replace: '',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'any number of inputs wait',
    find: '.length >= max',
    replace: '.length > max',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'an edit from another revision is taken',
    find: 'if (revision !== from)',
    replace: 'if (false)',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'words that were replaced stay',
    find: "takeWords(draft, words, 'input_edited');",
    replace: '',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'words that were delivered or withdrawn stay',
    find: 'takeWords(draft, row.words, `input_${status}`);',
    replace: '',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'an input is delivered twice',
    find: "if (row.status !== 'waiting')",
    replace: 'if (false)',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'an input that was settled is still in the queue',
    find: 'draft.remove(KEYS.waiting(row.stamp.version, row.stamp.index));',
    replace: '',
    tests: input,
  },
  {
    file: WAITING,
    breaks: 'an edited input forgets that it steers',
    find: 'mode: change.mode ?? mode',
    replace: "mode: change.mode ?? 'queued'",
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'a submit overtakes the inputs that wait',
    find: 'return atWork || waitingInputs(draft, 1).length > 0',
    replace: 'return atWork',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'a leaf that waits makes nobody wait',
    find: 'busyTurns(draft).length > 0 || (leafTurn',
    replace: 'busyTurns(draft).length > 0 || (false && leafTurn',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'a turn at work survives an interrupt',
    find: "advance(draft, turn, 'cancelled')",
    replace: 'void 0',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'the operation of an interrupted turn stays open',
    find: 'settleOpenOperation(draft);',
    replace: '',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'an interrupt spares the leaf that waits',
    find: 'turnId === null ? busy : [...busy, turnId]',
    replace: 'busy',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'an operation takes the id of an input',
    find: 'if (inputRow(draft, operationId))',
    replace: 'if (false)',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'what may have to wait names a parent',
    find: '!mayWait(change) ||',
    replace: 'true ||',
    tests: input,
  },
  {
    file: 'core/rules/turn.js',
    breaks: 'a turn keeps the whole conversation busy whatever it says',
    find: 'turnId === undefined || draft.head.busyByPath',
    replace: 'turnId === undefined',
    tests: input,
  },
  {
    file: SUBMIT,
    breaks: 'an interrupt stops turns of other paths',
    find: 'if (!busyByPath)',
    replace: 'if (true)',
    tests: input,
  },
  {
    file: 'core/rules/conversation.js',
    breaks: 'a conversation cannot be busy as a whole again',
    find: 'else delete draft.head.busyByPath;',
    replace: '',
    tests: input,
  },
];
