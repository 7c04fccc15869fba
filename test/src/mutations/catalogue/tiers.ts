import type { Mutation } from '../mutation.ts';

const COOL = 'core/cool.js';

/** Which commits may cool. */
export const TIERS: readonly Mutation[] = [
  {
    file: COOL,
    breaks: 'a commit cools that brought a message which stays hot',
    find: 'if (!log || newestIn(log) >= oldestHot)',
    replace: 'if (!log || newestIn(log) > oldestHot)',
  },
  {
    file: COOL,
    breaks: 'cooling goes on behind a commit that cannot be had',
    find: 'if (!log || newestIn(log) >= oldestHot)\n            return;',
    replace: 'if (!log) continue;\n        if (newestIn(log) >= oldestHot)\n            return;',
  },
  {
    file: COOL,
    breaks: 'what was erased cools',
    find: 'if (!head || head.erasedAt !== null || head.messages <= hotMessages)\n        return;',
    replace: 'if (!head || head.messages <= hotMessages)\n        return;',
  },
  {
    file: COOL,
    breaks: 'a message that was found there counts as brought',
    find: "fieldOf(event, 'noop') ? 0 : ",
    replace: '',
  },
  {
    file: COOL,
    breaks: 'the bound is one commit too high',
    find: 'bound = version - 1;',
    replace: 'bound = version;',
  },
  {
    file: COOL,
    breaks: 'the bound passes a commit without messages for the oldest hot one',
    find: 'else if (newest > 0)',
    replace: 'else',
  },
  {
    file: COOL,
    breaks: 'a slice holds more than it may',
    find: 'if (slice.length > 0 && length > sliceLength)',
    replace: 'if (slice.length > 99 && length > sliceLength)',
  },
  {
    file: COOL,
    breaks: 'a slice that is not full cools before it is',
    find: "return rest === 'cools' ? slice : [];",
    replace: 'return slice;',
  },
];
