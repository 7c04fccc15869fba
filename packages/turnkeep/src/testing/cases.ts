import type { ConformanceCase } from './case.ts';
import { attachments } from './clauses/r11-attachments.ts';
import { windows } from './clauses/r1-windows.ts';
import { pages } from './clauses/r2-pages.ts';
import { lists } from './clauses/r3-lists.ts';
import { search } from './clauses/r4-search.ts';
import { feeds } from './clauses/r5-feeds.ts';
import { erasure } from './clauses/r6-erasure.ts';
import { redaction } from './clauses/r7-redaction.ts';
import { forks } from './clauses/r8-forks.ts';
import { agents } from './clauses/r9-agents.ts';
import { tiers } from './clauses/r10-tiers.ts';
import { atomicity } from './clauses/s1-atomicity.ts';
import { order } from './clauses/s2-order.ts';
import { durability } from './clauses/s3-durability.ts';
import { idempotency } from './clauses/s4-idempotency.ts';
import { orderOfChecks } from './clauses/s5-order-of-checks.ts';
import { races } from './clauses/s5-races.ts';
import { isolation } from './clauses/s6-isolation.ts';
import { limits } from './clauses/s7-limits.ts';
import { values } from './clauses/s7-values.ts';
import { errors } from './clauses/s8-errors.ts';
import { neighbours } from './clauses/s9-neighbours.ts';

/** The suite. */
export const CASES: readonly ConformanceCase[] = [
  ...atomicity,
  ...order,
  ...durability,
  ...idempotency,
  ...orderOfChecks,
  ...races,
  ...isolation,
  ...values,
  ...limits,
  ...errors,
  ...neighbours,
  ...windows,
  ...pages,
  ...lists,
  ...search,
  ...feeds,
  ...erasure,
  ...redaction,
  ...forks,
  ...agents,
  ...tiers,
  ...attachments,
];
