import type { Mutation } from '../mutation.ts';

const WINDOW = 'core/read/window.js';
const PAGES = 'core/read/pages.js';

/** Windows, pages and what readers are told. */
export const READS: readonly Mutation[] = [
  {
    file: WINDOW,
    breaks: 'a window holds one message too few',
    find: 'if (taken.length >= count && whole > 0) break',
    replace: 'if (taken.length >= count - 1 && whole > 0) break',
  },
  {
    file: WINDOW,
    breaks: 'a window begins between a call and its result',
    find: 'if (open === 0 && taken.length <= count)',
    replace: 'if (taken.length <= count)',
  },
  {
    file: WINDOW,
    breaks: 'a window holds more than it was asked for',
    find: 'if (open === 0 && taken.length <= count)',
    replace: 'if (open === 0)',
  },
  {
    file: WINDOW,
    breaks: 'a group that does not fit is an empty window',
    find: 'if (whole === 0 && taken.length > 0)',
    replace: 'if (false)',
  },
  {
    file: WINDOW,
    breaks: 'a group goes over turns',
    find: 'if (hasCallBefore(tree, message, callId)) open.add(callId)',
    replace: 'open.add(callId)',
  },
  {
    file: WINDOW,
    breaks: 'a result of a later call of its turn opens a group',
    find: "place.kind === 'call' && place.sequence < message.sequence",
    replace: "place.kind === 'result' && place.sequence < message.sequence",
  },
  {
    file: WINDOW,
    breaks: 'a window has no cursor though there is more',
    find: 'first && hasEarlier(tree, leaf, seen, first)',
    replace: 'false',
  },
  {
    file: WINDOW,
    breaks: 'a window at the start of the path has a cursor',
    find: 'first && hasEarlier(tree, leaf, seen, first)',
    replace: 'first',
  },
  {
    file: WINDOW,
    breaks: 'a cursor between a call and its result is taken',
    find: 'if (isInsideGroup(tree, segment, message, seen))',
    replace: 'if (false)',
  },
  {
    file: WINDOW,
    breaks: 'a cursor forgets the leaf that it was of',
    find: 'options.before ? options.before.leaf :',
    replace: '',
  },
  {
    file: WINDOW,
    breaks: 'a cursor sees what came after it was made',
    find: 'options.before?.lastSequence ?? tree.head.lastSequence',
    replace: 'tree.head.lastSequence',
  },
  { file: WINDOW, breaks: 'a window has any size', find: 'if (count > LIMITS.pageMessages)', replace: 'if (false)' },
  {
    file: PAGES,
    breaks: 'a page is short by its last message',
    find: 'messages.slice(0, limit)',
    replace: 'messages.slice(0, Math.max(1, limit - 1))',
  },
  {
    file: PAGES,
    breaks: 'the last page has a cursor',
    find: 'if (messages.length <= limit || !last)',
    replace: 'if (!last)',
  },
  {
    file: PAGES,
    breaks: 'a page begins with the last message of the one before',
    find: 'yield* forward(tree, segment, seen, step, start)',
    replace: 'yield* forward(tree, segment, seen, step, start && { ...start, sequence: start.sequence - 1 })',
  },
  {
    file: PAGES,
    breaks: 'a page goes from leaf to root',
    find: '[...pathTo(tree, leaf)].reverse()',
    replace: '[...pathTo(tree, leaf)]',
  },
  {
    file: PAGES,
    breaks: 'a cursor of another path is taken',
    find: "if (start) throw new TurnkeepError('bad_cursor'",
    replace: "if (false) throw new TurnkeepError('bad_cursor'",
  },
  {
    file: PAGES,
    breaks: 'a page sees what came after its cursor was made',
    find: 'const pin = after ? pinOf(after) : newPin(tree, options)',
    replace: 'const pin = newPin(tree, options)',
  },
  {
    file: 'core/read/message.js',
    breaks: 'damage reads as absence',
    find: "return { status: 'source_corrupt', ...error.details }",
    replace: "return { status: 'not_found_confirmed' }",
    tests: ['read/message'],
  },
  {
    file: 'core/read/checkpoint.js',
    breaks: 'content is not checked against its address',
    find: '!body || contentAddress(bodies.sha256, encode(body)) !== address',
    replace: 'false',
    tests: ['read/checkpoint'],
  },
  {
    file: 'core/read/graph.js',
    breaks: 'the tree of a version has later turns',
    find: 'row.created.version <= version',
    replace: 'true',
    tests: ['read/graph'],
  },
  {
    file: 'core/read/graph.js',
    breaks: 'turns of a version have the states of today',
    find: 'version === undefined ? row.state : stateAt(',
    replace: 'true ? row.state : stateAt(',
    tests: ['read/graph'],
  },
  {
    file: 'core/read/graph.js',
    breaks: 'what stands beside a rewind goes on from the whole turn',
    find: 'if (parentMessageId !== null)',
    replace: 'if (false)',
    tests: ['read/graph'],
  },
  {
    file: 'core/read/graph.js',
    breaks: 'an inherited turn is not found by its id',
    find: 'const found = findInherited(tree, turnId)',
    replace: 'const found = undefined',
    tests: ['read/graph'],
  },
  {
    file: 'core/read/listing.js',
    breaks: 'unread messages are those that were read',
    find: 'head.lastSequence - readThrough(bodies, head, reader)',
    replace: 'readThrough(bodies, head, reader)',
    tests: ['rules/conversation'],
  },
  {
    file: 'core/read/tail.js',
    breaks: 'a turn is counted from its branch, not from the root',
    find: 'depth: turnsBefore + message.position',
    replace: 'depth: message.position',
  },
  {
    file: 'core/read/tail.js',
    breaks: 'a tail sees what came after its reading began',
    find: '{ sequence: lastSequence }',
    replace: '{}',
  },
  {
    file: 'core/read/late.js',
    breaks: 'what stands behind a summary is late to it',
    find: '!isAfter({ fromLeaf, message }, end)',
    replace: 'true',
  },
  {
    file: 'core/read/late.js',
    breaks: 'a summary is told again what it saw',
    find: 'KEYS.late(branch, seen + 1)',
    replace: 'KEYS.late(branch, seen)',
  },
];
