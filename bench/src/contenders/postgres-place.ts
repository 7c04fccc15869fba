import { basename, dirname } from 'node:path';
import { Client } from 'pg';
import type { QueryResultRow } from 'pg';
import { testPostgresUrl } from 'turnkeep/testing';

/** A schema of the run's own on the run's server; a folder stands for it, so that every contender is opened alike. */
export class PostgresPlace {
  readonly schema: string;
  readonly #server: string;

  private constructor(server: string, schema: string) {
    this.#server = server;
    this.schema = schema;
  }

  static async of(folder: string): Promise<PostgresPlace> {
    const name = `${basename(dirname(folder))}_${basename(folder)}`.toLowerCase().replaceAll(/[^a-z0-9]/g, '_');
    return new PostgresPlace(await testPostgresUrl(), name);
  }

  /** The server's URL with the schema as Turnkeep's parameter. */
  url(): string {
    const url = new URL(this.#server);
    url.searchParams.set('schema', this.schema);
    return url.href;
  }

  get server(): string {
    return this.#server;
  }

  /** Bytes of the schema's tables with their indexes; what the whole server writes ahead is not among them. */
  async bytes(): Promise<number> {
    const sum = 'SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes';
    const tables = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace`;
    const [row] = await this.query<{ bytes: number }>(
      `${sum} ${tables} WHERE n.nspname = '${this.schema}' AND c.relkind IN ('r', 'm')`,
    );
    return row?.bytes ?? 0;
  }

  async query<Row extends QueryResultRow>(text: string): Promise<readonly Row[]> {
    const client = new Client({ connectionString: this.#server });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }
}
