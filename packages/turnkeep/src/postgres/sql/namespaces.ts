import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';

/**
 * Answers `ns` of every namespace that holds something: one index lookup each. The only statement that looks across
 * namespaces; the policy of row-level security for `*` lets it see heads alone.
 */
export function listNamespaces(schema: Schema): Statement {
  const text = `WITH RECURSIVE found AS (
      (SELECT ns FROM ${schema.sql}.heads ORDER BY ns LIMIT 1)
      UNION ALL
      SELECT (SELECT h.ns FROM ${schema.sql}.heads h WHERE h.ns > f.ns ORDER BY h.ns LIMIT 1)
      FROM found f WHERE f.ns IS NOT NULL
    ) SELECT ns FROM found WHERE ns IS NOT NULL`;
  return { name: 'tk_list_namespaces', text, values: [] };
}
