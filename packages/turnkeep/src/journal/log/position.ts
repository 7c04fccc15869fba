/** A place in the log: a byte of a segment, and the number of the last line before it. */
export interface Position {
  readonly segment: number;
  readonly byte: number;
  readonly n: number;
}

export const LOG_START: Position = { segment: 1, byte: 0, n: 0 };

/** True where `left` stands before `right` in the files. */
export function isBefore(left: Pick<Position, 'segment' | 'byte'>, right: Pick<Position, 'segment' | 'byte'>): boolean {
  return left.segment < right.segment || (left.segment === right.segment && left.byte < right.byte);
}
