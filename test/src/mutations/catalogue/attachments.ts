import type { Mutation } from '../mutation.ts';

const KEEP = 'core/attachments/keep.js';
const MENTIONS = 'core/attachments/mentions.js';
const REFERENCES = 'core/attachments/references.js';
const tests = ['attachments/references'];

/** Attachments: what a commit may refer to, and when they are let go. */
export const ATTACHMENTS: readonly Mutation[] = [
  {
    file: REFERENCES,
    breaks: 'a commit refers to bytes that were never put',
    find: 'if (!attachment)',
    replace: 'if (attachment === null)',
  },
  {
    file: MENTIONS,
    breaks: 'what stands in a tool result is not looked at',
    find: "if (part.type === 'tool_result')",
    replace: "if (part.type === 'none')",
  },
  {
    file: REFERENCES,
    breaks: 'what a commit refers to is still held',
    find: 'if (attachment.heldSince === null)',
    replace: 'if (true)',
  },
  {
    file: REFERENCES,
    breaks: 'a conversation that refers to an attachment is not noted',
    find: 'if (!draft.rows.get(SHELVES.attachments, use))',
    replace: 'if (false)',
  },
  {
    file: MENTIONS,
    breaks: 'words that go keep what they refer to',
    find: `if (words.record(ref).body?.includes('"attachment":') !== true)`,
    replace: 'if (true)',
  },
  {
    file: MENTIONS,
    breaks: 'the first words that go take what others refer to',
    find: 'if (!refersTo(rows, ref.owner, digest))',
    replace: 'if (true)',
  },
  {
    file: REFERENCES,
    breaks: 'an erased conversation keeps what it referred to',
    find: 'const doomed = keys.filter((key) => !isKept(...recordIn(key)));',
    replace: 'const doomed = [];',
  },
  {
    file: REFERENCES,
    breaks: 'an erased conversation lets go of what a fork still sees',
    find: 'const kept = new Set(keys.filter((key) => isKept(...recordIn(key))).map(digestIn));',
    replace: 'const kept = new Set();',
  },
  {
    file: KEEP,
    breaks: 'the same bytes are counted twice',
    find: 'if (known)',
    replace: 'if (false)',
  },
  {
    file: KEEP,
    breaks: 'a namespace has one byte too many',
    find: 'if (bytes > seal.quotaBytes)',
    replace: 'if (bytes > seal.quotaBytes + 1)',
  },
  {
    file: KEEP,
    breaks: 'what is referred to is collected',
    find: 'if (!row || isUsed(rows, digest))',
    replace: 'if (!row)',
  },
  {
    file: KEEP,
    breaks: 'a hold ends a moment late',
    find: 'grace.now - heldSince < grace.graceMs',
    replace: 'grace.now - heldSince <= grace.graceMs',
  },
  {
    file: KEEP,
    breaks: 'a hold from the future lasts until then',
    find: 'Math.min(row.heldSince, grace.now)',
    replace: 'row.heldSince',
  },
  {
    file: KEEP,
    breaks: 'what was collected is still counted',
    find: 'bytes -= row.sizeBytes;',
    replace: '',
  },
  {
    file: KEEP,
    breaks: 'a collection ends with its first slice',
    find: 'const next = digests.length === SLICE ?',
    replace: 'const next = false ?',
  },
].map((mutation) => ({ ...mutation, tests }));
