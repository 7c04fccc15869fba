import { randomBytes } from 'node:crypto';
import { testPostgresUrl } from './postgres-server.ts';
import { openBackend } from '../ledger/open.ts';
import type { ConformanceTarget } from './target.ts';

/** Each store is a schema of its own, of the server that the tests have. */
export const postgres: ConformanceTarget = {
  name: 'postgres',
  durable: true,
  async create() {
    const url = new URL(await testPostgresUrl());
    url.searchParams.set('schema', `conformance_${randomBytes(8).toString('hex')}`);
    return url.href;
  },
  async open(location) {
    return openBackend(location);
  },
  async destroy(location) {
    const url = new URL(location);
    const schema = url.searchParams.get('schema') ?? '';
    url.searchParams.delete('schema');
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  },
  spawn: { module: import.meta.url, exportName: 'postgres' },
};
