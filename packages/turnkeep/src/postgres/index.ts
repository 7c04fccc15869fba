export type { Connection, Driver, Session, SqlRow, SqlValue, Statement } from './driver/driver.ts';
export { pgDriver, pgDriverOver } from './driver/driver-pg.ts';
export type { PgDriverOptions, PgPoolOptions } from './driver/driver-pg.ts';
export { openPostgres, openPostgresUrl } from './open.ts';
export type { PostgresOptions, PostgresPlace } from './open.ts';
export { PostgresBackend } from './postgres-backend.ts';
