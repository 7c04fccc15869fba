import { expect, test } from 'vitest';
import type { Envelope } from '../core/backend.ts';
import type { Receipt } from '../core/receipt.ts';
import { MemoryBackend } from '../memory/index.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { openLedger } from './open.ts';

/** Notes what it hears of commits. */
class Listening extends MemoryBackend {
  readonly heard: string[] = [];

  expectCommit(): void {
    this.heard.push('expected');
  }

  override commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.heard.push(`came: ${envelope.commit.changes.map(({ kind }) => kind).join()}`);
    return super.commit(envelope, signal);
  }
}

test('a backend hears of a commit before it is checked, and of one that is refused then, too', async () => {
  const backend = new Listening(systemSurroundings.sha256);
  const conversation = (await openLedger(backend)).namespace('n').conversation('c');
  await conversation.commit([{ kind: 'title.set', title: 'Tea' }] as never).catch(() => undefined);
  await conversation.append({ role: 'user', parts: [{ type: 'text', text: 'word' }] });
  expect(backend.heard).toEqual(['expected', 'expected', 'came: message.append']);
});
