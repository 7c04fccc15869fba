import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Envelope } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
import type { Random } from './disk.ts';
import { breaches } from './law.ts';
import { sha256, turnOf } from './turns.ts';

const CHILD = fileURLToPath(new URL('./writer-child.js', import.meta.url));
const LATEST_EVENT = 400;

/** A real process that writes and is killed, several times on one store; each time the law is checked. */
export async function killFaults(kills: number, random: Random): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'turnkeep-kill-'));
  const envelopes = new Map<string, Envelope>();
  const acknowledged = new Set<string>();
  try {
    for (let kill = 0; kill < kills; kill++) {
      await writeAndKill(directory, 1 + random(24), 1 + random(LATEST_EVENT), { envelopes, acknowledged });
      const backend = await openJournal(directory, { sha256 });
      const faults = await breaches(backend, { envelopes, acknowledged, refused: new Set() });
      await backend.close();
      if (faults.length > 0) return faults;
    }
    return [];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Said {
  readonly envelopes: Map<string, Envelope>;
  readonly acknowledged: Set<string>;
}

async function writeAndKill(directory: string, conversations: number, events: number, said: Said): Promise<void> {
  const child = spawn(process.execPath, [CHILD, directory, String(conversations)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let heard = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, conversation = '', k = ''] = line.split(' ');
    const envelope = word === 'open' ? undefined : turnOf(conversation, Number(k));
    if (envelope) said.envelopes.set(envelope.commit.commitId, envelope);
    if (envelope && word === 'wrote') said.acknowledged.add(envelope.commit.commitId);
    heard += 1;
    // What is still in the pipe was said before the kill, and counts.
    if (heard === events) child.kill('SIGKILL');
  }
  await exit;
}
