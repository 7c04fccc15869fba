// A chat loop: each turn is submitted, asked of a model and committed with its answer; after a restart it goes on.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import { openaiChat } from 'turnkeep/formats';

/** In the place of a provider: it answers how many questions the request holds, and the first one. */
function model({ messages }) {
  const questions = messages.filter((message) => message.role === 'user').map((message) => message.content);
  return { role: 'assistant', content: `${questions.length} so far; the first was: ${questions[0]}` };
}

async function ask(chat, key, words) {
  const prompt = [{ type: 'text', text: words }];
  const { turnId } = await chat.submit({ prompt }, { idempotencyKey: key });
  const context = await chat.context({
    format: 'openai-chat',
    budgetTokens: 8_000,
    reserveOutputTokens: 500,
    instructions: 'You help customers of a parcel service.',
    leaf: turnId,
  });
  assert.equal(context.status, 'ready');
  const answer = model(context.request);
  const messages = openaiChat.parse([answer]);
  await chat.commit(
    [
      ...messages.map((message) => ({ kind: 'message.append', turnId, message })),
      { kind: 'turn.advance', turnId, to: 'completed' },
    ],
    { idempotencyKey: `${key}-answer` },
  );
  return answer.content;
}

const folder = await mkdtemp(join(tmpdir(), 'turnkeep-example-'));
const store = `sqlite:${join(folder, 'chat.db')}`;
try {
  const ledger = await openLedger(store);
  const chat = ledger.namespace('acme').conversation('support-42');
  console.log(await ask(chat, 'req-1', 'Where is my parcel?'));
  console.log(await ask(chat, 'req-2', 'And when does it come?'));
  await ledger.close();

  const reopened = await openLedger(store);
  const same = reopened.namespace('acme').conversation('support-42');
  const third = await ask(same, 'req-3', 'Thank you!');
  console.log(third);
  assert.equal(third, '3 so far; the first was: Where is my parcel?');
  assert.equal((await same.info()).messageCount, 6);
  await reopened.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
