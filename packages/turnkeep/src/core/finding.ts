/** Something that was looked at in a store's surroundings. */
export interface Finding {
  /** What, in snake_case: `clock`, `lock`, `space`. */
  readonly check: string;
  /** `warning`: it works, with less than it could; `problem`: it does not, or not for long. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly says: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}
