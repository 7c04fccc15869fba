// A conversation of 150 turns under a budget of 4,000 tokens: summaries stand for what no longer fits, and nothing is lost.

import assert from 'node:assert/strict';
import { openLedger } from 'turnkeep';

const BUDGET = 4_000;
const TURNS = 150;
const CITIES = ['Oslo', 'Rome', 'Lima', 'Cairo', 'Quito'];

const ledger = await openLedger('memory:');
const chat = ledger.namespace('acme').conversation('parcels');
const policy = {
  format: 'anthropic',
  budgetTokens: BUDGET,
  reserveOutputTokens: 400,
  instructions: 'You track parcels.',
};

/** In the place of a model: it keeps how many parcels were found, and where the last of each city was. */
async function summarizer({ previous, messages }) {
  const known = new Map(previous ? JSON.parse(previous.text) : []);
  for (const message of messages) {
    for (const part of message.parts) {
      const [, parcel, city] = (part.type === 'text' && part.text.match(/Parcel (\d+) is in (\w+)/)) || [];
      if (parcel) known.set(city, parcel);
    }
  }
  return JSON.stringify([...known]);
}

let summaries = 0;
let largest = 0;
for (let at = 1; at <= TURNS; at++) {
  const question = `Where is parcel ${at}? It was sent last week from the office at the harbour, with a blue label.`;
  await chat.record({
    origin: 'example',
    messages: [
      { role: 'user', parts: [{ type: 'text', text: question }] },
      {
        role: 'assistant',
        parts: [{ type: 'text', text: `Parcel ${at} is in ${CITIES[at % 5]}, and moves on tomorrow.` }],
      },
    ],
  });
  const context = await chat.summarize(policy, async (ask) => {
    summaries += 1;
    return summarizer(ask);
  });
  assert.equal(context.status, 'ready');
  assert.ok(context.report.tokens.total <= BUDGET);
  assert.ok(!context.report.leftOut.some(({ what }) => what === 'messages_before'));
  largest = Math.max(largest, context.report.tokens.total);
}

const { text } = await chat.summary();
console.log(`${TURNS} turns, ${summaries} summaries, ${largest} tokens at most; the last summary: ${text}`);
assert.ok(summaries > 0 && summaries < TURNS / 5);
assert.ok(largest > BUDGET / 2);

// A summary stands for the messages and never replaces them.
assert.equal((await chat.info()).messageCount, TURNS * 2);
const { hits } = await chat.search('parcel 3?');
assert.equal(hits.length, 1);
await ledger.close();
