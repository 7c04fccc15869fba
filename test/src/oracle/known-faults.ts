/**
 * Faults of the library that are known and not yet mended. While one is here, random histories keep away from it and a
 * test in `known.test.ts` must fail; mended, it is to be taken out of both.
 */
export const KNOWN_FAULTS = {
  /** What stands for redacted words goes with the conversation that chose it, though the words were another's. */
  "a replacement of another conversation's words is lost": true,
} as const;
