/** Something that was examined in a store's surroundings. */
export interface Finding {
  /** What, in snake_case: `clock`, `lock`, `space`. */
  readonly check: string;
  /** `warning`: it works, but less well than it could; `problem`: it does not work, or not for long. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly says: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}
