import { openJournal } from 'turnkeep/journal';
import { sha256, turnOf } from './turns.ts';

/** Writes turns of several conversations at once until it is killed, and says each when it was told that it is durable. */
const [directory = '', conversations = '1'] = process.argv.slice(2);
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

process.stdout.write('open\n');
await Promise.all(Array.from({ length: Number(conversations) }, (_, at) => write(`c${at}`)));
