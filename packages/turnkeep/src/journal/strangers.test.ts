import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Ledger } from '../ledger/ledger.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf } from './journal.testkit.ts';

/** What others leave in a journal's directories: editors, file managers, tools that copy. */

const FILES = ['.DS_Store', '0001.jsonl~', '.0001.jsonl.swp', '0001 copy.jsonl', '0001.run.bak', 'Thumbs.db', 'notes'];
const DIRECTORIES = ['@eaDir', '.git', '0001.run.d'];
const SETTINGS = { foldCommits: 2, foldBytes: 1, segmentBytes: 6_000, filterBytes: 2_000, mergeRuns: 2 };

function leaveStrangers(directory: string): readonly string[] {
  const own = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  const places = [directory, ...own.map(({ parentPath, name }) => `${parentPath}/${name}`)];
  const left = places.flatMap((place) => [
    ...FILES.map((name) => {
      writeFileSync(`${place}/${name}`, 'left by somebody');
      return `${place}/${name}`;
    }),
    ...DIRECTORIES.map((name) => {
      mkdirSync(`${place}/${name}`);
      writeFileSync(`${place}/${name}/within`, 'left by somebody');
      return `${place}/${name}/within`;
    }),
  ]);
  return left;
}

test('what lies about in a store’s directories hinders nothing, says nothing and stays', async () => {
  const directory = temporaryDirectory();
  const work = async (round: number) => {
    const journal = await opened(directory, { settings: SETTINGS });
    const space = new Ledger(journal, systemSurroundings, mintCommitId).namespace('ns');
    for (let k = 0; k < 8; k++) await journal.commit(turnOf(`a${round}`, k));
    await space.attachments.put(Buffer.from('kept'));
    await journal.commit(turnOf(`gone${round}`, 0));
    await journal.commit(commitOf(`gone${round}`, 'e', [{ kind: 'conversation.erase' }]));
    await journal.scratch.put({ namespace: 'ns', conversationId: 'a', key: 'draft' }, 'words');
    expect(await journal.scratch.list('ns')).toHaveLength(1);
    await journal.collect('ns');
    await space.collect({ attachmentGraceMs: 0 });
    await journal.cool('ns', { hotMessages: 2 });
    await journal.rebuild();
    await journal.catchUp();
    await journal.examine();
    const said = await contents(journal);
    expect((await journal.verify()).filter(({ kind }) => kind !== 'set_aside')).toEqual([]);
    await journal.close();
    return said;
  };
  await work(1);
  mkdirSync(`${directory}/damaged`, { recursive: true });
  const left = leaveStrangers(directory);
  const said = await work(2);
  const reader = await opened(directory, { settings: SETTINGS, readOnly: true });
  expect(await contents(reader)).toBe(said);
  // What was set aside goes when words are erased, whoever put it there.
  const stays = left.filter((path) => !path.includes('/damaged/') && !path.includes('/incoming/'));
  expect(stays.filter((path) => !existsSync(path))).toEqual([]);
});
