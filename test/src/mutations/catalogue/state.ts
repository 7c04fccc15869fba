import type { Mutation } from '../mutation.ts';

const TASK = 'core/rules/task.js';
const COMMITMENT = 'core/rules/commitment.js';
const CHECKPOINT = 'core/rules/checkpoint.js';
const SUMMARY = 'core/rules/summary.js';
const ON_PATH = 'core/rules/on-path.js';

/** Tasks, working state, commitments, summaries, checkpoints. */
export const STATE: readonly Mutation[] = [
  {
    file: TASK,
    breaks: 'a task may be completed that never ran',
    find: "created: ['running', 'failed',",
    replace: "created: ['running', 'completed', 'failed',",
  },
  {
    file: TASK,
    breaks: 'an ended task runs again',
    find: 'completed: []',
    replace: "completed: ['running']",
  },
  {
    file: TASK,
    breaks: 'an approval cannot be given',
    find: "awaiting_approval: ['running', ",
    replace: 'awaiting_approval: [',
  },
  {
    file: TASK,
    breaks: 'any move is legal',
    find: 'if (!TASK_TRANSITIONS[task.status].includes(to))',
    replace: 'if (false)',
  },
  {
    file: TASK,
    breaks: 'a path has two active tasks',
    find: "if (active !== null) throw new TurnkeepError('active_task'",
    replace: "if (false) throw new TurnkeepError('active_task'",
  },
  {
    file: TASK,
    breaks: 'a task id is used twice',
    find: "throw new TurnkeepError('task_exists', { taskId })",
    replace: '0',
  },
  {
    file: TASK,
    breaks: 'a parent task need not be known',
    find: 'if (change.parentTaskId !== undefined) heldTask(place, change.parentTaskId)',
    replace: '0',
  },
  {
    file: TASK,
    breaks: 'an ended task stays active',
    find: 'if (isTerminalTask(to) && pointer.active === taskId)',
    replace: 'if (false)',
  },
  {
    file: TASK,
    breaks: 'any move ends the active task',
    find: 'if (isTerminalTask(to) && pointer.active === taskId)',
    replace: 'if (pointer.active === taskId)',
  },
  {
    file: TASK,
    breaks: 'an ended task forgets which was the latest',
    find: 'pointTo(place, { ...pointer, active: null })',
    replace: 'pointTo(place, { active: null, latest: null })',
  },
  { file: TASK, breaks: 'an ended task is amended', find: 'if (isTerminalTask(task.status))', replace: 'if (false)' },
  {
    file: TASK,
    breaks: 'amending forgets the other words',
    find: 'draft.addRecord({ ...draft.body(before), ...words }, path)',
    replace: 'draft.addRecord({ ...words }, path)',
  },
  {
    file: TASK,
    breaks: 'amending begins the task anew',
    find: 'write(draft, place, taskId, { ...task, ref: draft.refTo(record), updatedAt: draft.envelope.now })',
    replace:
      "write(draft, place, taskId, { ...task, status: 'created', ref: draft.refTo(record), updatedAt: draft.envelope.now })",
  },
  {
    file: 'core/rules/state.js',
    breaks: 'an update forgets what it does not name',
    find: 'const merged = { ...before }',
    replace: 'const merged = {}',
  },
  {
    file: 'core/rules/state.js',
    breaks: 'null does not clear',
    find: 'if (value === null) delete merged[field]',
    replace: 'if (value === null) continue',
  },
  { file: 'core/rules/state.js', breaks: 'the version of the state stands still', find: '?? 0) + 1', replace: '?? 0)' },
  {
    file: ON_PATH,
    breaks: 'any turn makes entries',
    find: 'if (turn) assertMakesEntries(draft, turn.row)',
    replace: '0',
    tests: ['rules/state'],
  },
  {
    file: ON_PATH,
    breaks: 'a turn makes entries before it has started',
    find: 'if (!hasStarted(state) || over)',
    replace: 'if (over)',
    tests: ['rules/state'],
  },
  {
    file: ON_PATH,
    breaks: 'a turn makes entries after it has ended',
    find: 'if (!hasStarted(state) || over)',
    replace: 'if (!hasStarted(state))',
    tests: ['rules/state'],
  },
  {
    file: ON_PATH,
    breaks: 'the active leaf makes none once it has ended',
    find: 'isTerminal(state) && turnId !== draft.head.leaf',
    replace: 'isTerminal(state)',
    tests: ['rules/state'],
  },
  {
    file: ON_PATH,
    breaks: 'entries of a named turn go to the leaf',
    find: 'turnId === undefined ? leafTurn(draft) : namedTurn(draft, turnId)',
    replace: 'leafTurn(draft)',
    tests: ['rules/state'],
  },
  {
    file: COMMITMENT,
    breaks: 'a commitment id is used twice',
    find: 'if (place.holding(ENTRIES.commitment(commitmentId)))',
    replace: 'if (false)',
  },
  {
    file: COMMITMENT,
    breaks: 'what was closed is closed again by id',
    find: "if (commitment.status !== 'open') { throw",
    replace: 'if (false) { throw',
  },
  {
    file: COMMITMENT,
    breaks: 'what was closed is closed again by text',
    find: "if (commitment.status !== 'open') continue",
    replace: '0',
  },
  {
    file: COMMITMENT,
    breaks: 'a text fits only as a whole',
    find: 'content.includes(text)',
    replace: 'content === text',
  },
  { file: COMMITMENT, breaks: 'a text fits everything', find: 'content.includes(text)', replace: 'true' },
  {
    file: COMMITMENT,
    breaks: 'an expired commitment was fulfilled',
    find: "change.which, 'expired')",
    replace: "change.which, 'fulfilled')",
  },
  { file: COMMITMENT, breaks: 'a type keeps its case', find: 'given?.trim().toLowerCase()', replace: 'given?.trim()' },
  {
    file: COMMITMENT,
    breaks: 'a prefix counts anywhere',
    find: 'start.startsWith(`${prefix}:`)',
    replace: 'start.includes(`${prefix}:`)',
  },
  {
    file: COMMITMENT,
    breaks: 'a prefix outweighs the type that was given',
    find: 'if (named) return named;',
    replace: '',
  },
  {
    file: SUMMARY,
    breaks: 'a summary need not say what it was made from',
    find: 'if (!draft.envelope.commit.expect?.transcript)',
    replace: 'if (false)',
  },
  {
    file: SUMMARY,
    breaks: 'a shorter summary takes the place of a longer one',
    find: 'if (!before || isLater(end, before))',
    replace: 'if (true)',
  },
  {
    file: SUMMARY,
    breaks: 'a summary of the same length takes its place',
    find: 'return sequence > right.message.sequence',
    replace: 'return sequence >= right.message.sequence',
  },
  {
    file: SUMMARY,
    breaks: 'length goes by sequence, late results included',
    find: 'if (position !== right.message.position) return position > right.message.position;',
    replace: '',
  },
  {
    file: SUMMARY,
    breaks: 'length across branches goes by position',
    find: 'if (left.fromLeaf !== right.fromLeaf) return left.fromLeaf < right.fromLeaf;',
    replace: '',
  },
  {
    file: SUMMARY,
    breaks: 'a message beside the path is covered',
    find: 'if (segmentSees(segment, message)) return { fromLeaf, message }',
    replace: 'return { fromLeaf, message }',
  },
  {
    file: SUMMARY,
    breaks: 'a summary covers what its writer did not see',
    find: 'assertSawMessage(draft, end.message)',
    replace: 'void end',
  },
  {
    file: CHECKPOINT,
    breaks: 'a checkpoint is created twice',
    find: "if (known) throw new TurnkeepError('checkpoint_exists'",
    replace: "if (false) throw new TurnkeepError('checkpoint_exists'",
  },
  {
    file: CHECKPOINT,
    breaks: 'a checkpoint advances from any revision',
    find: 'if (known.revision !== from)',
    replace: 'if (false)',
  },
  {
    file: CHECKPOINT,
    breaks: 'a checkpoint advances from an older revision',
    find: 'if (known.revision !== from)',
    replace: 'if (known.revision < from)',
  },
  {
    file: CHECKPOINT,
    breaks: 'a parent revision need not exist',
    find: 'if (parent && !draft.get(KEYS.checkpoint(parent.checkpointId, parent.revision)))',
    replace: 'if (false)',
  },
  {
    file: CHECKPOINT,
    breaks: 'a part is written again with each revision',
    find: 'if (!draft.get(key)) draft.put(key,',
    replace: 'draft.put(key,',
  },
  {
    file: CHECKPOINT,
    breaks: 'a pending write needs no revision',
    find: "if (!draft.get(KEYS.checkpoint(checkpointId, revision))) throw new TurnkeepError('no_checkpoint'",
    replace: "if (false) throw new TurnkeepError('no_checkpoint'",
  },
  {
    file: CHECKPOINT,
    breaks: 'pending writes of negative index come last',
    find: 'index < 0 ? `-${',
    replace: 'index < 0 ? `z${',
  },
  {
    file: CHECKPOINT,
    breaks: 'pending writes of negative index go down from zero',
    find: 'numberKey(Number.MAX_SAFE_INTEGER + index)',
    replace: 'numberKey(-index)',
  },
  {
    file: CHECKPOINT,
    breaks: 'pending writes of ten and more come before those of nine',
    find: ': numberKey(index)',
    replace: ': index',
  },
];
