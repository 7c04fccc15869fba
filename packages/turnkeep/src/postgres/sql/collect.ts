import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';

/** Answers `id` of an erased conversation that still holds what may go. */
export function nextUncollected(schema: Schema, namespace: string): Statement {
  const text = `SELECT id FROM ${schema.sql}.heads WHERE ns = $1 AND uncollected ORDER BY id LIMIT 1`;
  return { name: 'tk_next_uncollected', text, values: [namespace] };
}
