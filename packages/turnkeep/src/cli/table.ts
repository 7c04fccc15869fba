import { clip, columnsOf, padEnd, padStart } from './terminal-text.ts';

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right' | undefined;
  /** Columns of the terminal that a cell may take; what is longer ends in an ellipsis. Absent: all that it needs. */
  readonly max?: number | undefined;
  readonly paint?: ((text: string) => string) | undefined;
}

/** Lines of a table, heads first; each cell must be one safe line. The last column is not filled up. */
export function* tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintHead: (text: string) => string,
): Generator<string> {
  const cells = rows.map((row) => row.map((cell, at) => clip(cell, columns[at]?.max ?? Infinity)));
  const widths = columns.map(({ head }, at) =>
    cells.reduce((widest, row) => Math.max(widest, columnsOf(row[at] ?? '')), head.length),
  );
  const lineOf = (row: readonly string[], paint: (text: string, column: Column) => string) =>
    columns.map((column, at) => paint(filled(column, row[at] ?? '', widths[at] ?? 0, at), column)).join('  ');
  const filled = ({ align }: Column, cell: string, width: number, at: number) => {
    if (align === 'right') return padStart(cell, width);
    return at === columns.length - 1 ? cell : padEnd(cell, width);
  };
  yield lineOf(
    columns.map(({ head }) => head),
    (text) => paintHead(text),
  ).trimEnd();
  for (const row of cells) yield lineOf(row, (text, { paint }) => (paint ? paint(text) : text)).trimEnd();
}
