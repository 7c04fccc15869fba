import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation, Ledger } from 'turnkeep';
import { openLedger } from 'turnkeep';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Child } from './child.testkit.ts';
import { effectsIn, text } from './clerk.ts';
import { CUTS, goOnAfter, WHOLE } from './killed.testkit.ts';
import { survived, waitThrough } from './waiting.testkit.ts';

let folder = '';
let ledger: Ledger | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnkeep-agents-'));
});

afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
  rmSync(folder, { recursive: true });
});

const effects = () => join(folder, 'effects');

async function reopened(url: string): Promise<Ledger> {
  await ledger?.close();
  return (ledger = await openLedger(url));
}

async function opened(url: string): Promise<Conversation> {
  return (await reopened(url)).namespace('n').conversation('c');
}

describe.each(['sqlite', 'journal'])('a turn on %s whose process is killed', (backend) => {
  test.each(CUTS)('at %s goes on at once: nothing recorded is done again, nothing is lost', async (cut) => {
    const url = `${backend}:${join(folder, 'store')}`;
    const place = { url, namespace: 'n', reopened: () => reopened(url) };
    expect(await goOnAfter(cut, effects(), place)).toEqual(WHOLE);
    expect((await ledger?.verify())?.faults).toEqual([]);
  });
});

describe('two processes and one turn', () => {
  const url = () => `sqlite:${join(folder, 'store')}`;

  /** A turn whose owner was killed. */
  async function abandoned(): Promise<string> {
    const child = new Child('clerk-child', [url(), effects(), 'n', 'held']);
    await child.end();
    const [turn] = await (await opened(url())).graph();
    return turn?.turnId ?? '';
  }

  test('one goes on with it, the other is told, and no step is done twice', async () => {
    const turnId = await abandoned();
    // The winner shows a sign three times in its time to live, so the other hears of it long before that ends.
    const children = [0, 1].map(() => new Child('slow-child', [url(), effects(), turnId, '10000']));
    try {
      const first = await Promise.all(children.map(async (child) => child.says()));
      const winner = children[first.findIndex(({ began }) => began === true)];
      expect(first.map(({ began, code = '' }) => (began ? 'began' : code)).sort()).toEqual(['began', 'turn_held']);
      winner?.tell();
      expect(await winner?.says()).toEqual({ state: 'completed' });
      expect(effectsIn(effects())).toEqual(['slow']);
    } finally {
      for (const child of children) child.kill();
    }
  });

  test('I7: an owner that was paused beyond its lease wakes up and can commit nothing', async () => {
    const turnId = await abandoned();
    const paused = new Child('slow-child', [url(), effects(), turnId, '1000']);
    try {
      expect(await paused.says()).toEqual({ began: true });
      paused.process.kill('SIGSTOP');
      const conversation = await opened(url());
      const { state } = await conversation.resume(
        turnId,
        async (turn) => {
          await turn.step('slow', async () => 'done by the next', { retry: 'safe' });
          return [{ role: 'assistant', parts: [text('done')] }];
        },
        { ttlMs: 1_000 },
      );
      expect(state).toBe('completed');
      const { version } = await conversation.info();
      paused.tell();
      paused.process.kill('SIGCONT');
      // It is answered with the end of the turn that another one made, or told that it is fenced.
      const { state: seen, code } = await paused.says();
      expect([seen, code]).toSatisfy((said: readonly unknown[]) => said[0] === 'completed' || said[1] === 'fenced');
      await paused.end();
      expect((await conversation.info()).version).toBe(version);
      expect((await conversation.steps(turnId))[0]?.result).toBe('done by the next');
    } finally {
      paused.kill();
    }
  });
});

// To open SQLite starts threads of its own, which is what most of a restart takes.
test.each([
  ['journal', 100],
  ['sqlite', 20],
])(
  'a turn that waits on %s survives %i restarts and is answered once',
  async (backend, restarts) => {
    const url = `${backend}:${join(folder, 'store')}`;
    expect(await waitThrough(restarts, effects(), () => reopened(url))).toEqual(survived(restarts));
  },
  300_000,
);
