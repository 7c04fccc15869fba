// An agent with tools: its process is killed after a tool has run and before the answer. Another process goes on with the
// turn: the tool is not run again.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelAgent, openLedger } from 'turnkeep';

const prompt = [{ type: 'text', text: 'Send Ann her 5 euros back.' }];

/** In the place of a provider: calls the tool first, and says what it did when the result is there. */
async function* model({ round }) {
  if (round === 1) {
    yield { type: 'text', text: 'I send it ' };
    yield { type: 'text', text: 'now.' };
    yield { type: 'tool_call', callId: 'call-1', name: 'refund', input: { to: 'Ann', euros: 5 } };
  } else {
    yield { type: 'text', text: 'Ann has her 5 euros back.' };
  }
}

async function work(folder, atBoundary) {
  const ledger = await openLedger(`sqlite:${join(folder, 'agent.db')}`);
  const tools = {
    refund: {
      run: async ({ to, euros }) => {
        appendFileSync(join(folder, 'payments'), `${euros} euros to ${to}\n`);
        return { paid: euros };
      },
    },
  };
  const desk = ledger.namespace('acme').conversation('refunds');
  // The same call starts the turn and goes on with it: the key says which turn is meant.
  const outcome = await desk.run({ prompt }, modelAgent({ model, tools }), { idempotencyKey: 'request-7', atBoundary });
  const { messages } = await desk.page();
  await ledger.close();
  return { outcome, messages };
}

/** Ends the process as a crash does: the tool's result is recorded, the answer was not asked for yet. */
function crash(boundary, key) {
  if (boundary === 'step_finished' && key === 'call-1') process.kill(process.pid, 'SIGKILL');
}

if (process.argv[2] !== undefined) {
  await work(process.argv[2], crash);
} else {
  const folder = await mkdtemp(join(tmpdir(), 'turnkeep-example-'));
  try {
    const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), folder], { stdio: 'inherit' });
    console.log(`the first process ended by ${child.signal}`);
    assert.equal(child.signal, 'SIGKILL');

    const { outcome, messages } = await work(folder);
    for (const { role, parts } of messages)
      console.log(`${role}: ${parts.map((part) => part.text ?? part.type).join(' ')}`);
    assert.equal(outcome.state, 'completed');
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant'],
    );
    assert.equal(messages.at(-1).parts[0].text, 'Ann has her 5 euros back.');
    assert.equal(readFileSync(join(folder, 'payments'), 'utf8'), '5 euros to Ann\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
