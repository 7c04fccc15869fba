import type { RowReader } from '../core/backend.ts';
import { assert } from '../core/errors.ts';
import { TABLES } from '../core/keys.ts';
import { Miss } from './commit/ask.ts';
import type { Ask } from './commit/ask.ts';
import type { Connection } from './driver/driver.ts';
import { justSent, Loader } from './commit/loader.ts';
import type { Schema } from './schema/schema-name.ts';
import { Snapshot } from './commit/snapshot.ts';
import { beginSnapshot, enterNamespace } from './sql/transaction.ts';

/** A reading that asks for something new this often is a mistake of ours: each time all guesses come along. */
const ROUNDS = 100_000;

/**
 * Runs a reading on one snapshot of a namespace, within a transaction that it begins and leaves open. What is not at hand
 * is loaded, and the reading runs again.
 */
export async function readSnapshot<Result>(
  connection: Connection,
  schema: Schema,
  namespace: string,
  reading: (rows: RowReader) => Result,
): Promise<Result> {
  const snapshot = new Snapshot();
  const loader = new Loader(schema, namespace, snapshot);
  for (let round = 0; ; round++) {
    const tried = attempt(snapshot, reading);
    if ('result' in tried) return tried.result;
    assert(round < ROUNDS, 'a reading ends');
    // Who asks by an id goes elsewhere than the head leads.
    if (namesMessage(tried.ask)) loader.forgetGuesses();
    if (round > 0) await loader.loadMissing(connection, [tried.ask]);
    else await loader.load(connection, [tried.ask], [justSent([beginSnapshot(), enterNamespace(namespace)])]);
  }
}

function namesMessage(ask: Ask): boolean {
  return ask.kind === 'row' && ask.key.startsWith(TABLES.messageIds);
}

/** What a reading answers, or what it lacks. A reading that carries on without what it lacks has not answered. */
export function attempt<Result>(
  snapshot: Snapshot,
  reading: (rows: RowReader) => Result,
): { readonly result: Result } | { readonly ask: Ask } {
  try {
    const result = reading(snapshot);
    const missed = snapshot.takeMiss();
    return missed ? { ask: missed.ask } : { result };
  } catch (error) {
    const missed = snapshot.takeMiss();
    if (missed) return { ask: missed.ask };
    assert(!(error instanceof Miss), 'a miss is kept where it happens');
    throw error;
  }
}
