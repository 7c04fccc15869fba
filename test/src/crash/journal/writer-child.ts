import { openJournal } from 'turnkeep/journal';
import { sha256, turnOf } from './turns.ts';

/**
 * Writes turns of several conversations at once until it is killed, and says each when it was told that it is durable; with
 * `keeps` it cools, collects and builds the index anew beside them.
 */
const [directory = '', conversations = '1', keeps = ''] = process.argv.slice(2);
const settings = { foldCommits: 16, foldBytes: 40_000, segmentBytes: 200_000, mergeRuns: 3, filterBytes: 30_000 };
const backend = await openJournal(directory, { settings, sha256 });

async function write(conversation: string): Promise<never> {
  const start = await backend.read('crash', (rows) => rows.head(conversation)?.version ?? 0);
  for (let k = start; ; k++) {
    process.stdout.write(`sends ${conversation} ${k}\n`);
    await backend.commit(turnOf(conversation, k));
    process.stdout.write(`wrote ${conversation} ${k}\n`);
  }
}

async function keep(): Promise<never> {
  for (let round = 1; ; round++) {
    await backend.cool('crash', { hotMessages: 3 });
    await backend.collect('crash');
    await backend.catchUp();
    if (round % 2 === 0) await backend.rebuild();
    process.stdout.write(`kept ${round}\n`);
  }
}

process.stdout.write('open\n');
const writing = Array.from({ length: Number(conversations) }, (_, at) => write(`c${at}`));
await Promise.all(keeps === 'keeps' ? [...writing, keep()] : writing);
