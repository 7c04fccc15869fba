import { createInterface } from 'node:readline';
import type { Backend } from '../core/backend.ts';
import { prepareCommit } from '../core/commit.ts';
import { isTurnkeepError } from '../core/errors.ts';
import { Ledger } from '../ledger/ledger.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import type { FromChild, ToChild } from './child-protocol.ts';
import type { ConformanceTarget, SpawnedTarget } from './target.ts';

/** A child process of the suite: it opens a store and does what the lines of its standard input ask. */

let backend: Backend | undefined;

async function targetOf({ module, exportName }: SpawnedTarget): Promise<ConformanceTarget> {
  const exports = (await import(module)) as { readonly [name: string]: ConformanceTarget };
  const target = exports[exportName];
  if (!target) throw new Error(`${module} exports no ${exportName}`);
  return target;
}

function opened(): Backend {
  if (!backend) throw new Error('no store is open');
  return backend;
}

async function answer(asked: ToChild): Promise<Omit<FromChild, 'id'>> {
  switch (asked.ask) {
    case 'open':
      backend = await (await targetOf(asked.target)).open(asked.location);
      return {};
    case 'commit':
      return { receipt: await opened().commit(prepareCommit(asked.commit, systemSurroundings)) };
    case 'watch': {
      const versions: number[] = [];
      const ledger = new Ledger(opened(), systemSurroundings, mintCommitId);
      for await (const event of ledger.namespace(asked.namespace).watch()) {
        versions.push(event.version);
        if (versions.length === asked.count) break;
      }
      return { versions };
    }
    case 'close':
      await backend?.close();
      backend = undefined;
      return {};
    default:
      throw new Error(`unknown question ${JSON.stringify(asked)}`);
  }
}

async function answerLine(line: string): Promise<void> {
  const asked = JSON.parse(line) as ToChild;
  let answered: Omit<FromChild, 'id'>;
  try {
    answered = await answer(asked);
  } catch (error) {
    answered = isTurnkeepError(error)
      ? { error: error.toData() }
      : { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.stdout.write(`${JSON.stringify({ id: asked.id, ...answered })}\n`);
}

// Questions are answered as they come, not one after the other. Lines hold ASCII apart from what ids say, and JSON
// escapes every line end.
for await (const line of createInterface({ input: process.stdin })) void answerLine(line);
