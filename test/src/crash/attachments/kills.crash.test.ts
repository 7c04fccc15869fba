import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../packages/turnkeep/dist/sqlite/driver/open-database.js';
import { inFolder, seeded } from '../harness.ts';
import { linesUntilKilled } from '../killed-writer.ts';

const WRITER = new URL('./put-child.js', import.meta.url);
const SEED = 20_261_130;
const KILLS = 4;

/** Answers the digests of the puts that were acknowledged before the kill, which comes after so many lines. */
async function putAndKill(url: string, lines: number): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  for await (const line of linesUntilKilled(WRITER, [url], lines)) {
    const [word, digest = ''] = line.split(' ');
    if (word === 'put') acknowledged.push(digest);
  }
  return acknowledged;
}

function rowsIn(path: string): readonly unknown[] {
  const database = openDatabase(path);
  try {
    return database.prepare('SELECT id FROM parts UNION ALL SELECT name FROM blobs').all();
  } finally {
    database.close();
  }
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** I11: what was acknowledged is there, byte for byte; of what was cut short a collection leaves nothing. */
test.each(['sqlite', 'journal'])('a process that is killed while it puts: %s', (scheme) =>
  inFolder(async (folder) => {
    const path = join(folder, 'store');
    const random = seeded(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = await putAndKill(`${scheme}:${path}`, 2 + random(40));
      const ledger = await openLedger(`${scheme}:${path}`);
      const { attachments } = ledger.namespace('crash');
      for (const digest of acknowledged) expect((await (await attachments.get(digest)).bytes()).length).toBe(1_200_000);
      expect((await ledger.verify()).faults).toEqual([]);
      await ledger.namespace('crash').collect({ attachmentGraceMs: 0 });
      for (const digest of acknowledged) expect(await attachments.stat(digest)).toBeUndefined();
      expect((await ledger.verify()).faults).toEqual([]);
      await ledger.close();
      expect(scheme === 'sqlite' ? rowsIn(path) : filesIn(join(path, 'attachments'))).toEqual([]);
    }
  }),
);
