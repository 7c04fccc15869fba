import { TurnkeepError } from '../../core/errors.ts';

const NAME = /^[a-z_][a-z0-9_]{0,47}$/;

/** A schema of the database, quoted for SQL. Its tables are only ever named through it. */
export interface Schema {
  readonly name: string;
  /** `"name"` */
  readonly sql: string;
}

/**
 * Checks a schema's name: 1 to 48 of `a-z0-9_`, no digit first, not one of Postgres's own (`pg_…`). It is the only
 * identifier that a caller chooses, and so nothing of a caller's ever needs to be escaped.
 */
export function schemaNamed(name: string): Schema {
  if (!NAME.test(name) || name.startsWith('pg_') || name === 'information_schema') {
    const reason = 'a schema is 1 to 48 of a-z0-9_, begins with no digit and not with pg_';
    throw new TurnkeepError('invalid_value', { path: 'options.schema', reason });
  }
  return { name, sql: `"${name}"` };
}
