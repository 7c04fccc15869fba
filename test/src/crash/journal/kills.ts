import type { Envelope } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
import { inFolder } from '../harness.ts';
import { linesUntilKilled } from '../killed-writer.ts';
import type { Random } from './disk.ts';
import { breaches } from './law.ts';
import { sha256, turnOf } from './turns.ts';

const WRITER = new URL('./writer-child.js', import.meta.url);
const LATEST_EVENT = 400;

/**
 * A real process that writes, every other one with upkeep beside, and is killed, several times on one store; each time the law is
 * checked.
 */
export async function killFaults(kills: number, random: Random): Promise<readonly string[]> {
  const envelopes = new Map<string, Envelope>();
  const acknowledged = new Set<string>();
  return inFolder(async (directory) => {
    for (let kill = 0; kill < kills; kill++) {
      const [conversations, events] = [1 + random(24), 1 + random(LATEST_EVENT)];
      const args = [directory, String(conversations), kill % 2 === 0 ? '' : 'keeps'];
      await writeAndKill(args, events, { envelopes, acknowledged });
      const backend = await openJournal(directory, { sha256 });
      const faults = await breaches(backend, { envelopes, acknowledged, refused: new Set() });
      await backend.close();
      if (faults.length > 0) return faults;
    }
    return [];
  });
}

interface Said {
  readonly envelopes: Map<string, Envelope>;
  readonly acknowledged: Set<string>;
}

async function writeAndKill(args: readonly string[], events: number, said: Said): Promise<void> {
  for await (const line of linesUntilKilled(WRITER, args, events)) {
    const [word, conversation = '', k = ''] = line.split(' ');
    if (word !== 'sends' && word !== 'wrote') continue;
    const envelope = turnOf(conversation, Number(k));
    said.envelopes.set(envelope.commit.commitId, envelope);
    if (word === 'wrote') said.acknowledged.add(envelope.commit.commitId);
  }
}
