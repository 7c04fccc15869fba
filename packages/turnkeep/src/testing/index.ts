/**
 * The conformance suite: what every backend must do, as plain cases without a test framework. Write a
 * `ConformanceTarget` for a backend of your own and hand it to `runConformance`.
 */
export { CLAUSES } from './case.ts';
export type { Clause, ConformanceCase, Open } from './case.ts';
export { CASES } from './cases.ts';
export { ConformanceFailure } from './check.ts';
export { exportStore } from './export.ts';
export { runConformance } from './run.ts';
export type { ConformanceOptions, ConformanceResult } from './run.ts';
export { MODES, Store } from './store.ts';
export type { Mode, Sent } from './store.ts';
export type { ConformanceTarget, SpawnedTarget } from './target.ts';
export { TARGETS } from './targets.ts';
export { startPostgres, testPostgresUrl } from './postgres-server.ts';
export type { PostgresServer } from './postgres-server.ts';
