export { openSqlite } from './open.ts';
export type { SqliteOptions } from './open.ts';
export type { SqliteBackend } from './sqlite-backend.ts';
