import { describe, expect, test } from 'vitest';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Agent } from './turn-run.ts';

const KEY = { idempotencyKey: 'turn-1' };

/** Asks whether so many euros may be paid. */
function refund(euros: number, more: { readonly type?: string } = {}): Agent {
  return async (turn) => {
    const answer = await turn.interrupt({ interruptId: 'refund', type: 'approval', payload: { euros }, ...more });
    return [{ role: 'assistant', parts: [text(`${euros}: ${JSON.stringify(answer)}`)] }];
  };
}

describe('an answer', () => {
  test('approves the question of its own turn alone', async () => {
    const { conversation, space } = opened();
    const { turnId } = await conversation.run(ASKED, refund(5), KEY);
    await space.answer('refund', { by: 'ann', response: true });
    await conversation.resume(turnId, refund(5));
    const later = conversation.run(ASKED, refund(5), { idempotencyKey: 'turn-2' });
    await expect(later).rejects.toMatchObject({ code: 'interrupt_exists', details: { interruptId: 'refund' } });
    expect((await said(conversation)).filter((words) => words.startsWith('assistant'))).toEqual(['assistant: 5: true']);
  });

  test('approves nothing else that its turn asks under the same id', async () => {
    for (const other of [refund(5_000), refund(5, { type: 'input' })]) {
      const { conversation, space } = opened();
      const { turnId } = await conversation.run(ASKED, refund(5), KEY);
      await space.answer('refund', { by: 'ann', response: true });
      await expect(conversation.resume(turnId, other)).rejects.toMatchObject({ code: 'interrupt_exists' });
    }
  });
});

test('a question without an id is refused, for it would be another one each time', async () => {
  const { conversation, space } = opened();
  let rounds = 0;
  const agent: Agent = async (turn) => {
    rounds += 1;
    await turn.interrupt({ type: 'input', payload: null } as never);
  };
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ code: 'invalid_value' });
  expect(rounds).toBe(1);
  for await (const open of space.interrupts()) expect(open).toBeUndefined();
});

describe('a key', () => {
  const conflict = { code: 'step_conflict', details: { key: 'pay' } };
  const pay = (turn: AgentTurn, to: string) =>
    turn.step('pay', async () => `paid ${to}`, { name: 'pay', input: { to } });

  test('names one step in a run: not another input, not a step of another sort', async () => {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      expect(await pay(turn, 'Ann')).toBe('paid Ann');
      expect(await pay(turn, 'Ann')).toBe('paid Ann');
      await expect(pay(turn, 'Bob')).rejects.toMatchObject(conflict);
      await expect(turn.step('pay', async () => 'paid')).rejects.toMatchObject(conflict);
      await expect(turn.model('pay', async () => [text('paid')])).rejects.toMatchObject(conflict);
      await expect(turn.tool('pay', async () => 'paid')).rejects.toMatchObject(conflict);
    };
    expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  });

  test('names the same step in a run that goes on, whatever its turn has done by then', async () => {
    const others: readonly ((turn: AgentTurn) => Promise<unknown>)[] = [
      (turn) => pay(turn, 'Bob'),
      (turn) => turn.model('pay', async () => [text('paid')]),
      (turn) => turn.step('plan', async () => 'a plan', { name: 'model' }),
    ];
    for (const other of others) {
      const { conversation, space } = opened();
      const begin: Agent = async (turn) => {
        await pay(turn, 'Ann');
        await turn.model('plan', async () => [text('a plan')]);
        await turn.interrupt({ interruptId: 'i', type: 'input', payload: null });
      };
      const { turnId } = await conversation.run(ASKED, begin, KEY);
      await space.answer('i', { by: 'ann', response: null });
      const goOn: Agent = async (turn) => void (await other(turn));
      await expect(conversation.resume(turnId, goOn)).rejects.toMatchObject({ code: 'step_conflict' });
    }
  });
});

test('what nobody waits for, and fails, is no rejection that nobody handles', async () => {
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', hear);
  try {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      void turn.append('a', { role: 'assistant', parts: [{ type: 'none' } as never] });
      const asking = turn.interrupt({ interruptId: 'i', type: 'input', payload: null });
      await turn.step('s', async () => new Promise<void>((resolve) => setImmediate(resolve)));
      await asking;
    };
    expect((await conversation.run(ASKED, agent, KEY)).state).toBe('waiting');
  } finally {
    process.off('unhandledRejection', hear);
  }
  expect(unhandled).toEqual([]);
});

test('an end that nobody waits for is the end', async () => {
  const { conversation } = opened();
  const agent: Agent = async (turn) => {
    void turn.complete({ messages: [{ role: 'assistant', parts: [text('here')] }] });
  };
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  expect(await said(conversation)).toEqual(['user: a question', 'assistant: here']);
});
