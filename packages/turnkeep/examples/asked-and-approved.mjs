// A tool that a person must approve: one process asks and ends, another finds the question and answers it, a third goes on.
// Each of them could run on another day.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelAgent, openLedger } from 'turnkeep';

/** In the place of a provider: asks for a refund each time, and says what became of it when the result is there. */
function* model({ round }) {
  if (round === 1) yield { type: 'tool_call', callId: 'call-1', name: 'refund', input: { to: 'Ann', euros: 5 } };
  else yield { type: 'text', text: 'That is settled.' };
}

const refund = { needsApproval: true, run: async ({ to, euros }) => `${euros} euros sent to ${to}` };
const agent = modelAgent({ model, tools: { refund } });

const processes = {
  /** Runs the turn until it waits. */
  async asks(space) {
    const prompt = [{ type: 'text', text: 'Send Ann her 5 euros back.' }];
    const { state } = await space.conversation('refunds').run({ prompt }, agent, { idempotencyKey: 'request-7' });
    assert.equal(state, 'waiting');
  },
  /** Lists what is asked, anywhere, and answers it: `true`, or `{ approved: true }`; any other answer denies. */
  async answers(space) {
    for await (const { interruptId, payload } of space.interrupts()) {
      console.log(`may it run? ${payload.name} ${JSON.stringify(payload.input)}`);
      const { first } = await space.answer(interruptId, { by: 'ben', response: { approved: true } });
      assert.ok(first);
    }
  },
  /** Goes on with the turn, with the answer. */
  async goesOn(space) {
    const refunds = space.conversation('refunds');
    const [{ turnId }] = await refunds.graph();
    const { state } = await refunds.resume(turnId, agent);
    assert.equal(state, 'completed');
    const { messages } = await refunds.window(8);
    const said = messages.flatMap(({ role, parts }) =>
      parts.map(({ type, text, output }) => [role, text ?? output ?? type]),
    );
    for (const [role, words] of said) console.log(`${role}: ${words}`);
    assert.deepEqual(said.slice(1), [
      ['assistant', 'tool_call'],
      ['tool', '5 euros sent to Ann'],
      ['assistant', 'That is settled.'],
    ]);
  },
};

const [, , role, store] = process.argv;
if (role !== undefined) {
  const ledger = await openLedger(store);
  await processes[role](ledger.namespace('acme'));
  await ledger.close();
} else {
  const folder = await mkdtemp(join(tmpdir(), 'turnkeep-example-'));
  try {
    for (const each of Object.keys(processes)) {
      const args = [fileURLToPath(import.meta.url), each, `sqlite:${join(folder, 'agent.db')}`];
      assert.equal(spawnSync(process.execPath, args, { stdio: 'inherit' }).status, 0);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
