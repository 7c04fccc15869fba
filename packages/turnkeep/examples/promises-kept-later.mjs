// A task and what was promised with it: one process takes it on and ends, another finds it open and keeps its word.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLedger } from 'turnkeep';

const says = (role, text) => ({ role, parts: [{ type: 'text', text }] });

const processes = {
  /** One commit: what was said, the task that began, and the promise. None of them is ever there without the others. */
  async takesOn(chat) {
    await chat.commit([
      { kind: 'turn.record', origin: 'example' },
      { kind: 'message.append', message: says('user', 'Find my parcel, and write to me tomorrow. No calls, please.') },
      { kind: 'message.append', message: says('assistant', 'I will.') },
      { kind: 'task.create', taskId: 'parcel', title: 'Find the parcel' },
      { kind: 'task.transition', taskId: 'parcel', to: 'running' },
      { kind: 'commitment.add', content: 'write to Ann tomorrow' },
      { kind: 'commitment.add', type: 'constraint', content: 'no calls' },
    ]);
  },
  /** `created` → `running` → `completed`; `TASK_TRANSITIONS` has every move. */
  async keepsIt(chat) {
    const task = await chat.tasks.active();
    console.log(`${task.title}: ${task.status}`);
    const open = await chat.commitments.openLoops();
    for (const { type = 'promise', content } of open) console.log(`${type}: ${content}`);
    assert.equal(open.length, 2);
    await chat.commit([
      { kind: 'commitment.resolve', which: { commitmentId: open[0].commitmentId } },
      { kind: 'task.transition', taskId: task.taskId, to: 'completed', outcomeRef: 'letter-8' },
    ]);
    assert.equal(await chat.tasks.active(), undefined);
    assert.equal((await chat.tasks.latest()).status, 'completed');
    assert.equal((await chat.commitments.openLoops()).length, 1);
  },
};

const [, , role, store] = process.argv;
if (role !== undefined) {
  const ledger = await openLedger(store);
  await processes[role](ledger.namespace('acme').conversation('support-42'));
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
