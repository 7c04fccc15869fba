// Two branches of one conversation: a question is edited, an answer is regenerated, and neither knows of the other.

import assert from 'node:assert/strict';
import { openLedger } from 'turnkeep';

const ledger = await openLedger('memory:');
const chat = ledger.namespace('acme').conversation('travel');
const text = (words) => [{ type: 'text', text: words }];

async function answer(turnId, words) {
  await chat.commit([
    { kind: 'message.append', turnId, message: { role: 'assistant', parts: text(words) } },
    { kind: 'turn.advance', turnId, to: 'completed' },
  ]);
}

/** What a model is handed on a branch: the words alone. */
async function handed(leaf) {
  const { request } = await chat.context({ format: 'openai-chat', budgetTokens: 4_000, leaf });
  return request.messages.map((message) => message.content);
}

const first = await chat.submit({ prompt: text('Plan a trip to Rome.') });
await answer(first.turnId, 'Rome: three days.');
const more = await chat.submit({ prompt: text('By train, please.') });
await answer(more.turnId, 'By night train.');
await chat.commitments.add({ content: 'book the night train' });

// An edit stands beside what it edits, under the same parent: here the conversation itself.
let { graphRevision } = await chat.info();
const edited = await chat.edit(first.turnId, { prompt: text('Plan a trip to Oslo.') }, { expect: { graphRevision } });
await answer(edited.turnId, 'Oslo: two days.');

// A regeneration asks the same prompt again.
({ graphRevision } = await chat.info());
const again = await chat.regenerate(edited.turnId, {}, { expect: { graphRevision } });
await answer(again.turnId, 'Oslo: two days by ferry.');

const siblings = await chat.siblings(first.turnId);
console.log(siblings.map(({ ordinal, why }) => `${ordinal}: ${why ?? 'first'}`).join(', '));
assert.equal(siblings.length, 3);

const oslo = await handed(again.turnId);
console.log(oslo);
assert.deepEqual(oslo, ['Plan a trip to Oslo.', 'Oslo: two days by ferry.']);

const rome = await handed(more.turnId);
console.log(rome);
assert.deepEqual(rome.slice(0, 4), [
  'Plan a trip to Rome.',
  'Rome: three days.',
  'By train, please.',
  'By night train.',
]);
assert.match(rome[4], /book the night train/);

// Going back is one call; what was promised there is there again.
({ graphRevision } = await chat.info());
await chat.select(more.turnId, { expect: { graphRevision } });
assert.equal((await chat.commitments.openLoops()).length, 1);
await ledger.close();
