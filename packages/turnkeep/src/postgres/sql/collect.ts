import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';

/** Answers `id` of the next erased conversation that still holds what may go, by id, after one. */
export function nextUncollected(schema: Schema, namespace: string, after: string): Statement {
  const text = `SELECT id FROM ${schema.sql}.heads WHERE ns = $1 AND id > $2 AND uncollected ORDER BY id LIMIT 1`;
  return { name: 'tk_next_uncollected', text, values: [namespace, after] };
}

/** Answers `id, version` of the erased conversations that still hold what may go. */
export function allUncollected(schema: Schema, namespace: string): Statement {
  const text = `SELECT id, version FROM ${schema.sql}.heads WHERE ns = $1 AND uncollected ORDER BY id`;
  return { name: 'tk_all_uncollected', text, values: [namespace] };
}
