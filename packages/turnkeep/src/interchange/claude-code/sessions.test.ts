import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withFiles } from './session.testkit.ts';
import { findSessions } from './sessions.ts';

test('sessions that are named one by one are found in a time that grows with them, and as their folder has them', async () => {
  const row = (sessionId: string) => `${JSON.stringify({ type: 'mode', sessionId })}\n`;
  await withFiles({ 'agent-old.jsonl': row('s7') }, async (folder) => {
    const stems = Array.from({ length: 2_000 }, (_, at) => `s${at}`);
    for (const stem of stems) {
      await mkdir(join(folder, stem, 'subagents'), { recursive: true });
      await writeFile(join(folder, stem, 'subagents', 'agent-a.jsonl'), row(stem));
      await writeFile(join(folder, `${stem}.jsonl`), row(stem));
    }
    const found = await findSessions([folder]);
    expect(found.sessions).toHaveLength(4_001);
    const at = found.sessions.findIndex(({ stem }) => stem === 's7');
    expect(found.sessions.slice(at, at + 3).map(({ stem }) => stem)).toEqual(['s7', 'agent-old', 'agent-a']);
    const named = stems.map((stem) => join(folder, `${stem}.jsonl`));
    // A listing of all for each of them takes minutes.
    expect(await findSessions(named)).toEqual(found);
  });
});
