export type { Connection, Driver, Session, SqlRow, SqlValue, Statement } from './driver.ts';
export { pgDriver, pgDriverOver } from './driver-pg.ts';
export type { PgDriverOptions } from './driver-pg.ts';
export { openPostgres, openPostgresUrl } from './open.ts';
export type { PostgresOptions, PostgresPlace } from './open.ts';
export { PostgresBackend } from './postgres-backend.ts';
