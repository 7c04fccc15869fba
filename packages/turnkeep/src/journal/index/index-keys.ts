import { numberKey } from '../../core/keys.ts';

/**
 * Rows of the index beside core's. Those of a conversation begin with U+0000, below every key of core; those of a
 * namespace stand under the conversation '', which no conversation is; those of the store in the namespace ''.
 */
export const INDEX = {
  /** The head, as the row's only member. */
  head: '\u0000h',
  /** A {@link Place}. */
  place: (version: number) => `\u0000l${numberKey(version)}`,
  /** Where core's own rows begin. */
  coreStart: '\u0001',
  /** `[conversation, version]` of a line. */
  feed: (n: number) => `f${numberKey(n)}`,
  feedEnd: 'f~',
  /** `[]`: the conversation is erased and not collected. */
  uncollected: (conversation: string) => `u${conversation}`,
  uncollectedStart: 'u',
  uncollectedEnd: 'v',
  /** `[length]` of a line that says more than it may: its words are gone, and are to be scrubbed. */
  scrub: (segment: number, byte: number) => `s${numberKey(segment)}${numberKey(byte)}`,
  scrubStart: 's',
  scrubEnd: 't',
  /** `[]`: the attachment is gone, and lines may still name it. */
  gone: (digest: string) => `g${digest}`,
  goneStart: 'g',
  goneEnd: 'h',
  /** `[hotMessages, n, ...strangers]`: a `CoolMemory`. */
  cooled: 'k',
  /** `[identity]`, in the namespace '': the archive of a segment as it was put in its place. */
  archive: (segment: number) => `w${numberKey(segment)}`,
  /** `[]`, in the namespace '': it holds something. */
  namespace: (namespace: string) => `n${namespace}`,
  namespaceStart: 'n',
  namespaceEnd: 'o',
} as const;

/** The conversation of a namespace's own rows. */
export const NO_CONVERSATION = '';
/** The namespace of the store's own rows. */
export const NO_NAMESPACE = '';
