import type { Database } from '../driver/driver.ts';

/** Runs `write` as one transaction that has the write lock from its start; taken back when it throws. */
export function inTransaction<Result>(database: Database, write: () => Result): Result {
  return transact(database, 'BEGIN IMMEDIATE', write);
}

/** Runs `read` over one snapshot. */
export function inSnapshot<Result>(database: Database, read: () => Result): Result {
  return transact(database, 'BEGIN', read);
}

function transact<Result>(database: Database, begin: string, act: () => Result): Result {
  database.exec(begin);
  try {
    const result = act();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.inTransaction()) database.exec('ROLLBACK');
    throw error;
  }
}
