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

  /**
   * Bytes of the schema's tables with their indexes, without what is dead in them: how much of that there is depends on when
   * the server last cleaned up. What the whole server writes ahead is not among them.
   */
  async bytes(): Promise<number> {
    const tables = await this.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = '${this.schema}'`,
    );
    let sum = 0;
    for (const { name } of tables) {
      await this.query(`VACUUM FULL ${name}`);
      const [row] = await this.query<{ bytes: number }>(`SELECT pg_total_relation_size('${name}')::float8 AS bytes`);
      sum += row?.bytes ?? 0;
    }
    return sum;
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
