import { describe, expect, test } from 'vitest';
import { text } from './messages.testkit.ts';
import { storeFor } from './stores.testkit.ts';

// A thread decides for one, and for the other a group: neither has the stack of whoever called.
describe.each(['sqlite', 'journal'] as const)('refusals, on %s', (backend) => {
  const store = storeFor(backend);

  test('have the line of the program that called in their stack', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't', prompt: text('x') });
    async function submitsWhileBusy() {
      await conversation.submit({ prompt: text('y') });
    }
    async function appendsToNothing() {
      await conversation.append({ role: 'user', parts: [] }, { turnId: 'nobody' });
    }
    for (const caller of [submitsWhileBusy, appendsToNothing]) {
      await expect(caller()).rejects.toMatchObject({
        name: 'TurnkeepError',
        stack: expect.stringMatching(new RegExp(`^TurnkeepError: .*\n[^]*${caller.name}`, 'u')) as string,
      });
    }
  });
});
